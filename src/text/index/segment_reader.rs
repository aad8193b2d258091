//! Read access to segments: one interface over tantivy's segments on disk and segments in memory.
//!
//! It returns postings, dictionaries and column values. The evaluation of queries is in `search/`.

use std::sync::{Arc, OnceLock};

use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermDictionary;
use tantivy::{DocSet, InvertedIndexReader, Searcher, SegmentReader, TERMINATED};

use crate::ledger::EntryId;
use crate::text::document::Traits;
use crate::text::index::memory_segment::{MemorySegment, MemoryTerms};
use crate::text::index::postings::{BlockMaxima, TermFreqs, TermPositions};
use crate::text::index::schema::{Fields, IMPORTANCE, ORDER, ROW, THREAD, TIME, TRAITS, TermField};

/// An immutable snapshot for one search. Feeding continues beside it.
pub(in crate::text) struct Snapshot {
    pub(in crate::text) committed: Arc<Committed>,
    /// Those of the uncommitted documents, then those of the partitions.
    pub(in crate::text) in_memory: Vec<Arc<MemorySegment>>,
}

impl Snapshot {
    /// Returns the segments: those on disk, then those in memory.
    pub(in crate::text) fn segments(&self, fields: &Fields) -> tantivy::Result<Vec<Segment<'_>>> {
        let disk = self.committed.on_disk(fields)?.iter().map(Segment::Disk);
        let memory = self.in_memory.iter().map(|memory| Segment::Memory(memory));
        Ok(disk.chain(memory).collect())
    }
}

/// The segments on disk as of one commit.
pub(in crate::text) struct Committed {
    pub(in crate::text) searcher: Searcher,
    /// Opened by the first search and shared by the others: opening columns costs as much as
    /// looking up a rare term.
    on_disk: OnceLock<Vec<DiskSegment>>,
}

impl Committed {
    pub(in crate::text) const fn new(searcher: Searcher) -> Self {
        Self {
            searcher,
            on_disk: OnceLock::new(),
        }
    }

    fn on_disk(&self, fields: &Fields) -> tantivy::Result<&[DiskSegment]> {
        if let Some(opened) = self.on_disk.get() {
            return Ok(opened);
        }
        let readers = self.searcher.segment_readers().iter();
        let opened = readers.map(|reader| DiskSegment::open(reader, fields));
        let opened = opened.collect::<tantivy::Result<_>>()?;
        Ok(self.on_disk.get_or_init(|| opened))
    }
}

/// A set of documents with an inverted index of its own. Document numbers are local to it.
pub(in crate::text) enum Segment<'a> {
    Disk(&'a DiskSegment),
    Memory(&'a MemorySegment),
}

/// A segment of the index library.
pub(in crate::text) struct DiskSegment {
    reader: SegmentReader,
    stems: Arc<InvertedIndexReader>,
    variants: Arc<InvertedIndexReader>,
    threads: Arc<InvertedIndexReader>,
    languages: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    maxima: BlockMaxima,
    row: Column<u64>,
    /// Of each window of documents, known when it was first asked for.
    row_orders: Vec<OnceLock<RowOrder>>,
    order: Column<u64>,
    thread: Column<u64>,
    time: Column<i64>,
    importance: Column<f64>,
    traits: Column<u64>,
    rows: Arc<InvertedIndexReader>,
}

/// How the rows of the documents of a window follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) enum RowOrder {
    /// One after the other, without a gap.
    Consecutive,
    Ascending,
    /// In no order, where segments were merged.
    Mixed,
}

/// The term dictionary of a field of a segment.
pub(in crate::text) enum FieldTerms<'a> {
    Disk(&'a TermDictionary),
    Memory(&'a MemoryTerms),
}

impl DiskSegment {
    fn open(reader: &SegmentReader, fields: &Fields) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        let stems = reader.inverted_index(fields.stems)?;
        let lengths = reader.get_fieldnorms_reader(fields.stems)?;
        let windows = reader.max_doc().div_ceil(WINDOW_LEN);
        Ok(Self {
            reader: reader.clone(),
            maxima: BlockMaxima::new(lengths.clone(), stems.total_num_tokens(), reader.max_doc()),
            stems,
            variants: reader.inverted_index(fields.variants)?,
            threads: reader.inverted_index(fields.thread)?,
            languages: reader.inverted_index(fields.languages)?,
            lengths,
            row: fast.u64(ROW)?,
            row_orders: (0..windows).map(|_| OnceLock::new()).collect(),
            order: fast.u64(ORDER)?,
            thread: fast.u64(THREAD)?,
            time: fast.i64(TIME)?,
            importance: fast.f64(IMPORTANCE)?,
            traits: fast.u64(TRAITS)?,
            rows: reader.inverted_index(fields.row)?,
        })
    }

    fn terms(&self, field: TermField) -> &InvertedIndexReader {
        match field {
            TermField::Stems => &self.stems,
            TermField::Variants => &self.variants,
        }
    }

    fn row_order(&self, window: u32) -> RowOrder {
        let known = self.row_orders.get(window as usize);
        known.map_or(RowOrder::Mixed, |known| {
            *known.get_or_init(|| self.read_row_order(window))
        })
    }

    fn read_row_order(&self, window: u32) -> RowOrder {
        if !self.row.get_cardinality().is_full() {
            return RowOrder::Mixed;
        }
        let start = window.saturating_mul(WINDOW_LEN);
        let len = WINDOW_LEN.min(self.reader.max_doc().saturating_sub(start));
        let mut rows = vec![0; len as usize];
        self.row.values.get_range(start.into(), &mut rows);
        RowOrder::of(&rows)
    }
}

impl RowOrder {
    fn of(rows: &[u64]) -> Self {
        let follows = |pair: &[u64]| matches!(pair, [a, b] if a.checked_add(1) == Some(*b));
        if rows.windows(2).all(follows) {
            Self::Consecutive
        } else if rows.is_sorted_by(|a, b| a < b) {
            Self::Ascending
        } else {
            Self::Mixed
        }
    }
}

impl Segment<'_> {
    /// Returns the number of documents, including deleted ones.
    pub(in crate::text) fn len(&self) -> u32 {
        match self {
            Self::Disk(disk) => disk.reader.max_doc(),
            Self::Memory(memory) => u32::try_from(memory.values.len()).unwrap_or(u32::MAX),
        }
    }

    /// Returns the number of words of all documents.
    pub(in crate::text) fn len_words(&self) -> u64 {
        match self {
            Self::Disk(disk) => disk.stems.total_num_tokens(),
            Self::Memory(memory) => memory.len_words,
        }
    }

    /// Returns whether a document is not deleted.
    pub(in crate::text) fn is_alive(&self, document: u32) -> bool {
        match self {
            Self::Disk(disk) => !disk.reader.is_deleted(document),
            Self::Memory(_) => true,
        }
    }

    /// Returns the row of a document.
    pub(in crate::text) fn row(&self, document: u32) -> Option<EntryId> {
        match self {
            Self::Disk(disk) => disk.row.first(document).map(EntryId::new),
            Self::Memory(memory) => Some(memory.values.get(document as usize)?.row),
        }
    }

    /// Returns how the rows of the documents of a window follow each other.
    pub(in crate::text) fn row_order(&self, window: u32) -> RowOrder {
        match self {
            Self::Disk(disk) => disk.row_order(window),
            // Documents are added in the order of their rows.
            Self::Memory(_) => RowOrder::Ascending,
        }
    }

    /// Returns the tie-breaker of a document: of equal scores, the lower value ranks first.
    pub(in crate::text) fn order(&self, document: u32) -> u64 {
        match self {
            Self::Disk(disk) => disk.order.first(document),
            Self::Memory(memory) => memory
                .values
                .get(document as usize)
                .map(|values| values.order),
        }
        .unwrap_or(0)
    }

    /// Returns the conversation of a document; 0 for none.
    pub(in crate::text) fn thread(&self, document: u32) -> u64 {
        match self {
            Self::Disk(disk) => disk.thread.first(document),
            Self::Memory(memory) => memory
                .values
                .get(document as usize)
                .map(|values| values.thread),
        }
        .unwrap_or(0)
    }

    /// Returns the time of a document.
    pub(in crate::text) fn time_ms(&self, document: u32) -> i64 {
        match self {
            Self::Disk(disk) => disk.time.first(document),
            Self::Memory(memory) => memory
                .values
                .get(document as usize)
                .map(|values| values.time_ms),
        }
        .unwrap_or(0)
    }

    /// Returns the importance of a document.
    pub(in crate::text) fn importance(&self, document: u32) -> f64 {
        match self {
            Self::Disk(disk) => disk.importance.first(document),
            Self::Memory(memory) => memory
                .values
                .get(document as usize)
                .map(|values| values.importance),
        }
        .unwrap_or(0.0)
    }

    /// Returns what ranking needs to know of a document besides its words.
    pub(in crate::text) fn traits(&self, document: u32) -> Traits {
        match self {
            Self::Disk(disk) => disk.traits.first(document).map(Traits),
            Self::Memory(memory) => memory
                .values
                .get(document as usize)
                .map(|values| values.traits),
        }
        .unwrap_or_default()
    }

    /// Returns the document of a row that is not deleted, if it is in this segment.
    pub(in crate::text) fn document_of(
        &self,
        fields: &Fields,
        row: EntryId,
    ) -> tantivy::Result<Option<u32>> {
        let found = match self {
            Self::Disk(disk) => {
                let term = fields.row_term(row);
                let postings = disk.rows.read_postings(&term, IndexRecordOption::Basic)?;
                postings.map(|postings| postings.doc())
            }
            Self::Memory(memory) => {
                let place = memory
                    .values
                    .binary_search_by_key(&row, |values| values.row);
                place.ok().and_then(|place| u32::try_from(place).ok())
            }
        };
        Ok(found.filter(|document| *document != TERMINATED && self.is_alive(*document)))
    }

    /// Returns the quantized length of a document; [`len_of_class`] decodes it.
    pub(in crate::text) fn len_class(&self, document: u32) -> u8 {
        match self {
            Self::Disk(disk) => disk.lengths.fieldnorm_id(document),
            Self::Memory(memory) => {
                let values = memory.values.get(document as usize);
                values.map_or(0, |values| values.len_class)
            }
        }
    }

    /// Returns the document frequency of a term.
    pub(in crate::text) fn documents_with(
        &self,
        field: TermField,
        term: &str,
    ) -> tantivy::Result<u64> {
        Ok(match self {
            Self::Disk(disk) => {
                let info = disk.terms(field).terms().get(term.as_bytes())?;
                info.map_or(0, |info| u64::from(info.doc_freq))
            }
            Self::Memory(memory) => memory.terms(field).get(term).len() as u64,
        })
    }

    /// Returns the number of accepted documents with a term.
    pub(in crate::text) fn accepted_with(
        &self,
        field: TermField,
        term: &str,
        accept: &dyn Fn(EntryId) -> bool,
    ) -> tantivy::Result<u64> {
        let Some(mut freqs) = self.freqs(field, term)? else {
            return Ok(0);
        };
        let (mut count, mut document) = (0, freqs.seek(0));
        while document != TERMINATED {
            count += u64::from(self.accepts(document, accept));
            document = freqs.seek(document + 1);
        }
        Ok(count)
    }

    fn accepts(&self, document: u32, accept: &dyn Fn(EntryId) -> bool) -> bool {
        self.is_alive(document) && self.row(document).is_some_and(accept)
    }

    /// Returns a cursor over the positions of a term; `None` if no document has it.
    pub(in crate::text) fn positions(
        &self,
        field: TermField,
        term: &str,
    ) -> tantivy::Result<Option<TermPositions<'_>>> {
        match self {
            Self::Disk(disk) => {
                let terms = disk.terms(field);
                let Some(info) = terms.terms().get(term.as_bytes())? else {
                    return Ok(None);
                };
                let option = IndexRecordOption::WithFreqsAndPositions;
                let positions = terms.read_postings_from_terminfo(&info, option)?;
                Ok(Some(TermPositions::Disk(Box::new(positions))))
            }
            Self::Memory(memory) => {
                let terms = memory.terms(field);
                let postings = terms.get(term);
                Ok((!postings.is_empty()).then_some(TermPositions::Memory(postings, terms)))
            }
        }
    }

    /// Returns a cursor over the frequencies of a term; `None` if no document has it.
    pub(in crate::text) fn freqs(
        &self,
        field: TermField,
        term: &str,
    ) -> tantivy::Result<Option<TermFreqs<'_>>> {
        match self {
            Self::Disk(disk) => {
                let terms = disk.terms(field);
                let Some(info) = terms.terms().get(term.as_bytes())? else {
                    return Ok(None);
                };
                let option = IndexRecordOption::WithFreqs;
                let block = terms.read_block_postings_from_terminfo(&info, option)?;
                // Documents are as long as they have stems, whatever field a term is of.
                let maxima = (field == TermField::Stems).then_some(&disk.maxima);
                Ok(Some(TermFreqs::on_disk(block, maxima)))
            }
            Self::Memory(memory) => {
                let postings = memory.terms(field).get(term);
                Ok((!postings.is_empty()).then_some(TermFreqs::Memory(postings)))
            }
        }
    }

    /// Returns the dictionary of a field.
    pub(in crate::text) fn terms(&self, field: TermField) -> FieldTerms<'_> {
        match self {
            Self::Disk(disk) => FieldTerms::Disk(disk.terms(field).terms()),
            Self::Memory(memory) => FieldTerms::Memory(memory.terms(field)),
        }
    }

    /// Returns the documents of a conversation.
    pub(in crate::text) fn turns(&self, fields: &Fields, thread: u64) -> tantivy::Result<Vec<u32>> {
        match self {
            Self::Disk(disk) => {
                let term = fields.thread_term(thread);
                let positions = disk
                    .threads
                    .read_postings(&term, IndexRecordOption::Basic)?;
                let mut turns = Vec::new();
                if let Some(mut positions) = positions {
                    turns.reserve(positions.size_hint() as usize);
                    while positions.doc() != TERMINATED {
                        turns.push(positions.doc());
                        positions.advance();
                    }
                }
                Ok(turns)
            }
            Self::Memory(memory) => Ok(memory.threads.get(&thread).cloned().unwrap_or_default()),
        }
    }

    /// Adds the codes of the languages that documents, or accepted ones, are in besides the default.
    pub(in crate::text) fn languages(
        &self,
        accept: Option<&(dyn Fn(EntryId) -> bool + Sync)>,
        codes: &mut Vec<String>,
    ) -> tantivy::Result<()> {
        match self {
            Self::Disk(disk) => {
                let mut terms = disk.languages.terms().stream()?;
                while let Some((code, info)) = terms.next() {
                    let is_counted = match accept {
                        None => true,
                        Some(accept) => {
                            let option = IndexRecordOption::Basic;
                            let index = &disk.languages;
                            let mut with = index.read_postings_from_terminfo(info, option)?;
                            while with.doc() != TERMINATED && !self.accepts(with.doc(), accept) {
                                with.advance();
                            }
                            with.doc() != TERMINATED
                        }
                    };
                    if is_counted {
                        codes.push(String::from_utf8_lossy(code).into_owned());
                    }
                }
            }
            Self::Memory(memory) => {
                let counted = memory.languages.iter().filter(|(_, documents)| {
                    let mut documents = documents.iter();
                    accept.is_none_or(|accept| documents.any(|it| self.accepts(*it, accept)))
                });
                codes.extend(counted.map(|(code, _)| (*code).to_owned()));
            }
        }
        Ok(())
    }
}

/// Returns the length in words of a quantized length.
pub(in crate::text) fn len_of_class(class: u8) -> u32 {
    FieldNormReader::id_to_fieldnorm(class)
}

/// The number of documents whose order of rows is known together.
pub(in crate::text) const WINDOW_LEN: u32 = 4_096;

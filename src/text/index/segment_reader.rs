//! Read access to segments: one interface over tantivy's segments on disk and segments in memory.
//!
//! It returns postings, dictionaries and column values. The evaluation of queries is in `search/`.

use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermDictionary;
use tantivy::{DocSet, TERMINATED};

use crate::ledger::EntryId;
use crate::text::document::Traits;
use crate::text::index::disk::{Committed, RowOrder, SearchedSegment, TurnValues};
use crate::text::index::memory_segment::{MemorySegment, MemoryTerms};
use crate::text::index::postings::{TermFreqs, TermPositions};
use crate::text::index::schema::{Fields, TermField};

/// An immutable snapshot for one search. Feeding continues beside it.
pub(in crate::text) struct Snapshot {
    pub(in crate::text) committed: Arc<Committed>,
    /// Those of the uncommitted documents, then those of the partitions.
    pub(in crate::text) in_memory: Vec<Arc<MemorySegment>>,
}

impl Snapshot {
    /// Returns the segments: those on disk, then those in memory.
    pub(in crate::text) fn segments(&self, fields: &Fields) -> tantivy::Result<Vec<Segment<'_>>> {
        let disk = self.committed.on_disk(fields)?.iter();
        let disk = disk.map(|segment| Segment::Disk(SearchedSegment::new(segment)));
        let memory = self.in_memory.iter().map(|memory| Segment::Memory(memory));
        Ok(disk.chain(memory).collect())
    }
}

/// A set of documents with an inverted index of its own. Document numbers are local to it.
pub(in crate::text) enum Segment<'a> {
    Disk(SearchedSegment<'a>),
    Memory(&'a MemorySegment),
}

/// The term dictionary of a field of a segment.
pub(in crate::text) enum FieldTerms<'a> {
    Disk(&'a TermDictionary),
    Memory(&'a MemoryTerms),
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
            Self::Disk(disk) => disk.row(document),
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
            Self::Disk(disk) => disk.order.get_val(document),
            Self::Memory(memory) => {
                let values = memory.values.get(document as usize);
                values.map_or(0, |values| values.order)
            }
        }
    }

    /// Returns the conversation of a document; 0 for none.
    pub(in crate::text) fn thread(&self, document: u32) -> u64 {
        match self {
            Self::Disk(disk) => disk.thread.get_val(document),
            Self::Memory(memory) => {
                let values = memory.values.get(document as usize);
                values.map_or(0, |values| values.thread)
            }
        }
    }

    /// Returns the time of a document.
    pub(in crate::text) fn time_ms(&self, document: u32) -> i64 {
        match self {
            Self::Disk(disk) => disk.time.get_val(document),
            Self::Memory(memory) => {
                let values = memory.values.get(document as usize);
                values.map_or(0, |values| values.time_ms)
            }
        }
    }

    /// Returns the importance of a document.
    pub(in crate::text) fn importance(&self, document: u32) -> f64 {
        match self {
            Self::Disk(disk) => disk.importance.get_val(document),
            Self::Memory(memory) => {
                let values = memory.values.get(document as usize);
                values.map_or(0.0, |values| values.importance)
            }
        }
    }

    /// Returns what ranking needs to know of a document besides its words.
    pub(in crate::text) fn traits(&self, document: u32) -> Traits {
        match self {
            Self::Disk(disk) => Traits(disk.traits.get_val(document)),
            Self::Memory(memory) => {
                let values = memory.values.get(document as usize);
                values.map(|values| values.traits).unwrap_or_default()
            }
        }
    }

    /// Returns the document of a row that is not deleted, if it is in this segment.
    pub(in crate::text) fn document_of(&self, row: EntryId) -> Option<u32> {
        let found = match self {
            Self::Disk(disk) => disk.document_of(row),
            Self::Memory(memory) => {
                let place = memory
                    .values
                    .binary_search_by_key(&row, |values| values.row);
                place.ok().and_then(|place| u32::try_from(place).ok())
            }
        };
        found.filter(|document| self.is_alive(*document))
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
                let info = disk.term_info(field, term)?;
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
                let Some(info) = disk.term_info(field, term)? else {
                    return Ok(None);
                };
                let option = IndexRecordOption::WithFreqsAndPositions;
                let terms = disk.terms(field);
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
                let Some(info) = disk.term_info(field, term)? else {
                    return Ok(None);
                };
                let option = IndexRecordOption::WithFreqs;
                let terms = disk.terms(field);
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

    /// Passes on the turns of a conversation that are not deleted, in the order of documents.
    pub(in crate::text) fn each_turn(
        &self,
        fields: &Fields,
        thread: u64,
        mut take: impl FnMut(TurnValues),
    ) -> tantivy::Result<()> {
        match self {
            Self::Disk(disk) => disk.each_turn(fields, thread, take)?,
            Self::Memory(memory) => {
                let turns = memory.threads.get(&thread);
                for document in turns.into_iter().flatten() {
                    if let Some(values) = memory.values.get(*document as usize) {
                        take(TurnValues {
                            document: *document,
                            row: values.row,
                            time_ms: values.time_ms,
                            traits: values.traits,
                            len_class: values.len_class,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns about how many conversations have turns here: none if none has.
    pub(in crate::text) fn conversations(&self) -> usize {
        match self {
            Self::Disk(disk) => disk.conversations(),
            Self::Memory(memory) => memory.threads.keys().filter(|it| **it != 0).count(),
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

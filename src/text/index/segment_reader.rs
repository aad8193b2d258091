use std::sync::{Arc, OnceLock};

use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermDictionary;
use tantivy::{DocSet, InvertedIndexReader, Searcher, SegmentReader, TERMINATED};

use crate::text::index::memory_segment::{Memory, Names};
use crate::text::index::postings::{Counts, Cursor};
use crate::text::index::schema::{Fields, IMPORTANCE, ORDER, Of, ROW, THREAD, TIME};

/// What a search reads: it stays as it is while the view goes on being fed.
pub(in crate::text) struct Snapshot {
    pub(in crate::text) committed: Arc<Committed>,
    pub(in crate::text) tail: Vec<Arc<Memory>>,
}

impl Snapshot {
    /// Opens the segments: those on disk, then those in memory.
    pub(in crate::text) fn segments(&self, fields: &Fields) -> tantivy::Result<Vec<Segment<'_>>> {
        let disk = self.committed.on_disk(fields)?.iter().map(Segment::Disk);
        let memory = self.tail.iter().map(|memory| Segment::Memory(memory));
        Ok(disk.chain(memory).collect())
    }
}

/// The segments on disk as one commit left them.
pub(in crate::text) struct Committed {
    pub(in crate::text) searcher: Searcher,
    /// What the first search opens and the others share: reading the heads of columns costs as much
    /// as looking a rare word up.
    on_disk: OnceLock<Vec<OnDisk>>,
}

impl Committed {
    pub(in crate::text) const fn new(searcher: Searcher) -> Self {
        Self {
            searcher,
            on_disk: OnceLock::new(),
        }
    }

    fn on_disk(&self, fields: &Fields) -> tantivy::Result<&[OnDisk]> {
        if let Some(opened) = self.on_disk.get() {
            return Ok(opened);
        }
        let readers = self.searcher.segment_readers().iter();
        let opened = readers.map(|reader| OnDisk::open(reader, fields));
        let opened = opened.collect::<tantivy::Result<_>>()?;
        Ok(self.on_disk.get_or_init(|| opened))
    }
}

/// A stretch of documents with an index of its own. Documents are numbered within it.
pub(in crate::text) enum Segment<'a> {
    Disk(&'a OnDisk),
    Memory(&'a Memory),
}

/// A segment of the index library.
pub(in crate::text) struct OnDisk {
    reader: SegmentReader,
    stems: Arc<InvertedIndexReader>,
    also: Arc<InvertedIndexReader>,
    threads: Arc<InvertedIndexReader>,
    languages: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    row: Column<u64>,
    order: Column<u64>,
    thread: Column<u64>,
    time: Column<i64>,
    importance: Column<f64>,
}

/// The names of a segment, in order.
pub(in crate::text) enum Terms<'a> {
    Disk(&'a TermDictionary),
    Memory(&'a Names),
}

impl OnDisk {
    fn open(reader: &SegmentReader, fields: &Fields) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        Ok(Self {
            reader: reader.clone(),
            stems: reader.inverted_index(fields.stems)?,
            also: reader.inverted_index(fields.also)?,
            threads: reader.inverted_index(fields.thread)?,
            languages: reader.inverted_index(fields.languages)?,
            lengths: reader.get_fieldnorms_reader(fields.stems)?,
            row: fast.u64(ROW)?,
            order: fast.u64(ORDER)?,
            thread: fast.u64(THREAD)?,
            time: fast.i64(TIME)?,
            importance: fast.f64(IMPORTANCE)?,
        })
    }

    fn names(&self, of: Of) -> &InvertedIndexReader {
        match of {
            Of::Stems => &self.stems,
            Of::Also => &self.also,
        }
    }
}

impl Segment<'_> {
    /// Returns how many documents it numbers, deleted ones too.
    pub(in crate::text) fn len(&self) -> u32 {
        match self {
            Self::Disk(disk) => disk.reader.max_doc(),
            Self::Memory(memory) => u32::try_from(memory.facts.len()).unwrap_or(u32::MAX),
        }
    }

    /// Returns how many words its documents have together.
    pub(in crate::text) fn len_words(&self) -> u64 {
        match self {
            Self::Disk(disk) => disk.stems.total_num_tokens(),
            Self::Memory(memory) => memory.len_words,
        }
    }

    /// Returns whether a document was not deleted.
    pub(in crate::text) fn is_alive(&self, document: u32) -> bool {
        match self {
            Self::Disk(disk) => !disk.reader.is_deleted(document),
            Self::Memory(_) => true,
        }
    }

    /// Returns the row of a document.
    pub(in crate::text) fn row(&self, document: u32) -> Option<u64> {
        match self {
            Self::Disk(disk) => disk.row.first(document),
            Self::Memory(memory) => Some(memory.facts.get(document as usize)?.row),
        }
    }

    /// Returns what stands before a document of the same score: the lower.
    pub(in crate::text) fn order(&self, document: u32) -> u64 {
        match self {
            Self::Disk(disk) => disk.order.first(document),
            Self::Memory(memory) => memory.facts.get(document as usize).map(|of| of.order),
        }
        .unwrap_or(0)
    }

    /// Returns the conversation of a document, 0 of one in none.
    pub(in crate::text) fn thread(&self, document: u32) -> u64 {
        match self {
            Self::Disk(disk) => disk.thread.first(document),
            Self::Memory(memory) => memory.facts.get(document as usize).map(|of| of.thread),
        }
        .unwrap_or(0)
    }

    /// Returns when a document was said.
    pub(in crate::text) fn time_ms(&self, document: u32) -> i64 {
        match self {
            Self::Disk(disk) => disk.time.first(document),
            Self::Memory(memory) => memory.facts.get(document as usize).map(|of| of.time_ms),
        }
        .unwrap_or(0)
    }

    /// Returns how important a document is.
    pub(in crate::text) fn importance(&self, document: u32) -> f64 {
        match self {
            Self::Disk(disk) => disk.importance.first(document),
            Self::Memory(memory) => memory.facts.get(document as usize).map(|of| of.importance),
        }
        .unwrap_or(0.0)
    }

    /// Returns the class of a document's length; [`len_of_class`] says what it stands for.
    pub(in crate::text) fn len_class(&self, document: u32) -> u8 {
        match self {
            Self::Disk(disk) => disk.lengths.fieldnorm_id(document),
            Self::Memory(memory) => {
                let facts = memory.facts.get(document as usize);
                facts.map_or(0, |facts| facts.len_class)
            }
        }
    }

    /// Returns how many documents have a name.
    pub(in crate::text) fn documents_with(&self, of: Of, name: &str) -> tantivy::Result<u64> {
        Ok(match self {
            Self::Disk(disk) => {
                let info = disk.names(of).terms().get(name.as_bytes())?;
                info.map_or(0, |info| u64::from(info.doc_freq))
            }
            Self::Memory(memory) => memory.names(of).get(name).len() as u64,
        })
    }

    /// Returns the documents that have a name, and where in them; none if there are none.
    pub(in crate::text) fn postings(
        &self,
        of: Of,
        name: &str,
    ) -> tantivy::Result<Option<Cursor<'_>>> {
        match self {
            Self::Disk(disk) => {
                let names = disk.names(of);
                let Some(info) = names.terms().get(name.as_bytes())? else {
                    return Ok(None);
                };
                let option = IndexRecordOption::WithFreqsAndPositions;
                let postings = names.read_postings_from_terminfo(&info, option)?;
                Ok(Some(Cursor::Disk(Box::new(postings))))
            }
            Self::Memory(memory) => {
                let postings = memory.names(of).get(name);
                Ok((!postings.is_empty()).then_some(Cursor::Memory(postings)))
            }
        }
    }

    /// Returns the documents that have a name, and how often; none if there are none.
    pub(in crate::text) fn counts(
        &self,
        of: Of,
        name: &str,
    ) -> tantivy::Result<Option<Counts<'_>>> {
        match self {
            Self::Disk(disk) => {
                let names = disk.names(of);
                let Some(info) = names.terms().get(name.as_bytes())? else {
                    return Ok(None);
                };
                let option = IndexRecordOption::WithFreqs;
                let block = names.read_block_postings_from_terminfo(&info, option)?;
                Ok(Some(Counts::on_disk(block)))
            }
            Self::Memory(memory) => {
                let postings = memory.names(of).get(name);
                Ok((!postings.is_empty()).then_some(Counts::Memory(postings)))
            }
        }
    }

    /// Returns the names of a kind.
    pub(in crate::text) fn terms(&self, of: Of) -> Terms<'_> {
        match self {
            Self::Disk(disk) => Terms::Disk(disk.names(of).terms()),
            Self::Memory(memory) => Terms::Memory(memory.names(of)),
        }
    }

    /// Returns the documents of a conversation.
    pub(in crate::text) fn turns(&self, fields: &Fields, thread: u64) -> tantivy::Result<Vec<u32>> {
        match self {
            Self::Disk(disk) => {
                let term = fields.thread_term(thread);
                let postings = disk
                    .threads
                    .read_postings(&term, IndexRecordOption::Basic)?;
                let mut turns = Vec::new();
                if let Some(mut postings) = postings {
                    while postings.doc() != TERMINATED {
                        turns.push(postings.doc());
                        postings.advance();
                    }
                }
                Ok(turns)
            }
            Self::Memory(memory) => Ok(memory.threads.get(&thread).cloned().unwrap_or_default()),
        }
    }

    /// Adds the codes of the languages that documents name.
    pub(in crate::text) fn languages(&self, codes: &mut Vec<String>) -> tantivy::Result<()> {
        match self {
            Self::Disk(disk) => {
                let mut terms = disk.languages.terms().stream()?;
                while let Some((code, _)) = terms.next() {
                    codes.push(String::from_utf8_lossy(code).into_owned());
                }
            }
            Self::Memory(memory) => {
                codes.extend(memory.languages.iter().map(|code| (*code).to_owned()));
            }
        }
        Ok(())
    }
}

/// Returns the length in words that a class stands for.
pub(in crate::text) fn len_of_class(class: u8) -> u32 {
    FieldNormReader::id_to_fieldnorm(class)
}

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::indexer::IndexWriterOptions;
use tantivy::{Index, IndexReader, IndexWriter, Searcher, TantivyError};

use super::document::Fields;
use super::hit::Best;
use super::open::{self, Covered};
use super::score::{self, Snapshot};
use super::tail::{Fed, Tail};
use super::{Document, Error, Hits, Opened, Place, Query};

/// A full-text view of a ledger, open for feeding and searching from any thread.
///
/// Rows are fed in order by one feeder. What was fed is found at once; it is committed by
/// [`flush`](Self::flush), by a search that finds more than 4,096 documents waiting, and by a feed
/// that would let more than 50,000 documents or 32 MiB wait.
///
/// ```
/// use grainstore::text::{Document, Options, Place, Query, Text};
///
/// let (text, _) = Text::open(&Place::Memory, 0, Options::default())?;
/// text.add(0, Document::from("prefers green tea"))?;
/// let hits = text.search(&Query::parse("teas"), 10, &|_| true)?;
/// assert_eq!(hits.hits[0].row, 0);
/// assert_eq!(text.watermark(), 1);
/// # Ok::<(), grainstore::text::Error>(())
/// ```
pub struct Text {
    fields: Fields,
    options: Options,
    index: Index,
    reader: IndexReader,
    /// Held throughout a commit, and taken before `state`. There is no writer before the first
    /// commit and after one that went wrong.
    writer: Mutex<Option<IndexWriter>>,
    state: Mutex<State>,
}

/// What must change together, so that a document is never in both places or in neither.
struct State {
    committed: Searcher,
    committed_watermark: u64,
    tail: Tail,
}

/// What a view may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How much memory a commit may fill before it starts another segment, in bytes; kept between
    /// 15 MB, the least the index library works with, and 4 GB.
    pub budget_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            budget_bytes: 50_000_000,
        }
    }
}

impl Text {
    /// Opens the view at `place` of a ledger of `ledger_len` entries.
    ///
    /// An index that cannot be trusted is deleted, not an error: [`Opened`] says so, and the caller
    /// feeds from [`watermark`](Self::watermark) as always.
    ///
    /// # Errors
    /// `ERR_TEXT` where the folder cannot be read or written.
    pub fn open(place: &Place, ledger_len: u64, options: Options) -> Result<(Self, Opened), Error> {
        let fields = Fields::new();
        let (found, opened) = open::open(place, ledger_len, &fields)?;
        let state = State {
            committed: found.reader.searcher(),
            committed_watermark: found.watermark,
            tail: Tail::new(found.watermark),
        };
        let text = Self {
            fields,
            options,
            index: found.index,
            reader: found.reader,
            writer: Mutex::new(None),
            state: Mutex::new(state),
        };
        Ok((text, opened))
    }

    /// Returns how many ledger entries the view covers: the row to feed next.
    pub fn watermark(&self) -> u64 {
        self.state.lock().tail.watermark
    }

    /// Feeds the text of `row`; rows below the watermark are covered already and change nothing.
    ///
    /// # Errors
    /// `ERR_TEXT` where the queue was full and could not be committed: then nothing was taken.
    pub fn add(&self, row: u64, document: Document) -> Result<(), Error> {
        self.commit_if(|state| state.tail.is_full())?;
        self.state.lock().tail.push(row, document);
        Ok(())
    }

    /// Covers the rows below `watermark` that were not fed because they say nothing.
    pub fn advance(&self, watermark: u64) {
        let tail = &mut self.state.lock().tail;
        tail.watermark = tail.watermark.max(watermark);
    }

    /// Commits what was fed, so that it need not be fed again after the next open.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index could not be written: what was fed stays searchable.
    pub fn flush(&self) -> Result<(), Error> {
        self.commit_if(|state| state.committed_watermark != state.tail.watermark)
    }

    /// Commits what was fed, and waits until small segments are merged and the writer is gone.
    ///
    /// A process that ends without it loses nothing, but leaves merging to the next: many short
    /// runs would leave many small segments. Feeding may go on afterwards.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index could not be written.
    pub fn close(&self) -> Result<(), Error> {
        self.flush()?;
        let mut writer = self.writer.lock();
        let Some(ended) = writer.take() else {
            return Ok(());
        };
        ended
            .wait_merging_threads()
            .map_err(Error::index("merging segments"))?;
        let watermark = self.state.lock().committed_watermark;
        self.publish(watermark)
    }

    /// Returns the best `limit` rows that match `query` and for which `accept` holds.
    ///
    /// A row scores by BM25 (k1 1.2, b 0.75) over everything fed, accepted or not: the sum of the
    /// words and phrases that occur in it. `accept` may be asked about any row that matches, in no
    /// order.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub fn search(
        &self,
        query: &Query,
        limit: usize,
        accept: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Hits, Error> {
        if query.is_empty() {
            return Ok(Hits::default());
        }
        if let Err(error) = self.commit_if(|state| state.tail.is_long()) {
            // A full disk must not keep anybody from reading: a long tail is only slower.
            tracing::warn!(%error, "searching without committing the text index");
        }
        let snapshot = self.snapshot().map_err(Error::index("indexing new rows"))?;
        let mut best = Best::new(limit, accept);
        score::collect(query, self.fields.text, &snapshot, &mut best)
            .map_err(Error::index("searching"))?;
        Ok(best.into_hits())
    }

    fn snapshot(&self) -> tantivy::Result<Snapshot> {
        let mut state = self.state.lock();
        Ok(Snapshot {
            tail: state.tail.segments(&self.fields)?,
            committed: state.committed.clone(),
        })
    }

    /// Commits the tail if `is_due` holds, still holds once no other commit is under way.
    fn commit_if(&self, is_due: fn(&State) -> bool) -> Result<(), Error> {
        if !is_due(&self.state.lock()) {
            return Ok(());
        }
        let mut writer = self.writer.lock();
        let (documents, watermark) = {
            let state = self.state.lock();
            if !is_due(&state) {
                return Ok(());
            }
            (state.tail.documents(), state.tail.watermark)
        };
        let written = self.write(&mut writer, &documents, watermark);
        if written.is_err() {
            // A writer that failed may hold part of the documents: the next commit starts afresh.
            *writer = None;
        }
        written.map_err(Error::index("committing"))?;
        self.publish(watermark)
    }

    /// Commits `documents` and the watermark they bring the index to, in one step.
    fn write(
        &self,
        writer: &mut Option<IndexWriter>,
        documents: &[Arc<Fed>],
        watermark: u64,
    ) -> tantivy::Result<()> {
        // A commit that reported an error may have happened: what the disk covers is not written
        // a second time.
        let stored =
            Covered::read(&self.index.load_metas()?).map_err(TantivyError::InternalError)?;
        let writer = match writer {
            Some(writer) => writer,
            None => writer.insert(self.writer()?),
        };
        let mut covered = Covered {
            watermark,
            ..stored
        };
        for fed in documents.iter().filter(|fed| fed.row >= stored.watermark) {
            writer.add_document(self.fields.indexable(fed.row, &fed.document))?;
            covered.documents += 1;
        }
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&covered.payload());
        commit.commit()?;
        Ok(())
    }

    fn writer(&self) -> tantivy::Result<IndexWriter> {
        // One thread keeps rows in order within a segment, and leaves the machine to the store.
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(self.options.budget_bytes.clamp(BUDGET_MIN, BUDGET_MAX))
            .build();
        self.index.writer_with_options(options)
    }

    /// Lets searches see what was committed instead of the documents that went into it.
    fn publish(&self, watermark: u64) -> Result<(), Error> {
        self.reader
            .reload()
            .map_err(Error::index("opening what was committed"))?;
        let committed = self.reader.searcher();
        let mut state = self.state.lock();
        state.committed = committed;
        state.committed_watermark = watermark;
        state.tail.forget_below(watermark);
        Ok(())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text")
            .field("options", &self.options)
            .field("watermark", &self.watermark())
            .finish_non_exhaustive()
    }
}

/// The least memory the index library writes with.
const BUDGET_MIN: usize = 15_000_000;

/// The most memory worth giving it: it counts in 32 bits.
const BUDGET_MAX: usize = 4_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_reported_an_error_and_happened_is_not_repeated() {
        let (text, _) = Text::open(&Place::Memory, 0, Options::default()).unwrap();
        text.add(0, Document::from("green tea")).unwrap();
        text.add(1, Document::from("tea")).unwrap();
        let query = Query::parse("green tea");
        let before = text.search(&query, 9, &|_| true).unwrap();
        let documents = text.state.lock().tail.documents();
        text.write(&mut text.writer.lock(), &documents, 2).unwrap();
        // Nobody was told: the documents are still in the tail.
        assert_eq!(text.search(&query, 9, &|_| true).unwrap(), before);
        text.flush().unwrap();
        assert_eq!(text.search(&query, 9, &|_| true).unwrap(), before);
    }
}

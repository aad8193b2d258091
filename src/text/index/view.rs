//! The view: the committed index, the uncommitted documents behind it, and the commit between them.
//!
//! Locks are taken in the order `writer`, `state`. A commit publishes its segments and removes its
//! documents from the queue in one step, so that a search sees each document exactly once.

use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::indexer::IndexWriterOptions;
use tantivy::{Index, IndexReader, IndexWriter, TantivyError};

use crate::ledger::EntryId;
use crate::text::analysis::token::TermCache;
use crate::text::document::Document;
use crate::text::error::Error;
use crate::text::index::open::OpenOutcome;
use crate::text::index::open::TextLocation;
use crate::text::index::open::{self, CommitPayload};
use crate::text::index::schema::Fields;
use crate::text::index::segment_reader::{Committed, Snapshot};
use crate::text::index::uncommitted::{QueuedDocument, Uncommitted};
use crate::text::options::TextOptions;

/// The committed index and the uncommitted documents, without the background thread.
pub(in crate::text) struct View {
    pub(in crate::text) fields: Fields,
    pub(in crate::text) options: TextOptions,
    pub(in crate::text) index: Index,
    reader: IndexReader,
    /// Held during a commit and taken before `state`. `None` before the first commit and after one
    /// that failed.
    pub(in crate::text) writer: Mutex<Option<IndexWriter>>,
    pub(in crate::text) state: Mutex<State>,
}

/// The state that changes atomically: each document is in exactly one of both places.
pub(in crate::text) struct State {
    pub(in crate::text) committed: Arc<Committed>,
    pub(in crate::text) committed_watermark: u64,
    pub(in crate::text) uncommitted: Uncommitted,
}

impl View {
    pub(in crate::text) fn open(
        place: &TextLocation,
        ledger_len: u64,
        options: TextOptions,
    ) -> Result<(Self, OpenOutcome), Error> {
        let fields = Fields::new(options.language);
        let (found, opened) = open::open(place, ledger_len, &fields)?;
        let state = State {
            committed: Arc::new(Committed::new(found.reader.searcher())),
            committed_watermark: found.watermark,
            uncommitted: Uncommitted::new(found.watermark),
        };
        let view = Self {
            fields,
            options,
            index: found.index,
            reader: found.reader,
            writer: Mutex::new(None),
            state: Mutex::new(state),
        };
        Ok((view, opened))
    }

    pub(in crate::text) fn watermark(&self) -> u64 {
        self.state.lock().uncommitted.watermark
    }

    pub(in crate::text) fn committed(&self) -> u64 {
        self.state.lock().committed_watermark
    }

    /// Queues the document of a row, and returns the result of `then` on the queue.
    pub(in crate::text) fn push<T>(
        &self,
        row: EntryId,
        document: Document,
        then: fn(&Uncommitted) -> T,
    ) -> T {
        let uncommitted = &mut self.state.lock().uncommitted;
        uncommitted.push(row, document);
        then(uncommitted)
    }

    pub(in crate::text) fn uncommitted_is(&self, so: fn(&Uncommitted) -> bool) -> bool {
        so(&self.state.lock().uncommitted)
    }

    pub(in crate::text) fn advance(&self, watermark: u64) {
        let uncommitted = &mut self.state.lock().uncommitted;
        uncommitted.watermark = uncommitted.watermark.max(watermark);
    }

    pub(in crate::text) fn flush(&self) -> Result<(), Error> {
        self.commit_if(|state| state.committed_watermark != state.uncommitted.watermark)
    }

    /// Commits, waits until small segments are merged, and drops the writer.
    pub(in crate::text) fn close(&self) -> Result<(), Error> {
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

    /// Returns a snapshot for a search.
    pub(in crate::text) fn snapshot(&self) -> Snapshot {
        if let Err(error) = self.commit_if(|state| state.uncommitted.is_long()) {
            // A full disk must not prevent reading: a long queue only makes a search slower.
            tracing::warn!(%error, "searching without committing the text index");
        }
        let mut state = self.state.lock();
        Snapshot {
            uncommitted: state.uncommitted.segments(&self.fields),
            committed: Arc::clone(&state.committed),
        }
    }

    /// Commits the queue if `is_due` holds, and still holds once no other commit is running.
    pub(in crate::text) fn commit_if(&self, is_due: fn(&State) -> bool) -> Result<(), Error> {
        if !is_due(&self.state.lock()) {
            return Ok(());
        }
        let mut writer = self.writer.lock();
        let (documents, watermark) = {
            let state = self.state.lock();
            if !is_due(&state) {
                return Ok(());
            }
            (state.uncommitted.documents(), state.uncommitted.watermark)
        };
        let written = self.write(&mut writer, &documents, watermark);
        if written.is_err() {
            // A writer that failed may hold part of the documents; the next commit uses a new one.
            *writer = None;
        }
        written.map_err(Error::index("committing"))?;
        self.publish(watermark)
    }

    /// Commits `documents` and the watermark that the index then has, atomically.
    fn write(
        &self,
        writer: &mut Option<IndexWriter>,
        documents: &[Arc<QueuedDocument>],
        watermark: u64,
    ) -> tantivy::Result<()> {
        // A commit that returned an error may still have happened: rows that the disk covers are
        // not written again.
        let stored =
            CommitPayload::read(&self.index.load_metas()?).map_err(TantivyError::InternalError)?;
        let writer = match writer {
            Some(writer) => writer,
            None => writer.insert(self.new_writer()?),
        };
        let mut covered = CommitPayload {
            watermark,
            ..stored
        };
        let mut cache = TermCache::default();
        let uncovered = documents.iter();
        for fed in uncovered.filter(|fed| fed.row.get() >= stored.watermark) {
            writer.add_document(self.fields.indexable(fed.row, &fed.document, &mut cache))?;
            covered.documents += 1;
        }
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&covered.payload());
        commit.commit()?;
        Ok(())
    }

    pub(in crate::text) fn new_writer(&self) -> tantivy::Result<IndexWriter> {
        // One thread keeps the rows of a segment in order and leaves the other cores to the store.
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(self.options.budget_bytes.clamp(BUDGET_MIN, BUDGET_MAX))
            .build();
        self.index.writer_with_options(options)
    }

    /// Makes a commit visible to searches and removes its documents from the queue.
    pub(in crate::text) fn publish(&self, watermark: u64) -> Result<(), Error> {
        self.reader
            .reload()
            .map_err(Error::index("opening what was committed"))?;
        let committed = Arc::new(Committed::new(self.reader.searcher()));
        let mut state = self.state.lock();
        state.committed = committed;
        state.committed_watermark = watermark;
        state.uncommitted.forget_below(watermark);
        Ok(())
    }
}

/// The minimum memory budget of the index library.
const BUDGET_MIN: usize = 15_000_000;

/// The maximum memory budget: the library counts in 32 bits.
const BUDGET_MAX: usize = 4_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::query::lowering::Query;
    use crate::text::search::hit::Hits;
    use crate::text::search::ranking::Ranking;

    #[test]
    fn a_commit_that_reported_an_error_and_happened_is_not_repeated() {
        let (view, _) = View::open(&TextLocation::Memory, 0, TextOptions::default()).unwrap();
        view.push(EntryId::FIRST, Document::from("green tea"), |_| ());
        view.push(EntryId::new(1), Document::from("tea"), |_| ());
        let query = Query::words("green tea");
        let search = || -> Hits {
            let hits = view.search(&query, &Ranking::default(), 9, &|_| true, &|| false);
            hits.unwrap()
        };
        let before = search();
        let documents = view.state.lock().uncommitted.documents();
        view.write(&mut view.writer.lock(), &documents, 2).unwrap();
        // The commit was not published: the documents are still in the queue.
        assert_eq!(search(), before);
        view.flush().unwrap();
        assert_eq!(search(), before);
    }
}

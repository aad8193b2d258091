//! The view: the committed index, the uncommitted documents behind it, and the commit between them.
//!
//! Locks are taken in the order `merging`, `writer`, `state`. A commit publishes its segments and removes its
//! documents from the queue in one step, so that a search sees each document exactly once.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tantivy::IndexReader;

use crate::ledger::{Disk, EntryId};
use crate::process::Mutex;
use crate::text::document::Document;
use crate::text::error::Error;
use crate::text::index::disk::Committed;
use crate::text::index::open;
use crate::text::index::open::{Fingerprint, OpenOutcome};
use crate::text::index::partitions::{PartitionId, Partitions};
use crate::text::index::schema::Fields;
use crate::text::index::segment_list::SegmentList;
use crate::text::index::segment_reader::Snapshot;
use crate::text::index::uncommitted::{PART_LEN, QueuedDocument, Uncommitted};
use crate::text::options::TextOptions;

/// The committed index and the uncommitted documents, without the background thread.
pub(in crate::text) struct View {
    pub(in crate::text) fields: Fields,
    pub(in crate::text) options: TextOptions,
    pub(in crate::text) list: SegmentList,
    reader: IndexReader,
    /// Held while segments are merged.
    pub(in crate::text) merging: Mutex<()>,
    /// Above 0 while an erasure waits for `merging`.
    pub(in crate::text) cancelled: Arc<AtomicUsize>,
    /// Held while the list of segments is replaced and published.
    pub(in crate::text) writer: Mutex<()>,
    pub(in crate::text) state: Mutex<State>,
    pub(in crate::text) partitions: Arc<Partitions>,
}

/// The state that changes atomically: each document is in exactly one of both places.
pub(in crate::text) struct State {
    pub(in crate::text) committed: Arc<Committed>,
    pub(in crate::text) committed_watermark: u64,
    pub(in crate::text) uncommitted: Uncommitted,
}

impl View {
    pub(in crate::text) fn open(
        disk: &Arc<dyn Disk>,
        ledger_len: u64,
        fingerprint: &Fingerprint,
        partitions: &Arc<Partitions>,
        options: TextOptions,
    ) -> Result<(Self, OpenOutcome), Error> {
        let fields = Fields::new(options.language);
        let (found, opened) = open::open(disk, ledger_len, fingerprint, &fields)?;
        let state = State {
            committed: Arc::new(Committed::new(found.reader.searcher())),
            committed_watermark: found.watermark,
            uncommitted: Uncommitted::new(found.watermark),
        };
        let view = Self {
            fields,
            options,
            list: found.list,
            reader: found.reader,
            merging: Mutex::default(),
            cancelled: Arc::default(),
            writer: Mutex::default(),
            state: Mutex::new(state),
            partitions: Arc::clone(partitions),
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

    /// Queues the document of a row in a partition. The row is covered then, if it is the next one.
    pub(in crate::text) fn push_to_partition(
        &self,
        partition: PartitionId,
        row: EntryId,
        document: Document,
    ) {
        self.partitions.add(&self.fields, partition, row, document);
        let uncommitted = &mut self.state.lock().uncommitted;
        // A view that lags behind must not skip the rows that it lacks.
        if uncommitted.watermark == row.get() {
            uncommitted.watermark = row.next().get();
        }
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

    /// Returns a snapshot for a search.
    pub(in crate::text) fn snapshot(&self) -> Snapshot {
        if let Err(error) = self.commit_if(|state| state.uncommitted.is_long()) {
            // A full disk must not prevent reading: a long queue only makes a search slower.
            tracing::warn!(%error, "searching without committing the text index");
        }
        let mut state = self.state.lock();
        let mut snapshot = Snapshot {
            in_memory: state.uncommitted.segments(&self.fields, PART_LEN),
            committed: Arc::clone(&state.committed),
        };
        drop(state);
        let in_memory = &mut snapshot.in_memory;
        self.partitions.add_segments(&self.fields, in_memory);
        snapshot
    }

    /// Commits the queue if `is_due` holds, and still holds once no other commit is running.
    pub(in crate::text) fn commit_if(&self, is_due: fn(&State) -> bool) -> Result<(), Error> {
        if !is_due(&self.state.lock()) {
            return Ok(());
        }
        let _writer = self.writer.lock();
        let (documents, watermark) = {
            let state = self.state.lock();
            if !is_due(&state) {
                return Ok(());
            }
            (state.uncommitted.documents(), state.uncommitted.watermark)
        };
        let written = self.write(&documents, watermark);
        written.map_err(Error::index("committing"))?;
        self.publish()
    }

    /// Commits `documents` and the watermark that the index then has, atomically.
    fn write(&self, documents: &[Arc<QueuedDocument>], watermark: u64) -> tantivy::Result<()> {
        // A commit that returned an error may still have happened: rows that the disk covers are
        // not written again.
        let (_, mut covered) = self.list.read()?;
        let fed = documents.iter().map(|fed| &**fed);
        let fed: Vec<_> = fed
            .filter(|fed| fed.row.get() >= covered.watermark)
            .collect();
        let budget = self.options.budget_bytes.clamp(BUDGET_MIN, BUDGET_MAX);
        let new = self.list.index(&self.fields, &fed, budget)?;
        covered.watermark = covered.watermark.max(watermark);
        covered.documents += fed.len() as u64;
        self.list.replace(&[], &new, covered)
    }

    /// Makes the list of segments on disk visible to searches and removes its documents from the
    /// queue. The caller holds `writer`.
    pub(in crate::text) fn publish(&self) -> Result<(), Error> {
        let failed = Error::index("opening what was committed");
        let opened = self.list.read().and_then(|(_, covered)| {
            self.reader.reload()?;
            Ok(covered.watermark)
        });
        let watermark = opened.map_err(failed)?;
        let searcher = self.reader.searcher();
        let mut state = self.state.lock();
        state.committed = Arc::new(state.committed.followed_by(searcher));
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
    use crate::ledger::MemoryDisk;
    use crate::text::query::lowering::Query;
    use crate::text::search::execute::{self, Search};
    use crate::text::search::hit::Hits;
    use crate::text::search::ranking::Ranking;

    fn of_any() -> Fingerprint {
        Arc::new(|_| Some([0; 8]))
    }

    #[test]
    fn a_commit_that_reported_an_error_and_happened_is_not_repeated() {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let (none, options) = (Arc::default(), TextOptions::default());
        let (view, _) = View::open(&disk, 0, &of_any(), &none, options).unwrap();
        view.push(EntryId::FIRST, Document::from("green tea"), |_| ());
        view.push(EntryId::new(1), Document::from("tea"), |_| ());
        let query = Query::words("green tea");
        let search = || -> Hits {
            let found = execute::search(
                &view,
                &Search {
                    query: &query,
                    ranking: &Ranking::default(),
                    limit: 9,
                    accept: &|_| true,
                    accepted: None,
                    own: None,
                    is_over: &|| false,
                    meaning: None,
                    dated: crate::text::Dated::default(),
                    reach: None,
                    tells_fields: true,
                },
            );
            found.unwrap().hits
        };
        let before = search();
        let documents = view.state.lock().uncommitted.documents();
        view.write(&documents, 2).unwrap();
        // The commit was not published: the documents are still in the queue.
        assert_eq!(search(), before);
        view.flush().unwrap();
        assert_eq!(search(), before);
    }
}

//! Partitions: the documents of unlocked persons, in memory only.
//!
//! A partition is a queue like that of the uncommitted documents, and is never committed. A search
//! reads its segments beside those of the view, so that statistics, scores and order are those of
//! one collection. Partitions outlive a view that is set aside and built anew, because no file
//! holds their words.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::ledger::EntryId;
use crate::text::document::Document;
use crate::text::index::memory_segment::MemorySegment;
use crate::text::index::schema::Fields;
use crate::text::index::uncommitted::{SEARCH_LEN_MAX, Uncommitted};

/// The documents of unlocked persons, each in the partition of its person.
///
/// Its lock is taken while no other lock of the view is held.
#[derive(Default)]
pub(crate) struct Partitions(Mutex<BTreeMap<PartitionId, Uncommitted>>);

/// The pseudonym of the person whose partition it is.
pub(in crate::text) type PartitionId = [u8; 16];

impl Partitions {
    /// Queues the document of a row in a partition, unless the partition covers the row already.
    pub(in crate::text) fn add(
        &self,
        fields: &Fields,
        partition: PartitionId,
        row: EntryId,
        document: Document,
    ) {
        let mut partitions = self.0.lock();
        let queue = partitions
            .entry(partition)
            .or_insert_with(|| Uncommitted::new(0));
        queue.push(row, document);
        // A search then indexes few documents of the most that an unlocked person may have.
        if queue.unindexed() >= SEARCH_LEN_MAX {
            queue.segments(fields, SEARCH_LEN_MAX);
        }
    }

    /// Erases the documents of rows from one partition.
    pub(in crate::text) fn erase_in(&self, partition: PartitionId, rows: &[EntryId]) {
        if let Some(queue) = self.0.lock().get_mut(&partition) {
            queue.erase(rows);
        }
    }

    /// Erases the documents of rows from every partition.
    pub(crate) fn erase(&self, rows: &[EntryId]) {
        let mut partitions = self.0.lock();
        partitions.values_mut().for_each(|queue| queue.erase(rows));
    }

    /// Drops a partition with its documents, terms and statistics.
    pub(in crate::text) fn drop_partition(&self, partition: PartitionId) {
        self.0.lock().remove(&partition);
    }

    /// Adds the segments of all partitions.
    pub(in crate::text) fn add_segments(
        &self,
        fields: &Fields,
        segments: &mut Vec<Arc<MemorySegment>>,
    ) {
        for queue in self.0.lock().values_mut() {
            segments.extend(queue.segments(fields, SEARCH_LEN_MAX));
        }
    }
}

impl fmt::Debug for Partitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Partitions")
            .field(&self.0.lock().len())
            .finish()
    }
}

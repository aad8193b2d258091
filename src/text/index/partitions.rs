//! Partitions: the documents of unlocked persons, in memory only.
//!
//! A partition is a queue like that of the uncommitted documents, and is never committed. A search
//! reads its segments beside those of the view, so that statistics, scores and order are those of
//! one collection. Partitions outlive a view that is set aside and built anew, because no file
//! holds their words.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::ledger::EntryId;
use crate::process::Mutex;
use crate::text::document::Document;
use crate::text::index::memory_segment::MemorySegment;
use crate::text::index::schema::Fields;
use crate::text::index::uncommitted::{SEARCH_LEN_MAX, Uncommitted};

/// The documents of unlocked persons, each in the partition of its person.
///
/// Its lock is taken last: no other lock of a view is taken while it is held.
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
    pub(crate) fn drop_partition(&self, partition: PartitionId) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Disk, MemoryDisk};
    use crate::text::{Language, Query, Ranking, Text, TextOptions};

    const PERSON: PartitionId = [7; 16];

    fn segments(partitions: &Partitions, fields: &Fields) -> Vec<Arc<MemorySegment>> {
        let mut segments = Vec::new();
        partitions.add_segments(fields, &mut segments);
        segments
    }

    fn lengths(segments: &[Arc<MemorySegment>]) -> Vec<usize> {
        let segments = segments.iter();
        segments.map(|segment| segment.values.len()).collect()
    }

    #[test]
    fn a_partition_is_indexed_in_blocks_and_an_erasure_indexes_only_those_of_its_rows_again() {
        let fields = Fields::new(Language::ENGLISH);
        let partitions = Partitions::default();
        let add = |row| partitions.add(&fields, PERSON, EntryId::new(row), Document::from("tea"));
        (0..10_000).for_each(add);
        assert_eq!(partitions.0.lock()[&PERSON].unindexed(), 10_000 - 2 * 4_096);
        let before = segments(&partitions, &fields);
        assert_eq!(lengths(&before), [4_096, 4_096, 1_808]);
        partitions.erase_in(PERSON, &[EntryId::new(5_000), EntryId::new(9_999)]);
        add(10_000);
        let after = segments(&partitions, &fields);
        assert_eq!(lengths(&after), [4_096, 4_095, 1_807, 1]);
        assert!(Arc::ptr_eq(&before[0], &after[0]));
        assert!(!Arc::ptr_eq(&before[1], &after[1]));
        // One that is empty goes.
        let first: Vec<_> = (0..4_096).map(EntryId::new).collect();
        partitions.erase(&first);
        assert_eq!(lengths(&segments(&partitions, &fields)), [4_095, 1_807, 1]);
    }

    #[test]
    fn partitions_outlive_a_view_that_is_built_anew() {
        let partitions = Arc::default();
        let open = || {
            let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
            let (of_any, options) = (Arc::new(|_| Some([0_u8; 8])) as _, TextOptions::default());
            Text::open_of(&disk, 0, &of_any, &partitions, options)
                .unwrap()
                .0
        };
        let total = |text: &Text| {
            let found = text.search(&Query::words("tea"), &Ranking::WORDS, 9, &|_| true);
            found.unwrap().total
        };
        open().add_to_partition(PERSON, EntryId::FIRST, "green tea".into());
        let text = open();
        assert_eq!(total(&text), 1);
        text.drop_partition(PERSON);
        assert_eq!(total(&text), 0);
        assert_eq!(format!("{partitions:?}"), "Partitions(0)");
    }
}

//! Erasure: removes the words of rows from memory and from every file of the index.
//!
//! Marking documents as deleted is not enough: the dictionary of a segment keeps their terms. Each
//! segment that holds one of the rows is rewritten without them; no other is touched. Large ones are
//! rewritten beside each other, since the deletion waits for the last.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tantivy::SegmentReader;
use tantivy::index::Segment;

use crate::ledger::EntryId;
use crate::process::MutexGuard;
use crate::text::error::Error;
use crate::text::index::disk::{document_of, row_values};
use crate::text::index::segment_list::{NewSegment, beside};
use crate::text::index::view::View;

impl View {
    /// Erases the text of `rows`, in memory and in the files. A merge that is running is cancelled:
    /// its result would hold them again.
    pub(in crate::text) fn erase(&self, rows: &[EntryId]) -> Result<(), Error> {
        let merging = self.end_merge();
        let writer = self.writer.lock();
        self.state.lock().uncommitted.erase(rows);
        self.partitions.erase(rows);
        let erased = self.erase_committed(rows);
        erased.map_err(Error::index("forgetting rows"))?;
        self.publish()?;
        drop((writer, merging));
        Ok(())
    }

    /// Deletes all files of the index. No later commit succeeds.
    pub(in crate::text) fn remove(&self) -> Result<(), Error> {
        let merging = self.end_merge();
        let writer = self.writer.lock();
        let removed = self.list.remove().map_err(Error::folder("empty"));
        drop((writer, merging));
        removed
    }

    /// Cancels the merge that is running, and prevents others.
    fn end_merge(&self) -> MutexGuard<'_, ()> {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
        let merging = self.merging.lock();
        self.cancelled.fetch_sub(1, Ordering::Relaxed);
        merging
    }

    fn erase_committed(&self, rows: &[EntryId]) -> tantivy::Result<()> {
        let (_, mut covered) = self.list.read()?;
        let mut hit = Vec::new();
        for segment in self.list.index.searchable_segments()? {
            let erased = documents_of(&segment, rows)?;
            if erased.is_empty() {
                continue;
            }
            covered.documents = covered.documents.saturating_sub(erased.len() as u64);
            hit.push((segment, erased));
        }
        if hit.is_empty() {
            return Ok(());
        }
        let old: Vec<_> = hit.iter().map(|(segment, _)| segment.id()).collect();
        let new = self.rewrite_each(&hit)?;
        self.list.replace(&old, &new, covered)
    }

    /// Writes each segment without the documents that it is listed with.
    fn rewrite_each(&self, hit: &[(Segment, Vec<u32>)]) -> tantivy::Result<Vec<NewSegment>> {
        let next = AtomicUsize::new(0);
        let rewrite = || {
            let wanted = Arc::default();
            let mut new = Vec::new();
            while let Some(segment) = hit.get(next.fetch_add(1, Ordering::Relaxed)) {
                new.extend(
                    self.list
                        .rewrite(&self.fields, slice::from_ref(segment), &wanted)?,
                );
            }
            Ok(new)
        };
        let documents = hit.iter().map(|(segment, _)| segment.meta().max_doc());
        let workers = match documents.map(u64::from).sum::<u64>() {
            0..BESIDE_MIN => 1,
            _ => thread::available_parallelism().map_or(1, |cores| cores.get().min(WORKERS_MAX)),
        };
        beside(workers, rewrite)
    }
}

/// Returns the documents of `rows` in a segment, in ascending order.
fn documents_of(segment: &Segment, rows: &[EntryId]) -> tantivy::Result<Vec<u32>> {
    let reader = SegmentReader::open(segment)?;
    let values = row_values(&reader)?;
    let found = rows.iter().map(|row| document_of(&*values, *row));
    let mut found: Vec<u32> = found.flatten().collect();
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The documents for which threads are worth starting; in a unit test any.
const BESIDE_MIN: u64 = if cfg!(test) { 1 } else { 1 << 16 };

/// Each holds the dictionary of a segment in memory.
const WORKERS_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Disk, MemoryDisk};
    use crate::text::{Document, Query, Ranking, Text, TextOptions};

    #[test]
    fn segments_that_are_rewritten_beside_each_other_lose_what_is_erased_and_nothing_else() {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let options = TextOptions {
            background: false,
            ..TextOptions::default()
        };
        let (text, _) = Text::open(&disk, 0, options).unwrap();
        let mut rows = (0..).map(EntryId::new);
        for documents in [40, 30, 20, 10] {
            for row in rows.by_ref().take(documents) {
                let words = format!("tea row{row}");
                text.add(row, Document::from(words.as_str())).unwrap();
            }
            text.flush().unwrap();
        }
        let (segments, _) = text.size().unwrap();
        assert!(segments > 1, "{segments} segments");
        let total = |words: &str| {
            let found = text.search(&Query::words(words), &Ranking::WORDS, 200, &|_| true);
            found.unwrap().total
        };
        // Some of each segment, and all of the last.
        let erased: Vec<_> = (0..90).step_by(3).chain(90..100).collect();
        let of_erased: Vec<_> = erased.iter().copied().map(EntryId::new).collect();
        text.erase(&of_erased).unwrap();
        for row in 0..100 {
            let expected = usize::from(!erased.contains(&row));
            assert_eq!(total(&format!("row{row}")), expected, "row {row}");
        }
        assert_eq!(total("tea"), 100 - erased.len());
        assert!(text.verify().unwrap().is_empty());
    }
}

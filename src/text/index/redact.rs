//! Erasure: removes the words of rows from memory and from every file of the index.
//!
//! Marking documents as deleted is not enough: the dictionary of a segment keeps their terms. Each
//! segment that holds one of the rows is rewritten without them; no other is touched.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::MutexGuard;
use tantivy::index::Segment;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED};

use crate::ledger::EntryId;
use crate::text::error::Error;
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
        let mut old = Vec::new();
        let mut new = Vec::new();
        for segment in self.list.index.searchable_segments()? {
            let erased = self.documents_of(&segment, rows)?;
            if erased.is_empty() {
                continue;
            }
            covered.documents = covered.documents.saturating_sub(erased.len() as u64);
            old.push(segment.id());
            let wanted = Arc::new(AtomicUsize::new(0));
            new.extend(self.list.rewrite(&[(segment, erased)], &wanted)?);
        }
        if old.is_empty() {
            return Ok(());
        }
        self.list.replace(&old, &new, covered)
    }

    /// Returns the documents of `rows` in a segment.
    fn documents_of(&self, segment: &Segment, rows: &[EntryId]) -> tantivy::Result<Vec<u32>> {
        let reader = SegmentReader::open(segment)?;
        let mut found = Vec::new();
        for row in rows {
            let term = self.fields.row_term(*row);
            let index = reader.inverted_index(term.field())?;
            let postings = index.read_postings(&term, IndexRecordOption::Basic)?;
            let Some(mut postings) = postings else {
                continue;
            };
            while postings.doc() != TERMINATED {
                found.push(postings.doc());
                postings.advance();
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

//! The documents that were fed and are not in the committed index yet.
//!
//! They are queued when fed and indexed in memory only when a search needs them. Limits here decide
//! when a commit is due.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ledger::EntryId;
use crate::text::document::Document;
use crate::text::index::memory_segment::MemorySegment;
use crate::text::index::schema::Fields;

/// The queue of uncommitted documents, and the segments in memory over them.
///
/// A search indexes new documents together with the small segments before them, so that of n
/// documents none is indexed more than log2([`PART_LEN`]) times and few segments remain to be
/// searched.
pub(in crate::text) struct Uncommitted {
    documents: Vec<Arc<QueuedDocument>>,
    len_bytes: usize,
    parts: Vec<IndexedPart>,
    /// The number of ledger entries that the committed index and the queue cover together.
    pub(in crate::text) watermark: u64,
}

/// A document and its row.
pub(in crate::text) struct QueuedDocument {
    pub(in crate::text) row: EntryId,
    pub(in crate::text) document: Document,
}

/// A segment over consecutive documents of the queue.
struct IndexedPart {
    len: usize,
    /// `None` until a search needs it.
    segment: Option<Arc<MemorySegment>>,
}

impl Uncommitted {
    /// Returns an empty queue that starts at `watermark`.
    pub(in crate::text) fn new(watermark: u64) -> Self {
        Self {
            documents: Vec::new(),
            len_bytes: 0,
            parts: Vec::new(),
            watermark,
        }
    }

    /// Queues a document, unless its row is covered already.
    pub(in crate::text) fn push(&mut self, row: EntryId, document: Document) {
        if row.get() < self.watermark {
            return;
        }
        self.watermark = row.next().get();
        self.len_bytes = self.len_bytes.saturating_add(document.len_bytes());
        self.documents
            .push(Arc::new(QueuedDocument { row, document }));
    }

    /// Returns whether the queue is long enough for a segment of its own.
    pub(in crate::text) fn is_due(&self) -> bool {
        self.documents.len() >= FEED_LEN_MAX || self.len_bytes >= FEED_BYTES_MAX
    }

    /// Returns whether the committer should be woken.
    pub(in crate::text) fn needs_committer(&self) -> bool {
        self.documents.len() == IDLE_LEN_MIN || self.is_due()
    }

    /// Removes the documents of these rows; the rows stay covered.
    pub(in crate::text) fn erase(&mut self, rows: &[EntryId]) {
        let rows: BTreeSet<&EntryId> = rows.iter().collect();
        let is_kept = |fed: &Arc<QueuedDocument>| !rows.contains(&fed.row);
        let mut documents = std::mem::take(&mut self.documents).into_iter();
        for part in &mut self.parts {
            let before = self.documents.len();
            let of_part = documents.by_ref().take(part.len);
            self.documents.extend(of_part.filter(is_kept));
            let len = self.documents.len().saturating_sub(before);
            if len < part.len {
                *part = IndexedPart { len, segment: None };
            }
        }
        self.documents.extend(documents.filter(is_kept));
        self.parts.retain(|part| part.len > 0);
    }

    /// Returns whether the writer must wait for a commit.
    pub(in crate::text) fn is_full(&self) -> bool {
        self.documents.len() >= 4 * FEED_LEN_MAX || self.len_bytes >= 2 * FEED_BYTES_MAX
    }

    /// Returns whether an idle queue should be committed.
    pub(in crate::text) fn is_worth_committing(&self) -> bool {
        self.documents.len() >= IDLE_LEN_MIN
    }

    /// Returns whether a search should commit the queue instead of indexing it in memory.
    pub(in crate::text) fn is_long(&self) -> bool {
        self.documents.len() > SEARCH_LEN_MAX
    }

    /// Returns the queued documents, in the order of their rows.
    pub(in crate::text) fn documents(&self) -> Vec<Arc<QueuedDocument>> {
        self.documents.clone()
    }

    /// Removes the documents below `watermark`, which are in the committed index now.
    pub(in crate::text) fn forget_below(&mut self, watermark: u64) {
        self.documents.retain(|fed| fed.row.get() >= watermark);
        self.len_bytes = self
            .documents
            .iter()
            .map(|fed| fed.document.len_bytes())
            .sum();
        self.parts.clear();
    }

    /// Returns the number of documents that no segment holds, because they were queued after the
    /// last search.
    pub(in crate::text) fn unindexed(&self) -> usize {
        let indexed: usize = self.parts.iter().map(|part| part.len).sum();
        self.documents.len().saturating_sub(indexed)
    }

    /// Returns segments over all queued documents, and indexes those that have none. Small segments
    /// are combined, by indexing their documents again, up to `part_len`.
    pub(in crate::text) fn segments(
        &mut self,
        fields: &Fields,
        part_len: usize,
    ) -> Vec<Arc<MemorySegment>> {
        let mut len = self.unindexed();
        if len > 0 {
            while let Some(last) = self.parts.last() {
                if last.len > len || last.len.saturating_add(len) > part_len {
                    break;
                }
                len = len.saturating_add(last.len);
                self.parts.pop();
            }
            self.parts.push(IndexedPart { len, segment: None });
        }
        let mut rest = self.documents.as_slice();
        let parts = self.parts.iter_mut().map(|part| {
            let of_part;
            (of_part, rest) = rest.split_at(part.len.min(rest.len()));
            let segment = part.segment.get_or_insert_with(|| {
                let documents = of_part.iter().map(|fed| (fed.row, &fed.document));
                Arc::new(MemorySegment::of(fields, documents))
            });
            Arc::clone(segment)
        });
        parts.collect()
    }
}

/// The longest queue that a search indexes in memory.
pub(in crate::text) const SEARCH_LEN_MAX: usize = 4_096;

/// The queue length at which a commit is due: large, because every commit creates a segment, and not
/// larger, because the texts are in memory until then.
const FEED_LEN_MAX: usize = 16_384;

/// The shortest idle queue that is committed. Indexing a shorter one again is cheaper than merging
/// its segment.
const IDLE_LEN_MIN: usize = 1_024;

/// The queue size in bytes at which a commit is due: twice as much waits in memory at most, beside
/// the segment that is built of it.
const FEED_BYTES_MAX: usize = 12 << 20;

/// The length up to which small segments of the uncommitted documents are combined.
pub(in crate::text) const PART_LEN: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_searched_one_by_one_lie_in_few_segments() {
        let fields = Fields::new(crate::text::Language::ENGLISH);
        let mut queue = Uncommitted::new(0);
        for row in 0..1_000 {
            queue.push(EntryId::new(row), Document::from(format!("note {row}")));
            let segments = queue.segments(&fields, PART_LEN);
            let documents: usize = segments.iter().map(|segment| segment.values.len()).sum();
            assert_eq!(documents as u64, row + 1);
            assert!(
                segments.len() <= 12,
                "{} segments for {row} rows",
                segments.len()
            );
        }
    }

    #[test]
    fn a_queue_is_due_by_number_or_by_size_and_full_at_four_times_that() {
        let mut queue = Uncommitted::new(0);
        queue.push(EntryId::FIRST, Document::from("x".repeat(FEED_BYTES_MAX)));
        assert!(queue.is_due() && !queue.is_full());
        queue.forget_below(1);
        assert!(!queue.is_due());
        (1..=16_384).for_each(|row| queue.push(EntryId::new(row), Document::from("")));
        assert!(queue.is_due() && !queue.is_full());
        (16_385..=65_536).for_each(|row| queue.push(EntryId::new(row), Document::from("")));
        assert!(queue.is_full());
    }
}

use std::sync::Arc;

use crate::text::document::Document;
use crate::text::index::memory_segment::MemorySegment;
use crate::text::index::schema::Fields;

/// The documents that were fed and are not in the committed index yet.
///
/// Feeding only queues them. A search indexes what it needs into segments in memory: the new ones
/// together with the small segments before them, so that of n documents none is indexed more than
/// log2([`PART_LEN`]) times and there are few segments to search.
pub(in crate::text) struct Uncommitted {
    documents: Vec<Arc<QueuedDocument>>,
    len_bytes: usize,
    parts: Vec<IndexedPart>,
    /// How many ledger entries the committed index and the tail cover together.
    pub(in crate::text) watermark: u64,
}

/// A document and the row that says it.
pub(in crate::text) struct QueuedDocument {
    pub(in crate::text) row: u64,
    pub(in crate::text) document: Document,
}

/// A segment over consecutive documents of the tail.
struct IndexedPart {
    len: usize,
    segment: Arc<MemorySegment>,
}

impl Uncommitted {
    /// Returns an empty tail after the entries that are committed.
    pub(in crate::text) fn new(watermark: u64) -> Self {
        Self {
            documents: Vec::new(),
            len_bytes: 0,
            parts: Vec::new(),
            watermark,
        }
    }

    /// Queues a document, unless its row is already covered.
    pub(in crate::text) fn push(&mut self, row: u64, document: Document) {
        if row < self.watermark {
            return;
        }
        self.watermark = row.saturating_add(1);
        self.len_bytes = self.len_bytes.saturating_add(document.len_bytes());
        self.documents
            .push(Arc::new(QueuedDocument { row, document }));
    }

    /// Returns whether so much is queued that it is worth a segment.
    pub(in crate::text) fn is_due(&self) -> bool {
        self.documents.len() >= FEED_LEN_MAX || self.len_bytes >= FEED_BYTES_MAX
    }

    /// Returns whether the thread that commits should have a look.
    pub(in crate::text) fn needs_committer(&self) -> bool {
        self.documents.len() == IDLE_LEN_MIN || self.is_due()
    }

    /// Forgets what these rows said; they stay covered.
    pub(in crate::text) fn erase(&mut self, rows: &[u64]) {
        self.documents.retain(|fed| !rows.contains(&fed.row));
        self.parts.clear();
    }

    /// Returns whether so much is queued that a feeder must wait for whoever commits.
    pub(in crate::text) fn is_full(&self) -> bool {
        self.documents.len() >= 4 * FEED_LEN_MAX || self.len_bytes >= 4 * FEED_BYTES_MAX
    }

    /// Returns whether a tail that nobody adds to should be committed all the same.
    pub(in crate::text) fn is_worth_committing(&self) -> bool {
        self.documents.len() >= IDLE_LEN_MIN
    }

    /// Returns whether a search had better commit the tail than index it in memory.
    pub(in crate::text) fn is_long(&self) -> bool {
        self.documents.len() > SEARCH_LEN_MAX
    }

    /// Returns the queued documents, in the order of their rows.
    pub(in crate::text) fn documents(&self) -> Vec<Arc<QueuedDocument>> {
        self.documents.clone()
    }

    /// Forgets the documents below `watermark`, which the committed index now holds.
    pub(in crate::text) fn forget_below(&mut self, watermark: u64) {
        self.documents.retain(|fed| fed.row >= watermark);
        self.len_bytes = self
            .documents
            .iter()
            .map(|fed| fed.document.len_bytes())
            .sum();
        self.parts.clear();
    }

    /// Returns segments over every document of the tail, indexing those that have none.
    pub(in crate::text) fn segments(&mut self, fields: &Fields) -> Vec<Arc<MemorySegment>> {
        let indexed: usize = self.parts.iter().map(|part| part.len).sum();
        let mut len = self.documents.len().saturating_sub(indexed);
        if len > 0 {
            let mut kept = self.parts.len();
            for part in self.parts.iter().rev() {
                if part.len > len || part.len.saturating_add(len) > PART_LEN {
                    break;
                }
                len = len.saturating_add(part.len);
                kept = kept.saturating_sub(1);
            }
            let start = self.documents.len().saturating_sub(len);
            let documents = self.documents.iter().skip(start);
            let segment = MemorySegment::of(fields, documents.map(|fed| (fed.row, &fed.document)));
            self.parts.truncate(kept);
            self.parts.push(IndexedPart {
                len,
                segment: Arc::new(segment),
            });
        }
        let parts = self.parts.iter();
        parts.map(|part| Arc::clone(&part.segment)).collect()
    }
}

/// The longest tail a search indexes in memory.
const SEARCH_LEN_MAX: usize = 4_096;

/// The longest queue a feed builds up while nobody searches: large, because every commit starts a
/// segment.
const FEED_LEN_MAX: usize = 50_000;

/// The shortest queue that is committed because nobody adds to it: a shorter one is quicker to
/// index again than to merge.
const IDLE_LEN_MIN: usize = 1_024;

/// The largest queue a feed builds up.
const FEED_BYTES_MAX: usize = 32 << 20;

/// Segments of the tail are merged by indexing their documents again up to this many.
const PART_LEN: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_searched_one_by_one_lie_in_few_segments() {
        let fields = Fields::new(crate::text::Language::ENGLISH);
        let mut tail = Uncommitted::new(0);
        for row in 0..1_000 {
            tail.push(row, Document::from(format!("note {row}")));
            let segments = tail.segments(&fields);
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
        let mut tail = Uncommitted::new(0);
        tail.push(0, Document::from("x".repeat(FEED_BYTES_MAX)));
        assert!(tail.is_due() && !tail.is_full());
        tail.forget_below(1);
        assert!(!tail.is_due());
        (1..=50_000).for_each(|row| tail.push(row, Document::from("")));
        assert!(tail.is_due() && !tail.is_full());
        (50_001..=200_000).for_each(|row| tail.push(row, Document::from("")));
        assert!(tail.is_full());
    }
}

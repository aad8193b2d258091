//! Cursors over the postings of one term in one segment, on disk or in memory.
//!
//! [`TermFreqs`] reads term frequencies block by block; [`TermPositions`] reads positions too.

use tantivy::postings::{BlockSegmentPostings, Postings, SegmentPostings};
use tantivy::{DocSet, TERMINATED};

use crate::text::index::memory_segment::{MemoryTerms, Posting};

/// The documents of a term with their term frequencies, read a block at a time and without
/// positions.
pub(in crate::text) enum TermFreqs<'a> {
    Disk {
        block: Box<BlockSegmentPostings>,
        /// The index of the current document in the block.
        at: usize,
    },
    /// The postings from the current document on.
    Memory(&'a [Posting]),
}

impl TermFreqs<'_> {
    pub(in crate::text) fn on_disk(block: BlockSegmentPostings) -> Self {
        Self::Disk {
            block: Box::new(block),
            at: 0,
        }
    }

    /// Returns the document frequency; in memory, only of the current document and those after it.
    pub(in crate::text) fn len(&self) -> u64 {
        match self {
            Self::Disk { block, .. } => block.doc_freq().into(),
            Self::Memory(postings) => postings.len() as u64,
        }
    }

    /// Returns the current document; [`TERMINATED`] after the last.
    #[inline]
    fn document(&self) -> u32 {
        match self {
            Self::Disk { block, at } => block.docs().get(*at).copied().unwrap_or(TERMINATED),
            Self::Memory(postings) => postings.first().map_or(TERMINATED, |at| at.document),
        }
    }

    /// Advances to the first document at or after `target`, and returns it.
    #[inline]
    pub(in crate::text) fn seek(&mut self, target: u32) -> u32 {
        match self {
            Self::Disk { block, at } => {
                let here = block.docs().get(*at).copied();
                if here.is_some_and(|here| here < target) {
                    *at = block.seek(target);
                }
            }
            Self::Memory(postings) => {
                let skipped = postings.partition_point(|at| at.document < target);
                *postings = postings.get(skipped..).unwrap_or_default();
            }
        }
        self.document()
    }

    /// Returns the term frequency in the current document.
    #[inline]
    pub(in crate::text) fn count(&self) -> u32 {
        match self {
            Self::Disk { block, at } => block.freqs().get(*at).copied().unwrap_or(0),
            Self::Memory(postings) => postings.first().map_or(0, |at| at.count),
        }
    }

    /// Calls `found` for each document from the current one to below `end`, and advances past them.
    #[inline]
    pub(in crate::text) fn each_below(&mut self, end: u32, mut found: impl FnMut(u32, u32)) {
        match self {
            Self::Disk { block, at } => loop {
                let documents = block.docs().get(*at..).unwrap_or_default();
                let counts = block.freqs().get(*at..).unwrap_or_default();
                let is_whole = documents.last().is_some_and(|last| *last < end);
                let below = if is_whole {
                    documents.len()
                } else {
                    documents.partition_point(|document| *document < end)
                };
                for (document, count) in documents.iter().zip(counts).take(below) {
                    found(*document, *count);
                }
                if !is_whole {
                    *at += below;
                    return;
                }
                block.advance();
                *at = 0;
            },
            Self::Memory(postings) => {
                let below = postings.partition_point(|at| at.document < end);
                let (passed, rest) = postings.split_at(below);
                for posting in passed {
                    found(posting.document, posting.count);
                }
                *postings = rest;
            }
        }
    }
}

/// The documents of a term with the positions of the term in each.
pub(in crate::text) enum TermPositions<'a> {
    Disk(Box<SegmentPostings>),
    /// The postings from the current document on, and the terms that hold their positions.
    Memory(&'a [Posting], &'a MemoryTerms),
}

impl TermPositions<'_> {
    /// Returns the document frequency; in memory, only of the current document and those after it.
    pub(in crate::text) fn len(&self) -> u64 {
        match self {
            Self::Disk(postings) => postings.doc_freq().into(),
            Self::Memory(postings, _) => postings.len() as u64,
        }
    }

    /// Returns the current document; [`TERMINATED`] after the last.
    #[inline]
    fn document(&self) -> u32 {
        match self {
            Self::Disk(postings) => postings.doc(),
            Self::Memory(postings, _) => postings.first().map_or(TERMINATED, |at| at.document),
        }
    }

    /// Advances to the first document at or after `target`, and returns it.
    #[inline]
    pub(in crate::text) fn seek(&mut self, target: u32) -> u32 {
        match self {
            Self::Disk(postings) => {
                if postings.doc() < target {
                    postings.seek(target);
                }
            }
            Self::Memory(postings, _) => {
                let skipped = postings.partition_point(|at| at.document < target);
                *postings = postings.get(skipped..).unwrap_or_default();
            }
        }
        self.document()
    }

    /// Appends the positions in the current document, in ascending order.
    pub(in crate::text) fn positions(&mut self, positions: &mut Vec<u32>) {
        match self {
            Self::Disk(postings) => postings.append_positions_with_offset(0, positions),
            Self::Memory(postings, terms) => {
                let here = postings.first().map(|at| terms.positions(at));
                positions.extend_from_slice(here.unwrap_or_default());
            }
        }
    }
}

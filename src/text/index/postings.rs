//! Cursors over the postings of one term in one segment, on disk or in memory.
//!
//! [`TermFreqs`] reads term frequencies block by block; [`TermPositions`] reads positions too.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{BlockSegmentPostings, Postings, SegmentPostings};
use tantivy::query::Bm25Weight;
use tantivy::{DocSet, TERMINATED};

use crate::text::index::memory_segment::{MemoryTerms, Posting};

/// The documents of a term with their term frequencies, read a block at a time and without
/// positions.
pub(in crate::text) enum TermFreqs<'a> {
    Disk {
        block: Box<BlockSegmentPostings>,
        /// The index of the current document in the block.
        at: usize,
        /// Of a term whose frequencies and lengths are of one field.
        maxima: Option<&'a BlockMaxima>,
    },
    /// The postings from the current document on.
    Memory(&'a [Posting]),
}

/// Reads which document of a block of postings counts most: the index library notes the frequency
/// and the length of the one with the best score, by the mean length of the segment.
pub(in crate::text) struct BlockMaxima {
    weight: Bm25Weight,
    /// The limit of a score by `weight`, for an endless frequency.
    score_max: f32,
    lengths: FieldNormReader,
}

impl BlockMaxima {
    /// Returns the reader for a segment with so many words in so many documents.
    pub(in crate::text) fn new(lengths: FieldNormReader, words: u64, documents: u32) -> Self {
        // As the library computes it when it writes the segment, to the last bit.
        #[expect(clippy::cast_precision_loss, reason = "a mean in single precision")]
        let len_mean = words as f32 / documents.max(1) as f32;
        let weight = Bm25Weight::for_one_term_without_explain(0, 0, len_mean);
        Self {
            score_max: weight.score(0, u32::MAX),
            weight,
            lengths,
        }
    }

    /// Returns a lower bound of the length normalization of a document of the block divided by its
    /// frequency, both by the mean length of the segment.
    fn norm_min(&self, block: &mut BlockSegmentPostings) -> f64 {
        // Nothing is noted of the last block of a list.
        if block.block_len() < FULL_BLOCK {
            return 0.0;
        }
        // frequency / (frequency + normalization)
        let share = block.block_max_score(&self.lengths, &self.weight) / self.score_max;
        let norm_min = SINGLE_PRECISION / f64::from(share) - 1.0;
        if norm_min.is_finite() {
            norm_min.max(0.0)
        } else {
            0.0
        }
    }
}

impl<'a> TermFreqs<'a> {
    pub(in crate::text) fn on_disk(
        block: BlockSegmentPostings,
        maxima: Option<&'a BlockMaxima>,
    ) -> Self {
        Self::Disk {
            block: Box::new(block),
            at: 0,
            maxima,
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
            Self::Disk { block, at, .. } => block.docs().get(*at).copied().unwrap_or(TERMINATED),
            Self::Memory(postings) => postings.first().map_or(TERMINATED, |at| at.document),
        }
    }

    /// Advances to the first document at or after `target`, and returns it.
    #[inline]
    pub(in crate::text) fn seek(&mut self, target: u32) -> u32 {
        match self {
            Self::Disk { block, at, .. } => {
                let rest = block.docs().get(*at..).unwrap_or_default();
                if rest.first().is_some_and(|here| *here < target) {
                    // Turns of a conversation are asked for one after the other: mostly one of the
                    // next documents is it.
                    let mut near = rest.iter().take(NEAR + 1);
                    *at = match near.position(|document| *document >= target) {
                        Some(ahead) => *at + ahead,
                        None => block.seek(target),
                    };
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
            Self::Disk { block, at, .. } => block.freqs().get(*at).copied().unwrap_or(0),
            Self::Memory(postings) => postings.first().map_or(0, |at| at.count),
        }
    }

    /// Calls `found` for each of `documents`, in ascending order, that has the term: with its place
    /// among them and the term frequency.
    pub(in crate::text) fn each_of(
        &mut self,
        documents: &[u32],
        mut found: impl FnMut(usize, u32),
    ) {
        let mut place = 0;
        while let Some(document) = documents.get(place) {
            let next = self.seek(*document);
            if next == *document {
                found(place, self.count());
                place += 1;
            } else {
                let rest = documents.get(place..).unwrap_or_default();
                place += rest.iter().take_while(|it| **it < next).count();
            }
        }
    }

    /// Calls `found` for each document from the current one to below `end`, and advances past them.
    ///
    /// Documents that are stored together are passed over unless `needs` holds: it is given the
    /// first and the last of them, and a lower bound of their length normalization divided by their
    /// frequency.
    #[inline]
    pub(in crate::text) fn each_below(
        &mut self,
        end: u32,
        needs: impl Fn(u32, u32, f64) -> bool,
        mut found: impl FnMut(u32, u32),
    ) {
        match self {
            Self::Disk { block, at, maxima } => loop {
                let documents = block.docs().get(*at..).unwrap_or_default();
                let ends = documents.first().copied().zip(documents.last().copied());
                let Some((first, last)) = ends.filter(|(first, _)| *first < end) else {
                    return;
                };
                let is_whole = last < end;
                let below = if is_whole {
                    documents.len()
                } else {
                    documents.partition_point(|document| *document < end)
                };
                let norm_min = maxima.map_or(0.0, |maxima| maxima.norm_min(block));
                if needs(first, last.min(end - 1), norm_min) {
                    let documents = block.docs().get(*at..).unwrap_or_default();
                    let counts = block.freqs().get(*at..).unwrap_or_default();
                    for (document, count) in documents.iter().zip(counts).take(below) {
                        found(*document, *count);
                    }
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

/// The documents behind the current one that are looked at before the block is searched.
const NEAR: usize = 4;

/// The number of documents of a full block.
const FULL_BLOCK: usize = 128;

/// Less than 1 by more than the rounding errors of a score in single precision.
const SINGLE_PRECISION: f64 = 1.0 - 1e-5;

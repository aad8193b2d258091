//! The scores of one leaf for a block of consecutive documents, and the bit set of those it occurs
//! in.

use crate::process::Mutex;
use crate::text::index::disk::WINDOW_LEN;
use crate::text::index::schema::TermField;

/// The scores of a leaf for [`BLOCK_LEN`] consecutive documents, by offset from the first.
pub(in crate::text) struct ScoreBlock {
    has: DocBits,
    /// Valid for documents in `has`; others hold values of an earlier block.
    scores: Vec<f64>,
    /// The frequencies of a word by stems and by variants; zero when unused, empty until needed.
    counts: [Vec<f64>; 2],
}

/// The blocks of a search, one for each leaf and one for the sums: those of an earlier search where there
/// are some, since to clear them costs as much as to score a rare word.
pub(in crate::text) struct ScoreBlocks(Vec<ScoreBlock>);

/// Blocks that no search uses.
static SPARE: Mutex<Vec<ScoreBlock>> = Mutex::new(Vec::new());

impl ScoreBlocks {
    pub(in crate::text) fn new(leaves: usize) -> Self {
        let count = leaves.saturating_add(1);
        let mut spare = SPARE.lock();
        let rest = spare.len().saturating_sub(count);
        let mut blocks = spare.split_off(rest);
        drop(spare);
        blocks.resize_with(count, ScoreBlock::new);
        Self(blocks)
    }

    /// Returns the blocks of the leaves, and a number for each document of a block, whatever it is.
    pub(in crate::text) fn parts(&mut self) -> (&mut [ScoreBlock], &mut [f64]) {
        match &mut *self.0 {
            [sums, leaves @ ..] => (leaves, &mut sums.scores),
            [] => (&mut [], &mut []),
        }
    }
}

impl Drop for ScoreBlocks {
    fn drop(&mut self) {
        let mut spare = SPARE.lock();
        let room = SPARE_MAX.saturating_sub(spare.len());
        spare.extend(self.0.drain(..).take(room));
    }
}

/// A set of documents of a block.
#[derive(Clone, Copy)]
pub(in crate::text) struct DocBits([u64; BLOCK_WORDS]);

impl ScoreBlock {
    fn new() -> Self {
        Self {
            has: DocBits::EMPTY,
            scores: vec![0.0; BLOCK_LEN as usize],
            counts: [Vec::new(), Vec::new()],
        }
    }

    /// Starts another block.
    pub(in crate::text) fn clear(&mut self) {
        self.has = DocBits::EMPTY;
    }

    /// Returns the documents in which the leaf occurs.
    pub(in crate::text) const fn has(&self) -> &DocBits {
        &self.has
    }

    /// Returns the score of the leaf in a document; `None` if it does not occur there.
    #[inline]
    pub(in crate::text) fn score(&self, at: u32) -> Option<f64> {
        match self.has.contains(at) {
            true => self.scores.get(at as usize).copied(),
            false => None,
        }
    }

    /// Adds the scores of the leaf, so many times, to the sums of the documents of the block.
    pub(in crate::text) fn add_to(&self, sums: &mut [f64], times: f64) {
        for at in self.has.iter() {
            let score = self.scores.get(at as usize);
            if let (Some(score), Some(sum)) = (score, sums.get_mut(at as usize)) {
                *sum += times * score;
            }
        }
    }

    /// Sets the score of the leaf in a document, unless it is `None`.
    #[inline]
    pub(in crate::text) fn put(&mut self, at: u32, score: Option<f64>) {
        if let (Some(score), Some(slot)) = (score, self.scores.get_mut(at as usize)) {
            *slot = score;
            self.has.insert(at);
        }
    }

    /// Adds to the frequency of a word by terms of one field.
    #[inline]
    pub(in crate::text) fn count(&mut self, at: u32, field: TermField, count: f64) {
        let [stems, variants] = &mut self.counts;
        let counts = if field == TermField::Stems {
            stems
        } else {
            variants
        };
        if counts.is_empty() {
            counts.resize(BLOCK_LEN as usize, 0.0);
        }
        if let Some(slot) = counts.get_mut(at as usize) {
            *slot += count;
            self.has.insert(at);
        }
    }

    /// Converts the collected frequencies to scores, by the greater of stems and variants, without
    /// the documents whose score is `None`.
    pub(in crate::text) fn score_counts(&mut self, score: impl Fn(u32, f64) -> Option<f64>) {
        let mut take = |field: usize, at: u32| {
            let slot = self.counts.get_mut(field)?.get_mut(at as usize)?;
            Some(std::mem::take(slot))
        };
        let counted = std::mem::replace(&mut self.has, DocBits::EMPTY);
        for at in counted.iter() {
            let (stems, variants) = (take(0, at), take(1, at));
            let count = f64::max(stems.unwrap_or(0.0), variants.unwrap_or(0.0));
            if let (Some(score), Some(slot)) = (score(at, count), self.scores.get_mut(at as usize))
            {
                *slot = score;
                self.has.insert(at);
            }
        }
    }
}

impl DocBits {
    pub(in crate::text) const EMPTY: Self = Self([0; BLOCK_WORDS]);

    #[inline]
    pub(in crate::text) fn contains(&self, at: u32) -> bool {
        let word = self.0.get(at as usize / 64).copied().unwrap_or(0);
        word >> (at % 64) & 1 == 1
    }

    /// Returns whether there are none.
    pub(in crate::text) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Returns whether one of the documents from `first` to `last` is among them.
    #[inline]
    pub(in crate::text) fn has_in(&self, first: u32, last: u32) -> bool {
        let (low, high) = (first as usize / 64, last as usize / 64);
        let word = |at: usize| self.0.get(at).copied().unwrap_or(0);
        let from = u64::MAX << (first % 64);
        let to = u64::MAX >> (63 - last % 64);
        if low == high {
            return word(low) & from & to != 0;
        }
        let between = self.0.get(low + 1..high).unwrap_or_default();
        word(low) & from != 0 || word(high) & to != 0 || between.iter().any(|word| *word != 0)
    }

    #[inline]
    pub(in crate::text) fn insert(&mut self, at: u32) {
        if let Some(word) = self.0.get_mut(at as usize / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// Adds the documents of another set.
    pub(in crate::text) fn unite(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    /// Returns the documents in order.
    pub(in crate::text) fn iter(&self) -> impl Iterator<Item = u32> + use<> {
        let words = (0_u32..).zip(self.0);
        words.flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.checked_sub(1)?;
                Some(word * u64::BITS + bit)
            })
        })
    }
}

/// The number of documents that are scored together.
pub(in crate::text) const BLOCK_LEN: u32 = WINDOW_LEN;

const BLOCK_WORDS: usize = BLOCK_LEN as usize / 64;

/// The blocks that are kept: a mebibyte of them.
const SPARE_MAX: usize = 32;

//! A list of quantized vectors, in blocks that are never moved and are wiped when they are freed.

use std::fmt;

use zeroize::{Zeroize as _, Zeroizing};

use super::best::Best;
use super::dot::dot_quantized;
use super::unit::cosine;
use crate::ledger::EntryId;

/// Vectors with their rows, in no order.
///
/// A vector that grows by moving would leave copies of what it held in freed memory, so blocks have
/// a fixed capacity.
#[derive(Default)]
pub(super) struct List {
    dimensions: usize,
    blocks: Vec<Block>,
    rows: Vec<EntryId>,
}

/// The values of up to [`BLOCK_LEN`] vectors.
type Block = Zeroizing<Vec<i16>>;

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List({} vectors)", self.len())
    }
}

impl List {
    pub(super) const fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            blocks: Vec::new(),
            rows: Vec::new(),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a vector; returns its place.
    pub(super) fn push(&mut self, row: EntryId, vector: &[i16]) -> usize {
        let place = self.len();
        if place.is_multiple_of(BLOCK_LEN) {
            let capacity = BLOCK_LEN * self.dimensions;
            self.blocks
                .push(Zeroizing::new(Vec::with_capacity(capacity)));
        }
        if let Some(block) = self.blocks.last_mut() {
            block.extend_from_slice(vector);
            self.rows.push(row);
        }
        place
    }

    pub(super) fn get(&self, place: usize) -> Option<&[i16]> {
        let from = place % BLOCK_LEN * self.dimensions;
        let block = self.blocks.get(place / BLOCK_LEN)?;
        block.get(from..from + self.dimensions)
    }

    /// Replaces the vector at a place.
    pub(super) fn set(&mut self, place: usize, vector: &[i16]) {
        let from = place % BLOCK_LEN * self.dimensions;
        let block = self.blocks.get_mut(place / BLOCK_LEN);
        if let Some(slot) = block.and_then(|it| it.get_mut(from..from + self.dimensions)) {
            slot.copy_from_slice(vector);
        }
    }

    /// Removes the vector at a place, overwrites it and puts the last one there; returns the row of
    /// that one.
    pub(super) fn swap_remove(&mut self, place: usize) -> Option<EntryId> {
        let last = self.len().checked_sub(1)?;
        if place != last {
            let moved = Zeroizing::new(self.get(last)?.to_vec());
            self.set(place, &moved);
        }
        let kept = last % BLOCK_LEN * self.dimensions;
        if let Some(block) = self.blocks.last_mut() {
            block.get_mut(kept..)?.zeroize();
            block.truncate(kept);
        }
        if kept == 0 {
            self.blocks.pop();
        }
        self.rows.swap_remove(place);
        self.rows.get(place).copied()
    }

    /// Compares all vectors with `vector`; returns also how many were compared. With `accepts` the
    /// others are passed over.
    pub(super) fn compare(
        &self,
        vector: &[i16],
        limit: usize,
        accepts: Option<&(dyn Fn(EntryId) -> bool + Sync)>,
    ) -> (Best, usize) {
        let mut best = Best::new(limit);
        let mut compared = 0;
        for (rows, block) in self.rows.chunks(BLOCK_LEN).zip(&self.blocks) {
            for (row, other) in rows.iter().zip(block.chunks_exact(self.dimensions)) {
                if accepts.is_none_or(|accepts| accepts(*row)) {
                    compared += 1;
                    best.offer(*row, cosine(dot_quantized(vector, other)), &|_| true);
                }
            }
        }
        (best, compared)
    }

    /// Returns the parts of the list one by one, each freed before the next.
    pub(super) fn into_parts(self) -> impl Iterator<Item = Self> {
        let dimensions = self.dimensions;
        let mut rows = self.rows.into_iter();
        self.blocks.into_iter().map(move |block| Self {
            dimensions,
            rows: rows.by_ref().take(BLOCK_LEN).collect(),
            blocks: vec![block],
        })
    }

    pub(super) fn rows(&self) -> &[EntryId] {
        &self.rows
    }
}

/// The number of vectors in a block.
const BLOCK_LEN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_keeps_the_others_and_no_block_ever_moves() {
        let mut list = List::new(2);
        let vector = |n: u64| [1_000 + i16::try_from(n).unwrap(); 2];
        for n in 0..200 {
            list.push(EntryId::new(n), &vector(n));
        }
        let starts: Vec<*const i16> = list.blocks.iter().map(|block| block.as_ptr()).collect();
        let mut left: Vec<u64> = (0..200).collect();
        for place in [199, 0, 64, 100, 5, 5, 5] {
            list.swap_remove(place);
            left.swap_remove(place);
            assert_eq!(list.len(), left.len());
        }
        for (at, n) in left.iter().enumerate() {
            assert_eq!(list.get(at), Some(&vector(*n)[..]));
        }
        assert_eq!(list.get(left.len()), None);
        let now: Vec<*const i16> = list.blocks.iter().map(|block| block.as_ptr()).collect();
        assert_eq!(now, starts);
        while list.len() > 0 {
            list.swap_remove(0);
        }
        assert!(list.blocks.is_empty() && list.swap_remove(0).is_none());
    }
}

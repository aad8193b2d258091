//! The nearest rows so far, and their order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::ledger::EntryId;

/// A row, and how near its vector is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The row.
    pub row: EntryId,
    /// The cosine of the angle between the vectors, from -1 to 1.
    pub cosine: f32,
}

/// The nearest rows so far, the farthest of them on top.
pub(super) struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::new(),
        }
    }

    pub(super) fn offer(
        &mut self,
        row: EntryId,
        cosine: f32,
        accepts: &(dyn Fn(EntryId) -> bool + Sync),
    ) {
        let ranked = Ranked(Near { row, cosine });
        let is_full = self.heap.len() >= self.limit;
        let beats = !is_full || self.heap.peek().is_some_and(|worst| ranked > worst.0);
        // Asked last: of very many rows only a few come so far.
        if beats && accepts(row) {
            if is_full {
                self.heap.pop();
            }
            self.heap.push(Reverse(ranked));
        }
    }

    pub(super) fn with(mut self, other: Self) -> Self {
        for Reverse(Ranked(near)) in other.heap {
            self.offer(near.row, near.cosine, &|_| true);
        }
        self
    }

    pub(super) fn in_order(self) -> Vec<Near> {
        let mut ranked = self.heap.into_vec();
        // The best are the least of what is reversed.
        ranked.sort_unstable();
        ranked
            .into_iter()
            .map(|Reverse(Ranked(near))| near)
            .collect()
    }
}

/// Ordered by nearness; of equals, the lower row is the greater.
#[derive(Debug, PartialEq)]
struct Ranked(Near);

impl Eq for Ranked {}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_cosine = self.0.cosine.total_cmp(&other.0.cosine);
        by_cosine.then(other.0.row.cmp(&self.0.row))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

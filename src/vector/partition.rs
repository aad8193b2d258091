//! A partition of the sphere into cells by k-means, in two levels, so that near vectors share a cell.
//!
//! It is a function of the sample alone: the sample has an order, sums are of integers, and nothing
//! is drawn at random.

use std::cmp::Reverse;
use std::fmt;

use zeroize::Zeroizing;

use crate::process::map_in_parallel;

use super::dot::dot_quantized;
use super::unit::direction;

/// Centres of cells, grouped into branches.
pub(super) struct Partition {
    branches: Centroids,
    /// The number of the first cell of each branch.
    firsts: Vec<usize>,
    cells: Centroids,
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partition({} cells)", self.len())
    }
}

impl Partition {
    /// Computes the cells from a sample, whose order counts; `None` if it is too small for several.
    pub(super) fn of(dimensions: usize, sample: &[&[i16]]) -> Option<Self> {
        let count = (sample.len() / MEMBERS).isqrt();
        if count < 2 {
            return None;
        }
        let branches = Centroids::of(dimensions, sample, count);
        let nearest = branches.nearest_of_each(sample);
        let mut firsts = Vec::with_capacity(count);
        let mut cells = Centroids::new(dimensions);
        for branch in 0..count {
            firsts.push(cells.len());
            let members = sample.iter().zip(&nearest);
            let members = members.filter(|(_, nearest)| **nearest == branch);
            let members: Vec<&[i16]> = members.map(|(vector, _)| *vector).collect();
            let found = Centroids::of(dimensions, &members, (members.len() / MEMBERS).max(1));
            cells.values.extend_from_slice(&found.values);
        }
        Some(Self {
            branches,
            firsts,
            cells,
        })
    }

    /// Returns the number of cells.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns the cell of a vector: the nearest of the cells of the two nearest branches.
    pub(super) fn cell_of(&self, vector: &[i16]) -> usize {
        let dots = self.branches.dots(vector).enumerate();
        let mut branches: Vec<(usize, i32)> = dots.collect();
        branches.sort_unstable_by_key(|(branch, dot)| (Reverse(*dot), *branch));
        let cells = branches.iter().take(BRANCHES_SEEN).flat_map(|(branch, _)| {
            let end = self.firsts.get(branch + 1).copied();
            let first = self.firsts.get(*branch).copied();
            first.unwrap_or_default()..end.unwrap_or(self.len())
        });
        let near = cells.filter_map(|cell| {
            let dot = dot_quantized(vector, self.cells.get(cell)?);
            Some((Reverse(dot), cell))
        });
        near.min().map_or(0, |(_, cell)| cell)
    }

    /// Returns all cells, the nearest to a vector first.
    pub(super) fn in_order(&self, vector: &[i16]) -> Vec<usize> {
        let dots = self.cells.dots(vector).enumerate();
        let mut cells: Vec<(Reverse<i32>, usize)> =
            dots.map(|(cell, dot)| (Reverse(dot), cell)).collect();
        cells.sort_unstable();
        cells.into_iter().map(|(_, cell)| cell).collect()
    }
}

/// Centres, side by side. One may equal a vector of the sample, so they are wiped when they are
/// freed.
struct Centroids {
    dimensions: usize,
    values: Zeroizing<Vec<i16>>,
}

impl Centroids {
    fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            values: Zeroizing::default(),
        }
    }

    /// Computes `count` centres by rounds of k-means, which begin with the first of the sample.
    fn of(dimensions: usize, sample: &[&[i16]], count: usize) -> Self {
        let mut values = Vec::with_capacity(count * dimensions);
        let first = sample.iter().take(count);
        first.for_each(|vector| values.extend_from_slice(vector));
        let mut centroids = Self {
            dimensions,
            values: Zeroizing::new(values),
        };
        for _ in 0..ROUNDS {
            let nearest = centroids.nearest_of_each(sample);
            let mut sums = Zeroizing::new(vec![0_i64; centroids.values.len()]);
            for (vector, nearest) in sample.iter().zip(&nearest) {
                let sum = sums.iter_mut().skip(nearest * dimensions);
                for (sum, value) in sum.zip(*vector) {
                    *sum += i64::from(*value);
                }
            }
            let slots = centroids.values.chunks_exact_mut(dimensions);
            for (slot, sum) in slots.zip(sums.chunks_exact(dimensions)) {
                // One without members stays where it is.
                if let Some(centre) = direction(sum) {
                    slot.copy_from_slice(&centre);
                }
            }
        }
        centroids
    }

    fn len(&self) -> usize {
        self.values.len() / self.dimensions
    }

    fn get(&self, place: usize) -> Option<&[i16]> {
        let from = place * self.dimensions;
        self.values.get(from..from + self.dimensions)
    }

    fn dots(&self, vector: &[i16]) -> impl Iterator<Item = i32> {
        let centroids = self.values.chunks_exact(self.dimensions);
        centroids.map(move |centroid| dot_quantized(vector, centroid))
    }

    fn nearest_of_each(&self, vectors: &[&[i16]]) -> Vec<usize> {
        let nearest = |vector: &&[i16]| self.nearest(vector);
        map_in_parallel(vectors, nearest)
    }

    /// Returns the nearest centre; of equally near ones the first.
    fn nearest(&self, vector: &[i16]) -> usize {
        let dots = self.dots(vector).enumerate();
        let nearest = dots.min_by_key(|(place, dot)| (Reverse(*dot), *place));
        nearest.map_or(0, |(place, _)| place)
    }
}

/// The number of vectors of the sample in a cell, about.
const MEMBERS: usize = 32;

const ROUNDS: usize = 8;

/// The number of branches whose cells are compared for the cell of a vector.
const BRANCHES_SEEN: usize = 2;

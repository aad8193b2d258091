//! The vectors of one model in one block of memory, and their search in full.

use std::collections::HashMap;

use zeroize::Zeroizing;

use super::best::{Best, Near};
use super::dot::dot;
use super::unit::unit;
use crate::ledger::EntryId;
use crate::process::in_parallel;
use crate::process::parallel::*;

/// The vectors of one model, one for a row, side by side and each of length 1.
///
/// ```
/// use grainstore::ledger::EntryId;
/// use grainstore::vector::Matrix;
///
/// let mut matrix = Matrix::new(2);
/// matrix.set(EntryId::new(7), &[1.0, 0.0]);
/// matrix.set(EntryId::new(9), &[0.0, 3.0]);
/// let near = matrix.nearest(&[1.0, 2.0], 1, &|_| true);
/// assert_eq!(near[0].row, EntryId::new(9));
/// ```
#[derive(Debug)]
pub struct Matrix {
    dimensions: usize,
    values: Vec<f32>,
    rows: Vec<EntryId>,
    places: HashMap<EntryId, usize>,
}

impl Matrix {
    /// Makes an empty matrix for vectors with this many numbers.
    pub fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            values: Vec::new(),
            rows: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Returns how many numbers its vectors have.
    pub const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns how many vectors there are.
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the vector of a row, of length 1.
    pub fn get(&self, row: EntryId) -> Option<&[f32]> {
        self.at(*self.places.get(&row)?)
    }

    /// Sets the vector of a row, in place of what it had. One that has no direction, or not as
    /// many numbers as the others, is passed over; returns whether it was taken.
    pub fn set(&mut self, row: EntryId, vector: &[f32]) -> bool {
        let Some(unit) = unit(vector).filter(|unit| unit.len() == self.dimensions) else {
            return false;
        };
        let place = self.places.get(&row).copied();
        match place.and_then(|place| self.slot(place)) {
            Some(slot) => slot.copy_from_slice(&unit),
            None => {
                self.places.insert(row, self.rows.len());
                self.rows.push(row);
                self.values.extend_from_slice(&unit);
            }
        }
        true
    }

    /// Forgets a row.
    pub fn remove(&mut self, row: EntryId) {
        let Some(place) = self.places.remove(&row) else {
            return;
        };
        // The last takes its place.
        let last = self.rows.len().saturating_sub(1);
        let moved = Zeroizing::new(self.at(last).unwrap_or_default().to_vec());
        if let Some(slot) = self.slot(place) {
            slot.copy_from_slice(&moved);
        }
        self.rows.swap_remove(place);
        if let Some(row) = self.rows.get(place) {
            self.places.insert(*row, place);
        }
        // Overwritten, so that what is forgotten does not stay behind the end.
        self.values
            .iter_mut()
            .skip(last * self.dimensions)
            .for_each(|value| *value = 0.0);
        self.values.truncate(last * self.dimensions);
    }

    /// Returns the `limit` rows nearest to a vector of those that are accepted, nearest first; of
    /// equally near ones the lower row first. All are compared: nothing is missed.
    pub fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
        accepts: &(dyn Fn(EntryId) -> bool + Sync),
    ) -> Vec<Near> {
        let Some(unit) = unit(vector).filter(|unit| unit.len() == self.dimensions) else {
            return Vec::new();
        };
        let nearest = |(part, rows): (usize, &[EntryId])| {
            let mut best = Best::new(limit);
            for (n, row) in rows.iter().enumerate() {
                let Some(other) = self.at(part * PART + n) else {
                    continue;
                };
                best.offer(*row, dot(&unit, other), accepts);
            }
            best
        };
        let none = || Best::new(limit);
        let best = in_parallel(|| {
            let parts = self.rows.par_chunks(PART).enumerate();
            parts.map(nearest).reduce(none, Best::with)
        });
        best.in_order()
    }

    /// Returns how near some rows are to a vector: for so few that the rest is not worth a look.
    pub fn nearest_of(
        &self,
        vector: &[f32],
        limit: usize,
        rows: impl IntoIterator<Item = EntryId>,
    ) -> Vec<Near> {
        let Some(unit) = unit(vector).filter(|unit| unit.len() == self.dimensions) else {
            return Vec::new();
        };
        let mut best = Best::new(limit);
        for row in rows {
            if let Some(other) = self.get(row) {
                best.offer(row, dot(&unit, other), &|_| true);
            }
        }
        best.in_order()
    }

    /// Returns the cosine of each row and a vector; `None` of a row without a vector, and of all if
    /// the vector has no direction or another length.
    pub fn cosines(&self, vector: &[f32], rows: &[EntryId]) -> Vec<Option<f32>> {
        let unit = unit(vector).filter(|unit| unit.len() == self.dimensions);
        let cosine = |row: &EntryId| Some(dot(unit.as_ref()?, self.get(*row)?));
        rows.iter().map(cosine).collect()
    }

    /// Returns the rows, each with its vector, and forgets them.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (EntryId, Zeroizing<Vec<f32>>)> {
        let values = Zeroizing::new(std::mem::take(&mut self.values));
        let dimensions = self.dimensions;
        self.places.clear();
        let rows = std::mem::take(&mut self.rows).into_iter().enumerate();
        rows.filter_map(move |(place, row)| {
            let from = place * dimensions;
            let vector = values.get(from..from + dimensions)?;
            Some((row, Zeroizing::new(vector.to_vec())))
        })
    }

    fn at(&self, place: usize) -> Option<&[f32]> {
        let from = place * self.dimensions;
        self.values.get(from..from + self.dimensions)
    }

    fn slot(&mut self, place: usize) -> Option<&mut [f32]> {
        let from = place * self.dimensions;
        self.values.get_mut(from..from + self.dimensions)
    }
}

/// Vectors that one thread compares at a time.
const PART: usize = 4_096;

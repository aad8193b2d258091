//! Many vectors of one model, quantized to 16 bits, in a list for each cell of a partition.

use std::collections::HashMap;

use super::best::{Best, Near};
use super::dot::dot_quantized;
use super::list::List;
use super::partition::Partition;
use super::unit::{cosine, restored};
use super::vector_index::Thresholds;
use crate::index::RowSet;
use crate::ledger::EntryId;
use crate::process::in_parallel;
use crate::process::parallel::*;

/// Vectors in lists: one for each cell, or a single one without a partition.
#[derive(Debug)]
pub(super) struct Lists {
    lists: Vec<List>,
    places: HashMap<EntryId, Place>,
    partition: Option<Partition>,
    dimensions: usize,
    thresholds: Thresholds,
}

/// The place of a vector, in half of the space of two `usize`.
#[derive(Debug, Clone, Copy)]
struct Place {
    list: u32,
    at: u32,
}

impl Place {
    fn new(list: usize, at: usize) -> Self {
        let [list, at] = [list, at].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        Self { list, at }
    }

    fn indices(self) -> [usize; 2] {
        [self.list, self.at].map(|it| usize::try_from(it).unwrap_or(usize::MAX))
    }
}

impl Lists {
    pub(super) fn new(dimensions: usize, thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            lists: vec![List::new(dimensions)],
            places: HashMap::new(),
            partition: None,
            dimensions,
        }
    }

    pub(super) const fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn get(&self, row: EntryId) -> Option<&[i16]> {
        let [list, at] = self.places.get(&row)?.indices();
        self.lists.get(list)?.get(at)
    }

    /// Returns the vector of a row as numbers.
    pub(super) fn restored(&self, row: EntryId) -> Option<Vec<f32>> {
        self.get(row).map(restored)
    }

    /// Sets the vector of a row.
    pub(super) fn set(&mut self, row: EntryId, vector: &[i16]) {
        self.remove(row);
        let cell = |partition: &Partition| partition.cell_of(vector);
        let number = self.partition.as_ref().map_or(0, cell);
        if let Some(list) = self.lists.get_mut(number) {
            let at = list.push(row, vector);
            self.places.insert(row, Place::new(number, at));
        }
    }

    /// Removes a row, and overwrites its vector.
    pub(super) fn remove(&mut self, row: EntryId) {
        let Some(place) = self.places.remove(&row) else {
            return;
        };
        let [list, at] = place.indices();
        let moved = self
            .lists
            .get_mut(list)
            .and_then(|list| list.swap_remove(at));
        if let Some(moved) = moved {
            self.places.insert(moved, place);
        }
    }

    /// Forgets the partition: until there is another, every vector is compared.
    pub(super) fn forget_partition(&mut self) {
        self.partition = None;
    }

    /// Computes the partition from the vectors of some rows, whose order counts.
    pub(super) fn partition_by(&mut self, sample: &[EntryId]) {
        let sample: Vec<&[i16]> = sample.iter().filter_map(|row| self.get(*row)).collect();
        self.partition = Partition::of(self.dimensions, &sample);
        if self.partition.is_some() {
            self.distribute();
        }
    }

    /// Puts every vector into the list of its cell.
    fn distribute(&mut self) {
        let partition = self.partition.as_ref();
        let count = partition.map_or(1, Partition::len);
        let mut lists: Vec<List> = (0..count).map(|_| List::new(self.dimensions)).collect();
        // Block by block, so that all of them are never there twice.
        for part in std::mem::take(&mut self.lists)
            .into_iter()
            .flat_map(List::into_parts)
        {
            let of_vector = |at: usize| {
                let vector = part.get(at).unwrap_or_default();
                partition.map_or(0, |partition| partition.cell_of(vector))
            };
            let cells: Vec<usize> =
                in_parallel(|| (0..part.len()).into_par_iter().map(of_vector).collect());
            for (from, (row, cell)) in part.rows().iter().zip(cells).enumerate() {
                if let (Some(list), Some(vector)) = (lists.get_mut(cell), part.get(from)) {
                    let at = list.push(*row, vector);
                    self.places.insert(*row, Place::new(cell, at));
                }
            }
        }
        self.lists = lists;
    }

    /// Returns the `limit` rows nearest to a vector, of `rows`, which all have one.
    ///
    /// Few rows are all compared. Of many the lists of the nearest cells are read until a share of
    /// the rows is compared. Rows that are passed over do not count, so a filter makes the search
    /// read more lists and not find less.
    pub(super) fn nearest(&self, vector: &[i16], limit: usize, rows: &RowSet) -> Vec<Near> {
        let total = usize::try_from(rows.len()).unwrap_or(usize::MAX);
        if total <= self.thresholds.all_compared {
            return self.nearest_of(vector, limit, rows);
        }
        let is_all = total == self.len();
        let accepts = |row: EntryId| rows.contains(row);
        let accepts: Option<&(dyn Fn(EntryId) -> bool + Sync)> = match is_all {
            true => None,
            false => Some(&accepts),
        };
        let cells = match &self.partition {
            Some(partition) => partition.in_order(vector),
            None => (0..self.lists.len()).collect(),
        };
        let mut lists = cells.iter().filter_map(|cell| self.lists.get(*cell));
        let enough = match self.partition {
            Some(_) => self.compared(total, limit),
            None => total,
        };
        let mut best = Best::new(limit);
        let mut seen = 0;
        while seen < enough {
            let mut next: Vec<&List> = Vec::new();
            let mut held = 0;
            while held < enough - seen
                && let Some(list) = lists.next()
            {
                held += list.len();
                next.push(list);
            }
            if next.is_empty() {
                break;
            }
            let compare = |list: &&List| list.compare(vector, limit, accepts);
            let none = || (Best::new(limit), 0);
            let both = |a: (Best, usize), b: (Best, usize)| (a.0.with(b.0), a.1 + b.1);
            let (found, count) = in_parallel(|| next.par_iter().map(compare).reduce(none, both));
            best = best.with(found);
            seen += count;
        }
        best.in_order()
    }

    /// Returns how many rows of `total` are compared for the `limit` nearest.
    fn compared(&self, total: usize, limit: usize) -> usize {
        let least = self
            .thresholds
            .compared_min
            .max(limit.saturating_mul(PER_RESULT));
        (total / SHARE).max(least)
    }

    /// Returns the `limit` nearest of some rows: all are compared.
    fn nearest_of(&self, vector: &[i16], limit: usize, rows: &RowSet) -> Vec<Near> {
        let rows: Vec<EntryId> = rows.iter().collect();
        let nearest = |rows: &[EntryId]| {
            let mut best = Best::new(limit);
            for row in rows {
                if let Some(other) = self.get(*row) {
                    best.offer(*row, cosine(dot_quantized(vector, other)), &|_| true);
                }
            }
            best
        };
        let none = || Best::new(limit);
        let parts = || rows.par_chunks(PART).map(nearest).reduce(none, Best::with);
        in_parallel(parts).in_order()
    }
}

/// One in so many vectors is compared.
const SHARE: usize = 25;

/// The least number of vectors that are compared for one result.
const PER_RESULT: usize = 64;

/// Rows that one thread compares at a time.
const PART: usize = 1_024;

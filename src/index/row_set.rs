//! A compressed bitmap of rows, for set operations over any number of them.
//!
//! For a few rows that are only listed, use `Rows`.

use std::ops::RangeFrom;

use roaring::RoaringTreemap;

/// A set of rows as a compressed bitmap: the type in which filters are evaluated.
///
/// ```
/// use grainstore::index::RowSet;
///
/// let mut rows: RowSet = (0..1_000_000).collect();
/// rows.intersect(&[7, 3, 2_000_000].into_iter().collect());
/// rows.subtract(&[3].into_iter().collect());
/// assert!(rows.iter().eq([7]));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowSet(pub(super) RoaringTreemap);

impl RowSet {
    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a row is among them.
    pub fn contains(&self, row: u64) -> bool {
        self.0.contains(row)
    }

    /// Returns the rows, lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.0.iter()
    }

    /// Returns the rows from a row on, lowest first.
    pub fn iter_from(&self, row: u64) -> impl Iterator<Item = u64> {
        let mut rows = self.0.iter();
        rows.advance_to(row);
        rows
    }

    /// Returns the rows before a row, highest first.
    pub fn iter_before(&self, row: u64) -> impl Iterator<Item = u64> {
        let mut rows = self.0.iter();
        rows.advance_back_to(row);
        rows.rev().skip_while(move |at| *at >= row)
    }

    /// Adds a row.
    pub fn insert(&mut self, row: u64) {
        self.0.insert(row);
    }

    /// Removes a row.
    pub fn remove(&mut self, row: u64) {
        self.0.remove(row);
    }

    /// Keeps the rows that are also in `other`.
    pub fn intersect(&mut self, other: &Self) {
        self.0 &= &other.0;
    }

    /// Removes the rows of `other`.
    pub fn subtract(&mut self, other: &Self) {
        self.0 -= &other.0;
    }

    /// Adds the rows of `other`.
    pub fn unite(&mut self, other: &Self) {
        self.0 |= &other.0;
    }

    /// Keeps the rows for which `keeps` holds.
    pub fn retain(&mut self, keeps: impl FnMut(u64) -> bool) {
        self.0.retain(keeps);
    }

    pub(super) fn remove_from(&mut self, from: RangeFrom<u64>) {
        self.0.remove_range(from);
    }

    /// Makes a set of rows in any order.
    pub(super) fn of_unsorted(mut rows: Vec<u64>) -> Self {
        if !rows.is_sorted_by(|a, b| a < b) {
            rows.sort_unstable();
            rows.dedup();
        }
        let appended = RoaringTreemap::from_sorted_iter(rows.iter().copied());
        Self(appended.unwrap_or_else(|_| rows.into_iter().collect()))
    }
}

impl FromIterator<u64> for RowSet {
    fn from_iter<I: IntoIterator<Item = u64>>(rows: I) -> Self {
        Self(rows.into_iter().collect())
    }
}

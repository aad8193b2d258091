//! A compressed bitmap of rows, for set operations over any number of them.
//!
//! For a few rows that are only listed, use `Rows`.

use std::ops::RangeFrom;

use roaring::RoaringTreemap;

use crate::ledger::EntryId;

/// A set of rows as a compressed bitmap: the type in which filters are evaluated.
///
/// ```
/// use grainstore::index::RowSet;
/// use grainstore::ledger::EntryId;
///
/// let mut rows: RowSet = (0..1_000_000).map(EntryId::new).collect();
/// rows.intersect(&[7, 3, 2_000_000].map(EntryId::new).into_iter().collect());
/// rows.subtract(&[EntryId::new(3)].into_iter().collect());
/// assert!(rows.iter().eq([EntryId::new(7)]));
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
    pub fn contains(&self, row: EntryId) -> bool {
        self.0.contains(row.get())
    }

    /// Returns whether a row is among them, whenever it is asked: for a search, which asks of thousands.
    #[cfg(feature = "text")]
    pub(crate) fn membership(&self) -> impl Fn(EntryId) -> bool + Sync + '_ {
        // Of a ledger of fewer than 2^32 entries all rows are in one bitmap.
        let first = self.0.bitmaps().next();
        move |row| {
            let row = row.get();
            match (first, u32::try_from(row)) {
                (Some((0, bitmap)), Ok(row)) => bitmap.contains(row),
                _ => self.0.contains(row),
            }
        }
    }

    /// Returns the rows, lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = EntryId> {
        self.0.iter().map(EntryId::new)
    }

    /// Returns the rows from a row on, lowest first.
    pub fn iter_from(&self, row: EntryId) -> impl Iterator<Item = EntryId> {
        let mut rows = self.0.iter();
        rows.advance_to(row.get());
        rows.map(EntryId::new)
    }

    /// Returns the rows before a row, highest first.
    pub fn iter_before(&self, row: EntryId) -> impl Iterator<Item = EntryId> {
        let mut rows = self.0.iter();
        rows.advance_back_to(row.get());
        let rows = rows.rev().map(EntryId::new);
        rows.skip_while(move |at| *at >= row)
    }

    /// Adds a row.
    pub fn insert(&mut self, row: EntryId) {
        self.0.insert(row.get());
    }

    /// Removes a row.
    pub fn remove(&mut self, row: EntryId) {
        self.0.remove(row.get());
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
    pub fn retain(&mut self, mut keeps: impl FnMut(EntryId) -> bool) {
        self.0.retain(|row| keeps(EntryId::new(row)));
    }

    pub(super) fn remove_from(&mut self, from: RangeFrom<u64>) {
        if self.0.max().is_some_and(|last| last >= from.start) {
            self.0.remove_range(from);
        }
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

impl FromIterator<EntryId> for RowSet {
    fn from_iter<I: IntoIterator<Item = EntryId>>(rows: I) -> Self {
        Self(rows.into_iter().map(EntryId::get).collect())
    }
}

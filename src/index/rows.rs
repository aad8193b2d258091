//! A sorted list of few rows.
//!
//! For sets of any size, use `RowSet`.

use crate::ledger::EntryId;

/// Rows, each once, lowest first.
///
/// ```
/// use grainstore::index::Rows;
/// use grainstore::ledger::EntryId;
///
/// let mut rows: Rows = [7, 3, 7].map(EntryId::new).into_iter().collect();
/// assert!(rows.iter().eq([3, 7].map(EntryId::new)));
/// rows.intersect(&[7, 9].map(EntryId::new).into_iter().collect());
/// assert!(rows.contains(EntryId::new(7)) && rows.len() == 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows(Vec<EntryId>);

impl Rows {
    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a row is among them.
    pub fn contains(&self, row: EntryId) -> bool {
        self.0.binary_search(&row).is_ok()
    }

    /// Returns the rows, lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = EntryId> {
        self.0.iter().copied()
    }

    /// Keeps the rows that are also in `other`.
    pub fn intersect(&mut self, other: &Self) {
        let (short, long) = if self.0.len() <= other.0.len() {
            (&self.0, &other.0)
        } else {
            (&other.0, &self.0)
        };
        let mut both = Vec::with_capacity(short.len());
        let mut rest = long.as_slice();
        for row in short {
            // Galloping search: the cost must grow with the shorter list only.
            let mut step = 1;
            while rest.get(step).is_some_and(|at| at < row) {
                step *= 2;
            }
            let near = rest.get(..rest.len().min(step + 1)).unwrap_or_default();
            rest = rest.split_at(near.partition_point(|at| at < row)).1;
            if rest.first() == Some(row) {
                both.push(*row);
            }
        }
        self.0 = both;
    }
}

impl From<Vec<EntryId>> for Rows {
    fn from(mut rows: Vec<EntryId>) -> Self {
        if !rows.is_sorted_by(|a, b| a < b) {
            rows.sort_unstable();
            rows.dedup();
        }
        Self(rows)
    }
}

impl FromIterator<EntryId> for Rows {
    fn from_iter<I: IntoIterator<Item = EntryId>>(rows: I) -> Self {
        Self::from(rows.into_iter().collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{EntryId, Rows};

    #[test]
    fn rows_intersect_as_sets_do() {
        for (a, b) in [(1, 1), (2, 3), (97, 2), (3, 1000), (5, 5)] {
            let row = |n| EntryId::new(n);
            let left: BTreeSet<_> = (0..500).map(|n| row(n * a % 1_009)).collect();
            let right: BTreeSet<_> = (0..500).map(|n| row(n * b % 1_009)).collect();
            let mut rows: Rows = left.iter().copied().collect();
            rows.intersect(&right.iter().copied().collect());
            assert!(rows.iter().eq(left.intersection(&right).copied()));
        }
    }
}

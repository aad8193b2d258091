//! Scans: the rows of one query term, as an iterator, a list or a set.
//!
//! Nothing is read before it is needed.

use super::key_range::{Estimate, KeyRange};
use crate::index::key::encoding::{Single, Triple};
use crate::index::{Error, RowSet, Rows};
use crate::ledger::EntryId;

/// The rows of a query term: one by one, or all in order.
///
/// ```
/// # use std::sync::Arc;
/// # use grainstore::grain::{Draft, Time};
/// # use grainstore::index::{Batch, Index, IndexOptions, Pattern, TermKey};
/// # use grainstore::ledger::{Disk, EntryId, MemoryDisk, StoreId};
/// # let terms = TermKey::new([7; 16]);
/// # let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
/// # let (index, _) = Index::open(&disk, StoreId::new([7; 16]), terms, IndexOptions::default());
/// let mut batch = index.batch();
/// for row in (0..9).map(EntryId::new) {
///     let draft = Draft::belief("user", "likes", format!("tea {row}")).confidence(0.5);
///     batch.grain(row, &draft.created_at(Time::from_ms(0)).finish(Default::default())?, 0);
/// }
/// index.publish(batch, 9);
/// let snapshot = index.snapshot();
/// let pattern = Pattern { subject: Some("user"), ..Pattern::default() };
/// assert_eq!(snapshot.triples(&pattern).take(3).count(), 3);
/// assert_eq!(snapshot.triples(&pattern).rows()?.len(), 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// As an iterator it returns a row for each key: first of the runs and then of the memtables, in
/// order within each. Nothing is read before it is needed.
#[derive(Debug)]
pub struct Scan<'a>(Kind<'a>);

#[derive(Debug)]
enum Kind<'a> {
    Single(KeyRange<'a, Single>),
    Triple(KeyRange<'a, Triple>),
}

impl<'a> Scan<'a> {
    pub(super) const fn singles(range: KeyRange<'a, Single>) -> Self {
        Self(Kind::Single(range))
    }

    pub(super) const fn triples(range: KeyRange<'a, Triple>) -> Self {
        Self(Kind::Triple(range))
    }

    /// Returns all rows, lowest first.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn rows(self) -> Result<Rows, Error> {
        match self.0 {
            Kind::Single(range) => range.rows(),
            Kind::Triple(range) => range.rows(),
        }
    }
}

impl Scan<'_> {
    /// Returns all rows as a set; large results are cached.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn set(self) -> Result<RowSet, Error> {
        match self.0 {
            Kind::Single(range) => range.set(),
            Kind::Triple(range) => range.set(),
        }
    }

    /// Returns the intersection with `rows`, without copying cached results.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn among(self, rows: &RowSet) -> Result<RowSet, Error> {
        match self.0 {
            Kind::Single(range) => range.among(rows),
            Kind::Triple(range) => range.among(rows),
        }
    }

    /// Allows the result to be cached although it is of a range, for a range that recurs.
    #[must_use]
    pub const fn cacheable(mut self) -> Self {
        match &mut self.0 {
            Kind::Single(range) => range.is_cacheable = true,
            Kind::Triple(range) => range.is_cacheable = true,
        }
        self
    }

    /// Returns an estimate of the number of rows: exact if they are few or cached, else from the
    /// number of blocks.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub(crate) fn estimate(&self) -> Result<Estimate, Error> {
        match &self.0 {
            Kind::Single(range) => range.estimate(),
            Kind::Triple(range) => range.estimate(),
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<EntryId, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Kind::Single(range) => range.next_row().transpose(),
            Kind::Triple(range) => range.next_row().transpose(),
        }
    }
}

//! Scans: the rows of one query term, as an iterator, a list or a set.
//!
//! Nothing is read before it is needed.

use super::key_range::{Estimate, KeyRange};
use crate::index::key::encoding::{Pair, Single};
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
    Pair(KeyRange<'a, Pair>),
    Statement(Box<Statement<'a>>),
}

/// A statement all of whose parts are bound: what lies in two of its ranges lies in the third, for a row
/// has one statement.
#[derive(Debug)]
struct Statement<'a> {
    ranges: [KeyRange<'a, Pair>; 3],
    /// The rows that were not returned, once they were found.
    found: Option<std::vec::IntoIter<EntryId>>,
}

impl<'a> Scan<'a> {
    pub(super) const fn singles(range: KeyRange<'a, Single>) -> Self {
        Self(Kind::Single(range))
    }

    pub(super) const fn pairs(range: KeyRange<'a, Pair>) -> Self {
        Self(Kind::Pair(range))
    }

    pub(super) fn statement(ranges: [KeyRange<'a, Pair>; 3]) -> Self {
        Self(Kind::Statement(Box::new(Statement {
            ranges,
            found: None,
        })))
    }

    /// Returns all rows, lowest first.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn rows(self) -> Result<Rows, Error> {
        match self.0 {
            Kind::Single(range) => range.rows(),
            Kind::Pair(range) => range.rows(),
            Kind::Statement(statement) => Ok(statement.rows()?.iter().collect()),
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
            Kind::Pair(range) => range.set(),
            Kind::Statement(statement) => statement.rows(),
        }
    }

    /// Returns the intersection with `rows`, without copying cached results.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn among(self, rows: &RowSet) -> Result<RowSet, Error> {
        match self.0 {
            Kind::Single(range) => range.among(rows),
            Kind::Pair(range) => range.among(rows),
            Kind::Statement(statement) => {
                let [(_, one), (_, other)] = statement.narrowest()?;
                other.among(&one.among(rows)?)
            }
        }
    }

    /// Allows the result to be cached although it is of a range, for a range that recurs.
    #[must_use]
    pub const fn cacheable(mut self) -> Self {
        match &mut self.0 {
            Kind::Single(range) => range.is_cacheable = true,
            Kind::Pair(range) => range.is_cacheable = true,
            // Its ranges are of families whose results are cached.
            Kind::Statement(_) => {}
        }
        self
    }

    /// Returns an estimate of the number of rows: exact if they are few or cached, else from the
    /// number of blocks; of a whole statement that of the pair of its parts with the fewest.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub(crate) fn estimate(&self) -> Result<Estimate, Error> {
        match &self.0 {
            Kind::Single(range) => range.estimate(),
            Kind::Pair(range) => range.estimate(),
            Kind::Statement(statement) => {
                let [(estimate, _), _] = statement.narrowest()?;
                Ok(estimate)
            }
        }
    }
}

impl<'a> Statement<'a> {
    /// Returns the two ranges with the fewest rows, by their estimates.
    fn narrowest(&self) -> Result<[(Estimate, &KeyRange<'a, Pair>); 2], Error> {
        let [sp, po, os] = &self.ranges;
        let mut ordered = [
            (sp.estimate()?, sp),
            (po.estimate()?, po),
            (os.estimate()?, os),
        ];
        ordered.sort_by_key(|(estimate, _)| estimate.rows);
        let [one, other, _] = ordered;
        Ok([one, other])
    }

    fn rows(&self) -> Result<RowSet, Error> {
        let [(_, one), (_, other)] = self.narrowest()?;
        other.among(&one.set()?)
    }

    fn next(&mut self) -> Result<Option<EntryId>, Error> {
        if self.found.is_none() {
            // After an error the scan is over, as that of a range is.
            self.found = Some(Vec::new().into_iter());
            self.found = Some(self.rows()?.iter().collect::<Vec<_>>().into_iter());
        }
        Ok(self.found.as_mut().and_then(Iterator::next))
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<EntryId, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Kind::Single(range) => range.next_row().transpose(),
            Kind::Pair(range) => range.next_row().transpose(),
            Kind::Statement(statement) => statement.next().transpose(),
        }
    }
}

//! The result cache: rows and columns of runs that queries computed. A run never changes, so its
//! results never become stale.

use std::sync::{Arc, Weak};

use roaring::RoaringTreemap;

use super::version::Version;
use crate::index::row_set::RowSet;
use crate::index::run::cache::{CacheKey, CacheValue};

/// The key of a result: the run's number, the family, and the kind of result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::index) struct ResultKey {
    pub(in crate::index) run: u64,
    pub(in crate::index) family: u8,
    pub(in crate::index) what: ResultKind,
}

/// The kind of result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::index) enum ResultKind {
    /// The rows of the keys whose components lie between these.
    Rows([u64; 2], [u64; 2]),
    /// The component by row.
    Components,
}

/// A cached result.
#[derive(Debug)]
pub(in crate::index) enum CachedResult {
    Rows(RowSet),
    /// By row, counted from the run's first; 0 for a row without a key.
    Components(Vec<u64>),
}

impl CacheKey for ResultKey {
    fn spread(&self) -> u64 {
        self.run
    }
}

impl CacheValue for CachedResult {
    fn len_bytes(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.0.serialized_size() + ROWS_BESIDE,
            Self::Components(components) => components.len() * size_of::<u64>(),
        }
    }
}

/// The rows of the current grains of one version, found once for all questions about it.
#[derive(Debug)]
pub(in crate::index) struct CurrentRows {
    /// Weak, so that the files of its runs can be removed.
    of: Weak<Version>,
    /// The rows that were erased by then.
    less: Option<Arc<RoaringTreemap>>,
    rows: Arc<RowSet>,
}

impl CurrentRows {
    pub(in crate::index) fn new(
        of: &Arc<Version>,
        less: Option<Arc<RoaringTreemap>>,
        rows: Arc<RowSet>,
    ) -> Self {
        Self {
            of: Arc::downgrade(of),
            less,
            rows,
        }
    }

    /// Returns the rows if they are those of a version without some erased ones.
    pub(in crate::index) fn of(
        &self,
        version: &Arc<Version>,
        erased: Option<&Arc<RoaringTreemap>>,
    ) -> Option<Arc<RowSet>> {
        // While there is a weak reference, no other version takes its place in memory.
        let is_of = std::ptr::eq(self.of.as_ptr(), Arc::as_ptr(version));
        let is_less = self.less.as_ref().map(Arc::as_ptr) == erased.map(Arc::as_ptr);
        (is_of && is_less).then(|| Arc::clone(&self.rows))
    }
}

/// The bytes of a set beside its rows, and of its place in the cache.
const ROWS_BESIDE: usize = 256;

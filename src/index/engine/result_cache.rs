//! The result cache: rows and columns of runs that queries computed. A run never changes, so its
//! results never become stale.

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
    Rows([u64; 3], [u64; 3]),
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

/// The bytes of a set beside its rows, and of its place in the cache.
const ROWS_BESIDE: usize = 256;

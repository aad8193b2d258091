//! What questions work out about runs and ask for again: a run never changes, so neither do its
//! lists.

use crate::index::row_set::RowSet;
use crate::index::run::cache::{CacheKey, CacheValue};

/// The run's number, the family, and what is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::index) struct ResultKey {
    pub(in crate::index) run: u64,
    pub(in crate::index) family: u8,
    pub(in crate::index) what: ResultKind,
}

/// What is asked of a family of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::index) enum ResultKind {
    /// The rows of the keys whose components lie between these.
    Rows([u64; 3], [u64; 3]),
    /// The component by row.
    Components,
}

/// What was worked out.
#[derive(Debug)]
pub(in crate::index) enum CachedResult {
    Rows(RowSet),
    /// By row, counted from the run's first; 0 for none.
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
            Self::Rows(rows) => rows.0.serialized_size(),
            Self::Components(components) => components.len() * size_of::<u64>(),
        }
    }
}

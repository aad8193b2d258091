//! The errors of a sequence: it cannot be reached, or it refuses.

use std::fmt;

/// An error of a shared sequence.
///
/// ```
/// let error = grainstore_shared::Error::refused("no such table");
/// assert!(!error.is_unreachable());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The network or the server failed. After an append its outcome is unknown: the head tells it.
    #[error("the shared ledger cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The sequence answered, and did not do it.
    #[error("the shared ledger refuses: {0}")]
    Refused(String),
    /// No store is there under this name.
    #[error("there is no shared ledger of the name {0:?}")]
    Missing(String),
}

impl Error {
    /// Returns the error of a sequence that answered and did not do it.
    pub fn refused(reason: impl fmt::Display) -> Self {
        Self::Refused(reason.to_string())
    }

    /// Returns the error of a network or server that failed.
    pub fn unreachable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unreachable(source.into())
    }

    /// Returns whether the same may succeed later.
    pub const fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

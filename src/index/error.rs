//! The errors of the index.
//!
//! Damage is never the end of an index: it is derived, and can be built anew from the ledger.

use std::io;

use crate::code::ErrorCode;
use crate::ledger;

/// An error of the index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A run that is not as it was written. The index is derived: it can be built anew.
    #[error("index file {run:016}.run is damaged at byte {offset}: {reason}")]
    Damaged {
        /// The number of the run.
        run: u64,
        /// Where in its file.
        offset: u64,
        /// The fault.
        reason: &'static str,
    },
    /// A file operation that the system refused.
    #[error(transparent)]
    Disk(#[from] ledger::Error),
    /// The store was closed while runs were merged; nothing is lost.
    #[error("merging was interrupted")]
    Stopped,
}

impl Error {
    /// Returns the code that names the kind of error.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Damaged { .. } => ErrorCode::IndexDamaged,
            Self::Disk(source) => source.code(),
            Self::Stopped => ErrorCode::StorageHalted,
        }
    }

    /// Wraps the system's error about a file.
    pub(super) fn io(action: &'static str, name: &str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Disk(ledger::Error::io(action, name, source))
    }
}

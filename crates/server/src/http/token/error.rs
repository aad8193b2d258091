//! The error of the token file. It names the file and never what is in it.

use std::io;
use std::path::PathBuf;

use grainstore::ErrorCode;

/// A token file that cannot be used, or a grant that has no meaning.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a list of tokens.
    #[error("{}: not a list of tokens: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// Other users can read or write the file.
    #[error("{}: the token file is accessible to other users", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// A grant without a meaning.
    #[error("{0}")]
    Grant(&'static str),
    /// No randomness.
    #[error(transparent)]
    Random(#[from] grainstore::crypto::Error),
}

impl TokenError {
    /// Returns the code of the library that fits.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Io { .. } => ErrorCode::Io,
            Self::Malformed { .. } => ErrorCode::Corrupt,
            Self::Exposed { .. } => ErrorCode::Key,
            Self::Grant(_) => ErrorCode::Usage,
            Self::Random(_) => ErrorCode::NoRandomness,
        }
    }
}

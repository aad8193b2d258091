//! Errors of the query room, with their codes.
//!
//! Errors of the rooms below pass through with their own codes.

use crate::code::ErrorCode;
use crate::index;
use crate::store;

/// An error of a query, search or export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a cursor of this query.
    #[error("not a cursor of this store: {text}")]
    Cursor {
        /// The text.
        text: String,
    },
    /// A filter is invalid.
    #[error("{filter} {reason}")]
    Filter {
        /// The filter.
        filter: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// An error of the index.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// An error of the text view.
    #[cfg(feature = "text")]
    #[error(transparent)]
    Text(#[from] crate::text::Error),
    /// The file cannot be written in its format.
    #[cfg(feature = "interchange")]
    #[error(transparent)]
    Interchange(#[from] crate::interchange::Error),
}

impl Error {
    /// Returns the specification's code, or one of this crate where it has none.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Cursor { .. } => ErrorCode::Cursor,
            Self::Filter { .. } => ErrorCode::Filter,
            Self::Store(source) => source.code(),
            Self::Index(source) => source.code(),
            #[cfg(feature = "text")]
            Self::Text(source) => source.code(),
            #[cfg(feature = "interchange")]
            Self::Interchange(source) => source.code(),
        }
    }
}

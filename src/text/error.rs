//! Errors of the text room, with their codes.
//!
//! Damage of the index is not among them: it leads to a rebuild.

use crate::code::ErrorCode;

/// An error of opening, writing or reading the text view.
///
/// The view is derived data, so no variant means data loss: the view is off, the system failed, or
/// there is a bug.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder could not be created, listed or emptied.
    #[error("{action} the folder of the text view")]
    Folder {
        /// The operation that failed.
        action: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The store was opened without the view.
    #[error("this store was opened without its text view (Options::text)")]
    Off,
    /// The query is not valid.
    #[error("what to search for, at {place}: {reason}")]
    Syntax {
        /// The byte offset in the text.
        place: usize,
        /// The reason.
        reason: String,
    },
    /// The index library returned an error.
    #[error("text index, while {doing}")]
    Index {
        /// The operation that failed.
        doing: &'static str,
        /// The error of the library.
        source: tantivy::TantivyError,
    },
}

impl Error {
    /// Returns `ERR_SEARCH_SYNTAX` or `ERR_TEXT`. No specification defines codes for a derived
    /// view.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Syntax { .. } => ErrorCode::SearchSyntax,
            Self::Folder { .. } | Self::Off | Self::Index { .. } => ErrorCode::Text,
        }
    }

    /// Returns a closure that adds the operation to an error of the system.
    pub(in crate::text) fn folder(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Folder { action, source }
    }

    /// Returns a closure that adds the operation to an error of the index library.
    pub(in crate::text) fn index(
        doing: &'static str,
    ) -> impl FnOnce(tantivy::TantivyError) -> Self {
        move |source| Self::Index { doing, source }
    }
}

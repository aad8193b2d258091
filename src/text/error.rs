use std::path::PathBuf;

use crate::code::ErrorCode;

/// Why the view could not be opened, written or read.
///
/// The view is derived, so no variant means lost data: it is off, the world failed, or this is a
/// bug.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder could not be made, listed or emptied.
    #[error("text folder {}", path.display())]
    Folder {
        /// The folder, or the entry in it.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The store was opened without the view.
    #[error("this store was opened without its text view (Options::text)")]
    Off,
    /// A query that cannot mean anything.
    #[error("what to search for, at {place}: {reason}")]
    Syntax {
        /// Where, in bytes of the text.
        place: usize,
        /// What is wrong there.
        reason: String,
    },
    /// The index library refused.
    #[error("text index, while {doing}")]
    Index {
        /// What was being done.
        doing: &'static str,
        /// What the library says.
        source: tantivy::TantivyError,
    },
}

impl Error {
    /// Returns `ERR_SEARCH_SYNTAX` or `ERR_TEXT`: no specification names a fault of a derived view.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Syntax { .. } => ErrorCode::SearchSyntax,
            Self::Folder { .. } | Self::Off | Self::Index { .. } => ErrorCode::Text,
        }
    }

    /// Returns a closure that says what was being done when the index library refused.
    pub(super) fn index(doing: &'static str) -> impl FnOnce(tantivy::TantivyError) -> Self {
        move |source| Self::Index { doing, source }
    }
}

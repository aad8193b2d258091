use crate::code::ErrorCode;
use crate::index;
use crate::interchange;
use crate::store;
use crate::text;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A cursor that no answer gave.
    #[error("not a cursor of this store: {text}")]
    Cursor {
        /// What was passed.
        text: String,
    },
    /// A filter that cannot mean anything.
    #[error("{filter} {reason}")]
    Filter {
        /// The filter.
        filter: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The store's failure.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The index's failure.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The text view's failure.
    #[error(transparent)]
    Text(#[from] text::Error),
    /// A file that cannot be written as its format asks.
    #[error(transparent)]
    Interchange(#[from] interchange::Error),
}

impl Error {
    /// Returns the specification's code, or ours where it has none.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Cursor { .. } => ErrorCode::Cursor,
            Self::Filter { .. } => ErrorCode::Filter,
            Self::Store(source) => source.code(),
            Self::Index(source) => source.code(),
            Self::Text(source) => source.code(),
            Self::Interchange(source) => source.code(),
        }
    }
}

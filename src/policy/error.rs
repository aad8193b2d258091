//! The errors of policy documents.

use crate::code::ErrorCode;

/// An error in a policy document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A document that is not a regime.
    #[error("not a policy: {reason}")]
    Regime {
        /// The reason.
        reason: String,
    },
}

impl Error {
    /// Returns our code; the specification has none.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Regime { .. } => ErrorCode::Policy,
        }
    }
}

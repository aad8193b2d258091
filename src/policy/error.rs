use crate::code::ErrorCode;

/// Why a policy cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A document that is not a regime.
    #[error("not a policy: {reason}")]
    Regime {
        /// What is wrong with it.
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

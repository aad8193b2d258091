/// What went wrong with keys or randomness; never says anything about a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system gave no random bytes. There is no second choice: nothing is written.
    #[error("the system gives no random bytes: {source}")]
    NoRandomness {
        /// What the system says.
        source: getrandom::Error,
    },
}

impl Error {
    /// Returns the code of the error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoRandomness { .. } => "ERR_NO_RANDOMNESS",
        }
    }
}

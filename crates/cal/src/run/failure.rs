//! Why a statement has no answer: a mistake in it, or an error of the store.

use serde_json::{Value, json};

use crate::error::Error;

/// Why a statement has no answer.
///
/// ```
/// use grainstore::{Options as StoreOptions, Store, Time};
/// use grainstore_cal::{Cal, Failure, Options};
///
/// let store = Store::in_memory(StoreOptions::default())?;
/// let failure = store.cal("RECALL fact", &Options::at(Time::from_ms(0))).unwrap_err();
/// assert_eq!(failure.code(), "CAL-E003");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A mistake in the statement, or one of its limits.
    #[error(transparent)]
    Statement(#[from] Error),
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] grainstore::Error),
}

impl Failure {
    /// Returns the code: of CAL, or of the store.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Statement(error) => error.code.as_str(),
            Self::Store(error) => error.code().as_str(),
        }
    }

    /// Returns the error object of CAL; its position counts characters of `source`.
    pub fn to_json(&self, source: &str) -> Value {
        match self {
            Self::Statement(error) => error.to_json(source),
            Self::Store(error) => json!({
                "code": error.code().as_str(),
                "message": error.to_string(),
                "suggestion": "",
            }),
        }
    }
}

//! Refusals and failures as a model reads them: the code, what happened and what to do next.
//!
//! The message comes from the library, which names grains and rules and no content.

use grainstore::{Error, ErrorCode};
use serde::Serialize;

use crate::memory::MemoryError;

/// The reason why a tool did not do what it was asked.
///
/// ```
/// use grainstore_server::mcp::Failure;
///
/// let failure = Failure::from(grainstore::Error::Locked);
/// assert_eq!(failure.code, "ERR_LOCKED");
/// assert!(failure.advice.contains("key"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Failure {
    /// The error code of the library.
    pub code: &'static str,
    /// The message of the library.
    pub message: String,
    /// Advice: the next step; empty where the message says it.
    pub advice: &'static str,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code: code.as_str(),
            message: message.into(),
            advice: advice(code),
        }
    }

    /// Arguments that mean nothing, or not together.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Usage, message)
    }

    pub(crate) fn cal_off() -> Self {
        Self {
            code: "ERR_CAL_OFF",
            message: "the operator has switched CAL off".to_owned(),
            advice: "",
        }
    }

    pub(crate) fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(
            ErrorCode::NotFound,
            format!("no grain has the address {what}"),
        )
    }

    /// Returns the text that a model reads.
    pub(super) fn to_text(&self) -> String {
        if self.advice.is_empty() {
            return self.message.clone();
        }
        format!("{self}\nWhat to do: {}", self.advice)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<MemoryError> for Failure {
    /// The messages of the files are those that their users expect, word for word.
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Store(error) => error.into(),
            other => Self {
                code: other.code().as_str(),
                message: other.to_string(),
                advice: "",
            },
        }
    }
}

impl From<grainstore::grain::Error> for Failure {
    fn from(error: grainstore::grain::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<grainstore::codec::Error> for Failure {
    fn from(error: grainstore::codec::Error) -> Self {
        Error::from(error).into()
    }
}

/// Returns what to do about an error, in words that name tools of this server only.
fn advice(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NotFound | ErrorCode::Ambiguous => {
            "use `search` or `query` to find the grain, and pass its whole address"
        }
        ErrorCode::HashFormat | ErrorCode::HashLength => {
            "pass the address as a tool printed it: 64 hexadecimal digits, or its first 12"
        }
        ErrorCode::Conflict => "use `history` on the grain, and correct its current version",
        ErrorCode::InvalidationDenied => {
            "the grain is protected: leave it, and tell the user which rule protects it"
        }
        ErrorCode::AccessDenied => {
            "this server is not allowed to do that: tell the user; do not try again in another way"
        }
        ErrorCode::Consent => {
            "ask the user for a consent that is in force and name its address in `processing_basis`"
        }
        ErrorCode::Authority => "state a reason",
        ErrorCode::PolicyDenied => "the policy of this store forbids it: tell the user",
        ErrorCode::ReviewRequired => "a person must review the grain first: tell the user",
        ErrorCode::Erased => "it was deleted on request and is not stored again",
        ErrorCode::Locked | ErrorCode::MasterKey | ErrorCode::RootMissing => {
            "tell the user: the server must be started with the key of that person (--key-file, --unlock)"
        }
        ErrorCode::Untrusted | ErrorCode::Trust => {
            "the store does not trust this writer there: tell the user"
        }
        ErrorCode::SearchSyntax => "search for plain words, or quote the phrase",
        ErrorCode::Cursor => "begin again without a cursor",
        ErrorCode::StorageFull => "tell the user that the disk is full",
        ErrorCode::Embedder => "tell the user that the embedding model does not answer",
        ErrorCode::StoreLocked => "try again in a moment",
        ErrorCode::Unreachable => "tell the user that the shared ledger does not answer",
        ErrorCode::StorageIo
        | ErrorCode::StorageHalted
        | ErrorCode::StorageDamaged
        | ErrorCode::IndexDamaged
        | ErrorCode::Text => "tell the user to run `grainstore check`",
        _ => "correct the arguments and try again",
    }
}

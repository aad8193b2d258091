//! An error as a caller sees it: a status, a code, a message. One table says which status a code has.
//!
//! A failure of the store itself is not described to a caller; the log of the operator has its code.

use grainstore::{CodeDomain, ErrorCode, interchange, store};
use serde_json::{Value, json};

/// An error of a request.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) code: String,
    message: String,
    /// The position in a batch, counted from 0.
    index: Option<usize>,
    /// Seconds after which a retry makes sense.
    pub(crate) retry_after: Option<u32>,
    /// Whether the body of the answer is that of RFC 9457, as AIMEM has it.
    pub(crate) is_problem: bool,
}

/// Returns the status of an answer that carries a code: the table of `docs/http.md`.
///
/// ```
/// use grainstore::ErrorCode;
/// use grainstore_server::http::status_of;
///
/// assert_eq!(status_of(ErrorCode::NotFound), 404);
/// assert_eq!(status_of(ErrorCode::AimemChecksumMismatch), 409);
/// ```
pub fn status_of(code: ErrorCode) -> u16 {
    match code {
        ErrorCode::HashFormat | ErrorCode::HashLength => 400,
        ErrorCode::NotFound | ErrorCode::Review | ErrorCode::UserUnknown => 404,
        ErrorCode::Conflict
        | ErrorCode::Dependency
        | ErrorCode::UserExists
        | ErrorCode::AimemChecksumMismatch
        | ErrorCode::AimemMixedProducers
        | ErrorCode::AimemMixedTenants
        | ErrorCode::PamMixedOwners => 409,
        ErrorCode::Erased => 410,
        ErrorCode::EvidenceRequired => 422,
        ErrorCode::Locked => 423,
        ErrorCode::StorageHalted | ErrorCode::StorageReadOnly | ErrorCode::Text => 503,
        code if code.is_denied() => 403,
        code if code.is_retryable() => 503,
        _ => match code.domain() {
            CodeDomain::Storage => 500,
            CodeDomain::Request => 400,
            _ => 422,
        },
    }
}

impl Failure {
    /// Returns a failure of this server, whose codes the library does not have.
    pub(crate) fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            code: code.to_owned(),
            message: message.into(),
            index: None,
            retry_after: None,
            is_problem: false,
        }
    }

    /// Returns a failure with a code of the library.
    pub(crate) fn of(code: ErrorCode, message: impl Into<String>) -> Self {
        let status = status_of(code);
        let failure = Self::new(status, code.as_str(), message);
        Self {
            retry_after: (status == 503).then_some(1),
            ..failure
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::of(ErrorCode::Usage, message)
    }

    /// Returns the failure of an address that the caller does not see, whether it is stored or not.
    pub(crate) fn unseen(address: &grainstore::ContentAddress) -> Self {
        Self::of(
            ErrorCode::NotFound,
            format!("no grain has the address {address}"),
        )
    }

    pub(crate) fn busy(status: u16, code: &str, message: &str) -> Self {
        Self {
            retry_after: Some(1),
            ..Self::new(status, code, message)
        }
    }

    pub(crate) fn at(mut self, index: usize) -> Self {
        self.index = Some(index);
        self
    }

    pub(crate) const fn into_problem(mut self) -> Self {
        self.is_problem = true;
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        if self.is_problem {
            return json!({
                "type": "about:blank",
                "title": self.code,
                "status": self.status,
                "detail": self.message,
            });
        }
        let mut value = json!({ "code": self.code, "message": self.message });
        if let Some(index) = self.index {
            value["index"] = json!(index);
        }
        if let Some(after) = self.retry_after {
            value["retry_after"] = json!(after);
        }
        value
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        if let store::Error::Batch { index, source } = error {
            return Self::from(*source).at(index);
        }
        let code = error.code();
        // A path, a device or an entry of the store is the operator's.
        if code.domain() == CodeDomain::Storage && status_of(code) >= 500 {
            return Self::of(code, "the store cannot answer now");
        }
        Self::of(code, error.to_string())
    }
}

impl From<interchange::Error> for Failure {
    fn from(error: interchange::Error) -> Self {
        Self::of(error.code(), error.to_string())
    }
}

impl From<grainstore::grain::Error> for Failure {
    fn from(error: grainstore::grain::Error) -> Self {
        store::Error::from(error).into()
    }
}

impl From<grainstore::codec::Error> for Failure {
    fn from(error: grainstore::codec::Error) -> Self {
        store::Error::from(error).into()
    }
}

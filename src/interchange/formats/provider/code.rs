//! The error codes of exports, and the errors with them.

use crate::code::ErrorCode;
use crate::interchange::{Error, Place};

/// Neither strict JSON nor CSV.
pub(super) const SYNTAX: ErrorCode = ErrorCode::ProviderSyntax;
/// A file that this provider does not export.
pub(super) const SHAPE: ErrorCode = ErrorCode::ProviderShape;
/// A record without a time; none is invented.
pub(super) const TIME: ErrorCode = ErrorCode::ProviderTime;

pub(super) fn syntax(name: &str, message: String) -> Error {
    fault(SYNTAX, name, message)
}

pub(super) fn fault(code: ErrorCode, at: &str, message: String) -> Error {
    Error::format(code, Place::pointer(at), message)
}

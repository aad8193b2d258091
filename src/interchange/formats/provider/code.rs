//! The error codes of exports.

use crate::code::ErrorCode;

/// Neither strict JSON nor CSV.
pub(super) const SYNTAX: ErrorCode = ErrorCode::ProviderSyntax;
/// A file that this provider does not export.
pub(super) const SHAPE: ErrorCode = ErrorCode::ProviderShape;
/// A record without a time; none is invented.
pub(super) const TIME: ErrorCode = ErrorCode::ProviderTime;

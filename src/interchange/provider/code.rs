//! The codes of what can be wrong with the export of a provider.

use crate::code::ErrorCode;

/// Not strict JSON, or no CSV.
pub(super) const SYNTAX: ErrorCode = ErrorCode::ProviderSyntax;
/// A file that is not what this provider exports.
pub(super) const SHAPE: ErrorCode = ErrorCode::ProviderShape;
/// A record without a time: none is made up.
pub(super) const TIME: ErrorCode = ErrorCode::ProviderTime;

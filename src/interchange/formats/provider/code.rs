//! The error codes of exports.

/// Neither strict JSON nor CSV.
pub(super) const SYNTAX: &str = "PROVIDER_SYNTAX";
/// A file that this provider does not export.
pub(super) const SHAPE: &str = "PROVIDER_SHAPE";
/// A record without a time; none is invented.
pub(super) const TIME: &str = "PROVIDER_TIME";

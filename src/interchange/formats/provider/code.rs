//! The codes of what can be wrong with the export of a provider.

/// Not strict JSON, or no CSV.
pub(super) const SYNTAX: &str = "PROVIDER_SYNTAX";
/// A file that is not what this provider exports.
pub(super) const SHAPE: &str = "PROVIDER_SHAPE";
/// A record without a time: none is converter up.
pub(super) const TIME: &str = "PROVIDER_TIME";

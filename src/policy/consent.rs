//! Whether a Consent grain allows an operation now (OMS 8.10).
//!
//! Withdrawals are facts of the store and are not judged here.

use crate::codec::Value;
use crate::grain::{Grain, Time, Type};

/// An operation that a consent can allow (OMS 8.10, `scope`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consented {
    /// Storing grains that rest on it.
    Store,
    /// Reading them.
    Retrieve,
}

impl Consented {
    /// Returns the specification's word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Retrieve => "retrieve",
        }
    }
}

/// Returns whether a grain is a Consent that allows an operation now: a grant, with the operation
/// in its scope, inside its window. Whether it was withdrawn is not in it.
pub(crate) fn holds(consent: &Grain, operation: Consented, now: Time) -> bool {
    let is_grant = consent.type_() == Type::Consent
        && consent.field("is_withdrawal").and_then(Value::as_bool) == Some(false);
    let mut scope = consent.field("scope").into_iter().flat_map(Value::texts);
    let bound = |field: &str| consent.field(field).and_then(Value::as_i64);
    is_grant
        && scope.any(|named| named == operation.name())
        && bound("valid_from").is_none_or(|from| from <= now.ms())
        && bound("valid_to").is_none_or(|to| now.ms() < to)
}

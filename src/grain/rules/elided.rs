//! Which fields may stand as their hash alone, and how (OMS 10.1, 10.2; rulings S8, S11).

use crate::codec::{ContentAddress, Map, Value};

use super::findings::Findings;
use crate::grain::Error;
use crate::grain::fields::{Fields, Slot, field};

/// Returns whether a field may be elided: all that the table does not forbid.
pub(in crate::grain) fn is_elidable(name: &str) -> bool {
    !FIXED.contains(&name)
}

/// Returns whether a grain has a field as its hash alone.
pub(super) fn is_elided(fields: &Fields<'_>, slot: Slot) -> bool {
    let elided = fields.get(field!("_elided")).and_then(Value::as_map);
    elided.is_some_and(|elided| elided.contains(slot.name())) && is_elidable(slot.name())
}

pub(super) fn check(fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    let elided = fields.get(field!("_elided")).and_then(Value::as_map);
    for (name, hash) in elided.into_iter().flat_map(Map::iter) {
        let reason = if !is_elidable(name) {
            "it cannot be elided (OMS 10.2)"
        } else if fields.map().contains(name) {
            "it is there, so it is not elided (OMS 10.1)"
        } else if hash.as_text().and_then(read_hash).is_none() {
            "its elision is not sha256: and 64 lower-case digits (OMS 10.1.1)"
        } else {
            continue;
        };
        findings.writer_rule(Error::Forbidden {
            field: format!("_elided.{name}"),
            reason,
        })?;
    }
    if let Some(original) = fields.text(field!("_disclosure_of"))
        && ContentAddress::from_reference(original).is_err()
    {
        findings.writer_rule(Error::WrongKind {
            field: "_disclosure_of".into(),
            expected: "a content address",
        })?;
    }
    Ok(())
}

/// Reads an elision hash in its one spelling.
pub(in crate::grain) fn read_hash(text: &str) -> Option<ContentAddress> {
    text.strip_prefix("sha256:")?.parse().ok()
}

/// OMS 10.2, "No"; and the fields that state how the grain is protected and disclosed.
const FIXED: &[&str] = &[
    "type",
    "relation",
    "confidence",
    "created_at",
    "goal_state",
    "source_type",
    "priority",
    "observer_type",
    "observation_mode",
    "observation_scope",
    "compression_ratio",
    "_elided",
    "_disclosure_of",
    "invalidation_policy",
];

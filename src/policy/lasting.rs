//! Which memories of AIMEM no background work may decay, replace or remove (AIMEM 5).

use crate::codec::Value;
use crate::grain::{Grain, Type};

/// Returns whether a grain comes from a chunk of the DNA class, or from a pinned one: no background
/// work may decay, replace or remove it, only its owner (AIMEM 5).
pub fn is_lasting(grain: &Grain) -> bool {
    let Some(record) = aimem_record(grain).filter(|_| !is_other_record(grain)) else {
        return false;
    };
    let Some(chunk) = record.as_map() else {
        return false;
    };
    let kind = chunk.get("memory_type").and_then(Value::as_text);
    let is_pinned = chunk.get("is_pinned").and_then(Value::as_bool);
    is_pinned == Some(true) || kind.is_some_and(|kind| DNA.contains(&kind))
}

/// Returns the record that a grain of an AIMEM bundle carries.
fn aimem_record(grain: &Grain) -> Option<Value> {
    let context = grain.field("context")?.as_map()?;
    Value::from_json(context.get(AIMEM_RECORD)?.as_text()?).ok()
}

/// Returns whether the record of a grain is an envelope, an edge, an entity or a mention, and no
/// chunk.
fn is_other_record(grain: &Grain) -> bool {
    let relation = grain.text("relation").unwrap_or_default();
    match grain.type_() {
        Type::State => true,
        Type::Belief => {
            relation.starts_with("aimem:edge")
                || relation.starts_with("aimem:entity")
                || relation == "aimem:mentions"
        }
        _ => false,
    }
}

/// The types that must not decay or go of themselves (AIMEM 1.2, 5).
pub(crate) const DNA: [&str; 5] = ["preference", "decision", "identity", "pitfall", "procedure"];

/// The member of a context that carries a record of an AIMEM bundle.
pub(crate) const AIMEM_RECORD: &str = "x-aimem";

//! The record that a grain of a file carries.

use crate::codec::{Map, Value};
use crate::grain::{Grain, Type};
use crate::interchange::model::normalize::residual_json;

/// The members of a context that carry a record, the parts inherited from its envelope, and a
/// relation.
pub(super) const RESIDUAL: &str = "x-omi";
pub(super) const INHERITED: &str = "x-omi-inherited";
pub(super) const RELATION: &str = "x-omi-relation";

/// Returns the record or the envelope that a grain was built from, equal as JSON. The `memories` of
/// an envelope are empty, because records are grains of their own.
pub fn residual(grain: &Grain) -> Option<Value> {
    let Value::Map(mut record) = residual_json(grain, RESIDUAL)? else {
        return None;
    };
    if grain.type_() != Type::State && !record.contains("content") {
        let field = match grain.type_() {
            Type::Event => "content",
            _ => "object",
        };
        record.insert("content", grain.text(field)?);
    }
    Some(Value::Map(record))
}

/// Returns whether a grain was built from a record or an envelope.
pub(super) fn has_residual(grain: &Grain) -> bool {
    let context = grain.field("context").and_then(Value::as_map);
    context.is_some_and(|context| context.contains(RESIDUAL))
}

/// Returns the parts that a record inherited from its envelope.
pub(crate) fn inherited(grain: &Grain) -> Map {
    match residual_json(grain, INHERITED) {
        Some(Value::Map(map)) => map,
        _ => Map::new(),
    }
}

/// Returns whether a grain was built from a relation, which its record carries as well.
pub(crate) fn is_relation(grain: &Grain) -> bool {
    residual_json(grain, RELATION).is_some()
}

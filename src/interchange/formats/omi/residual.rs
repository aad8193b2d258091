use crate::codec::{Map, Value};
use crate::grain::{Grain, Type};
use crate::interchange::model::normalize::residual_json;

use super::{INHERITED, RESIDUAL};

/// Returns the record or the envelope that a grain was made from, as the file had it but for the
/// order of members and the spelling of numbers. The `memories` of an envelope come back empty,
/// because records are grains of their own.
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

/// Returns what a record has from the envelope it came with.
pub(crate) fn inherited(grain: &Grain) -> Map {
    match residual_json(grain, INHERITED) {
        Some(Value::Map(map)) => map,
        _ => Map::new(),
    }
}

/// Returns whether a grain was made from a relation inside a record, which carries it as well.
pub(crate) fn is_relation(grain: &Grain) -> bool {
    residual_json(grain, super::RELATION).is_some()
}

//! The record that a grain of a bundle carries.

use crate::codec::Value;
use crate::grain::{Grain, Type};
use crate::interchange::model::normalize::residual_json;
pub(super) use crate::policy::{AIMEM_RECORD as RESIDUAL, DNA};

/// The kind of record that a grain was built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Envelope,
    Chunk,
    Edge,
    Entity,
    Mention,
}

/// Returns the record that a grain was built from, equal as JSON. The arrays of an envelope are
/// empty, because their records are grains of their own.
pub fn residual(grain: &Grain) -> Option<Value> {
    record(grain).map(|(_, record)| record)
}

/// Returns whether a grain was made from an edge or a mention.
pub(crate) fn is_link(grain: &Grain) -> bool {
    let relation = grain.text("relation").unwrap_or_default();
    (relation.starts_with("aimem:edge") || relation == "aimem:mentions")
        && matches!(record(grain), Some((Kind::Edge | Kind::Mention, _)))
}

pub(super) fn record(grain: &Grain) -> Option<(Kind, Value)> {
    let Value::Map(mut record) = residual_json(grain, RESIDUAL)? else {
        return None;
    };
    let relation = grain.text("relation").unwrap_or_default();
    let kind = match grain.type_() {
        Type::State => Kind::Envelope,
        Type::Belief if relation.starts_with("aimem:edge") => Kind::Edge,
        Type::Belief if relation.starts_with("aimem:entity") => Kind::Entity,
        Type::Belief if relation == "aimem:mentions" => Kind::Mention,
        _ => Kind::Chunk,
    };
    if kind == Kind::Chunk && !record.contains("content") {
        let field = match grain.type_() {
            Type::Event => "content",
            Type::Goal => "description",
            _ => "object",
        };
        record.insert("content", grain.text(field)?);
    }
    Some((kind, Value::Map(record)))
}

/// Returns the vector of a chunk, with the name of its model.
pub(in crate::interchange) fn vector_of(grain: &Grain) -> Option<(String, Vec<f32>)> {
    let references = grain.field("embedding_refs")?.as_array()?;
    let model = references.first()?.as_map()?.get("model")?.as_text()?;
    let record = residual_json(grain, RESIDUAL)?;
    let text = record.as_map()?.get("embedding")?.as_text()?;
    let bytes = data_encoding::BASE64.decode(text.as_bytes()).ok()?;
    let numbers = bytes.as_chunks::<4>().0.iter();
    let numbers = numbers.map(|number| f32::from_le_bytes(*number));
    Some((model.to_owned(), numbers.collect()))
}

//! The residual: the foreign record as its grain carries it.
//!
//! Grains drop nulls, normalise text and rename short keys (OMS 4.4–4.7); JSON text in ASCII is not
//! touched by any of that. A member that the grain holds with the same text is left out, and
//! restored here.

use crate::codec::{Map, Value, write_json, write_json_text};
use crate::grain::{Grain, Type};

use crate::interchange::model::normalize::{Rest, ascii_json, is_carried, residual_json, to_ascii};

/// Returns the memory, relation, message, conversation index entry or envelope that a grain was
/// built from, equal as JSON.
///
/// The envelope's arrays of records are empty, because the records are grains of their own. A message
/// has no `children_ids` that follow from the parents of others.
pub fn residual(grain: &Grain) -> Option<Value> {
    let Value::Map(mut record) = residual_json(grain, RESIDUAL)? else {
        return None;
    };
    match grain.type_() {
        // Relations are Beliefs too; only memories have a hash of their content.
        Type::Belief if record.contains("content_hash") => {
            restore(&mut record, "content", grain.text("object"));
        }
        Type::Goal => restore(&mut record, "content", grain.text("description")),
        Type::Event => {
            if let Some(Value::Map(content)) = record.get_mut("content")
                && content.get("type").and_then(Value::as_text) == Some("text")
            {
                restore(content, "text", grain.text("content"));
            }
        }
        _ => {}
    }
    Some(Value::Map(record))
}

/// Returns the conversation document that a State grain was built from, without its messages, which
/// are grains of their own; `None` if the conversation's file was not read.
pub fn conversation_residual(grain: &Grain) -> Option<Value> {
    residual_json(grain, DOCUMENT_RESIDUAL)
}

/// Returns whether the owner of a memory lets it leave the store (PAM 21.1).
pub(crate) fn is_exportable(grain: &Grain) -> bool {
    // Most records have no such member, and need not be parsed.
    let text = grain
        .field("context")
        .and_then(|context| context.as_map()?.get(RESIDUAL)?.as_text());
    if !text.is_some_and(|text| text.contains("\"exportable\"")) {
        return true;
    }
    let record = residual(grain);
    let access = record
        .as_ref()
        .and_then(|record| record.as_map()?.get("access")?.as_map());
    access.and_then(|access| access.get("exportable")) != Some(&Value::Bool(false))
}

/// Returns whether a memory states who may see it (`visibility`, `shared_with`), which nothing here
/// enforces: access is the handle's.
pub(crate) fn states_visibility(grain: &Grain) -> bool {
    let text = grain
        .field("context")
        .and_then(|context| context.as_map()?.get(RESIDUAL)?.as_text());
    if !text.is_some_and(|text| text.contains("\"visibility\"") || text.contains("\"shared_with\""))
    {
        return false;
    }
    let record = residual(grain);
    let access = record
        .as_ref()
        .and_then(|record| record.as_map()?.get("access")?.as_map());
    access.is_some_and(|access| access.contains("visibility") || access.contains("shared_with"))
}

/// Returns whether a memory says itself that it is no longer current (PAM 7).
pub(crate) fn is_ended(grain: &Grain) -> bool {
    let record = residual(grain);
    let status = record
        .as_ref()
        .and_then(|record| record.as_map()?.get("status")?.as_text());
    matches!(status, Some("superseded" | "retracted" | "archived"))
}

/// Returns whether a grain was made from a relation between memories.
pub(crate) fn is_relation(grain: &Grain) -> bool {
    let relation = grain.text("relation").unwrap_or_default();
    relation.starts_with("pam:rel:") && residual_json(grain, RESIDUAL).is_some()
}

fn restore(record: &mut Map, name: &str, text: Option<&str>) {
    if let Some(text) = text
        && !record.contains(name)
    {
        record.insert(name, text);
    }
}

pub(crate) fn memory_residual(record: &Map, normalize_text: &str) -> String {
    ascii_json(&Rest::of(record, "content", normalize_text))
}

/// `normalize_text` is the text that the grain has, if it is that of a plain message; `are_derived`
/// says whether the ids of its answers follow from them.
pub(crate) fn message_residual(
    record: &Map,
    normalize_text: Option<&str>,
    are_derived: bool,
) -> String {
    let without = are_derived.then_some("children_ids");
    let mut json = String::with_capacity(RESIDUAL_LEN);
    write_without(record, without, &mut json, |name, value, json| {
        match (name, value, normalize_text) {
            ("content", Value::Map(content), Some(text)) => {
                let without = is_carried(content, "text", text).then_some("text");
                write_without(content, without, json, |_, value, json| {
                    write_json(value, json);
                });
            }
            _ => write_json(value, json),
        }
    });
    to_ascii(json)
}

/// As long as what is left of most messages.
const RESIDUAL_LEN: usize = 512;

/// Writes an object without one of its members. There are as many as messages, so none is copied.
fn write_without(
    map: &Map,
    without: Option<&str>,
    json: &mut String,
    write: impl Fn(&str, &Value, &mut String),
) {
    json.push('{');
    let members = map.iter().filter(|(name, _)| without != Some(*name));
    for (number, (name, value)) in members.enumerate() {
        if number > 0 {
            json.push(',');
        }
        write_json_text(name, json);
        json.push(':');
        write(name, value, json);
    }
    json.push('}');
}

/// Empties the arrays whose elements are grains of their own; an absent one stays absent.
pub(crate) fn residual_without(record: &Map, arrays: &[&str]) -> String {
    let kept = record.iter().map(|(name, value)| match value {
        Value::Array(_) if arrays.contains(&name) => (name, Value::Array(Vec::new())),
        value => (name, value.clone()),
    });
    ascii_json(&Value::Map(kept.collect()))
}

pub(crate) const RESIDUAL: &str = "x-pam";
pub(crate) const DOCUMENT_RESIDUAL: &str = "x-pam-document";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The residual of a message by a copy of it, from which the members are removed.
    fn of_a_copy(record: &Map, text: Option<&str>, are_derived: bool) -> String {
        let mut rest = record.clone();
        if are_derived {
            rest.remove("children_ids");
        }
        if let (Some(Value::Map(content)), Some(text)) = (rest.get_mut("content"), text)
            && is_carried(content, "text", text)
        {
            content.remove("text");
        }
        ascii_json(&Value::Map(rest))
    }

    fn value() -> impl Strategy<Value = Value> {
        let flat = prop_oneof![
            Just(Value::Nil),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a\"\\\\é😀\u{1}]{0,4}".prop_map(Value::from),
        ];
        flat.prop_recursive(3, 16, 4, |inner| {
            let names = prop::sample::select(vec!["children_ids", "content", "text", "ä\"", "id"]);
            let members = prop::collection::vec((names, inner.clone()), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..3).prop_map(Value::Array),
                members.prop_map(|members| Value::Map(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_residual_of_a_message_is_that_of_a_copy_without_what_the_grain_has(
            content in value(),
            rest in value(),
            text in prop::option::of("[aé]{0,2}"),
            are_derived: bool,
        ) {
            let mut record = Map::from_iter([("children_ids", rest), ("content", content)]);
            if let (Some(Value::Map(content)), Some(text)) = (record.get_mut("content"), &text) {
                content.insert("text", text.as_str());
            }
            let text = text.as_deref();
            let residual = message_residual(&record, text, are_derived);
            prop_assert_eq!(residual, of_a_copy(&record, text, are_derived));
        }
    }
}

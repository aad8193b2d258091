//! What values fields hold, and in which range (OMS 6, 19.3; rulings F8, F13).

use crate::codec::{self, ContentAddress, Map, Value};

use super::presence::entries;
use crate::grain::field::{Field, Holds};
use crate::grain::{Error, Type};

pub(super) fn check(of: Type, fields: &Map) -> Result<(), Error> {
    for (name, value) in fields.iter() {
        if let Some(field) = Field::named(name) {
            expect(name, field.holds, value)?;
        }
    }
    match of {
        // OMS 8.1: the object is text or a map; 6.2: an Event's content is text.
        Type::Belief => one_of(fields, "object", "text or a map", is_text_or_map),
        Type::Event => one_of(fields, "content", "text", is_text),
        Type::Consensus => one_of(fields, "agreed_content", "text or a map", is_text_or_map),
        _ => Ok(()),
    }?;
    for (field, members) in NESTED {
        for entry in entries(fields, field) {
            for (name, value) in entry.iter() {
                if let Some((_, holds)) = members.iter().find(|(member, _)| *member == name) {
                    expect(&format!("{field}.{name}"), *holds, value)?;
                }
            }
        }
    }
    check_sources(fields)
}

fn expect(name: &str, holds: Holds, value: &Value) -> Result<(), Error> {
    let (fits, expected) = match holds {
        Holds::Any => (true, "any value"),
        Holds::Text => (is_text(value), "text"),
        Holds::Bool => (matches!(value, Value::Bool(_)), "true or false"),
        Holds::Int | Holds::Count | Holds::Byte => (is_int(value), "an integer"),
        Holds::Float | Holds::Unit => (matches!(value, Value::Float(_)), "a number"),
        Holds::Time => (
            value.as_i64().is_some(),
            "milliseconds since 1970 or an RFC 3339 time",
        ),
        Holds::Map => (value.as_map().is_some(), "a map"),
        Holds::Texts => (all(value, is_text), "an array of texts"),
        Holds::Bytes => (all(value, is_int), "an array of integers"),
        Holds::Maps => (
            all(value, |item| item.as_map().is_some()),
            "an array of maps",
        ),
        Holds::Sources => (
            all(value, is_text_or_map),
            "an array of content addresses and citations",
        ),
        Holds::Signatures => (
            all(value, |item| item.as_bytes().is_some()),
            "an array of signatures (bytes; base64 in JSON)",
        ),
    };
    if fits {
        Ok(())
    } else {
        Err(Error::WrongKind {
            field: name.to_owned(),
            expected,
        })
    }
}

fn one_of(
    fields: &Map,
    name: &str,
    expected: &'static str,
    fits: fn(&Value) -> bool,
) -> Result<(), Error> {
    match fields.get(name) {
        Some(value) if !fits(value) => Err(Error::WrongKind {
            field: name.to_owned(),
            expected,
        }),
        _ => Ok(()),
    }
}

/// Ruling F19: a text in `derived_from` is a content address, whatever prefix it carries.
fn check_sources(fields: &Map) -> Result<(), Error> {
    let sources = fields.get("derived_from");
    for source in sources.into_iter().flat_map(Value::texts) {
        ContentAddress::from_reference(source)?;
    }
    Ok(())
}

/// Checks numbers against the range of their field (OMS 19.3).
pub(super) fn check_ranges(fields: &Map) -> Result<(), Error> {
    for (name, value) in fields.iter() {
        if let Some(field) = Field::named(name) {
            in_range(name, field.holds, value)?;
        }
    }
    for (field, members) in NESTED {
        for entry in entries(fields, field) {
            for (name, holds) in *members {
                if let Some(value) = entry.get(name) {
                    in_range(&format!("{field}.{name}"), *holds, value)?;
                }
            }
        }
    }
    for source in entries(fields, "provenance_chain") {
        // OMS 14.1 gives the range and no kind, so an integer stays one (ruling F8).
        let weight = match source.get("weight") {
            Some(Value::Float(float)) => Some(*float),
            Some(Value::Int(int)) => Some(int.to_f64()),
            _ => None,
        };
        if weight.is_some_and(|weight| !(0.0..=1.0).contains(&weight)) {
            return Err(out_of_range("provenance_chain.weight", "0.0 to 1.0"));
        }
    }
    match fields.get("consolidation_level").and_then(Value::as_i64) {
        // OMS 6.1: raw, frequency, pattern, sequence.
        Some(level) if level > 3 => Err(out_of_range("consolidation_level", "0 to 3")),
        _ => Ok(()),
    }
}

fn in_range(name: &str, holds: Holds, value: &Value) -> Result<(), Error> {
    let (within, range) = match (holds, value) {
        (Holds::Unit, Value::Float(float)) => ((0.0..=1.0).contains(float), "0.0 to 1.0"),
        (Holds::Count, Value::Int(int)) => (int.as_u64().is_some(), "not negative"),
        (Holds::Byte, value) => (is_byte(value), "0 to 255"),
        (Holds::Bytes, value) => (all(value, is_byte), "0 to 255"),
        _ => (true, ""),
    };
    if within {
        Ok(())
    } else {
        Err(out_of_range(name, range))
    }
}

fn out_of_range(name: &str, range: &'static str) -> Error {
    Error::Range {
        field: name.to_owned(),
        range,
    }
}

/// Ruling F13: bytes stand only in timestamp tokens and supersession signatures.
pub(super) fn check_bytes(fields: &Map) -> Result<(), Error> {
    let stray = fields.iter().any(|(name, value)| match (name, value) {
        ("supersession_auth", Value::Array(items)) => items
            .iter()
            .any(|item| !matches!(item, Value::Bytes(_)) && has_bytes(item)),
        ("trusted_timestamp", Value::Map(token)) => token
            .iter()
            .any(|(member, value)| member != "tsp_response" && has_bytes(value)),
        (_, value) => has_bytes(value),
    });
    if stray {
        return Err(Error::Codec(codec::Error::NotCanonical {
            reason: "bytes stand outside trusted_timestamp and supersession_auth",
        }));
    }
    Ok(())
}

fn has_bytes(value: &Value) -> bool {
    match value {
        Value::Bytes(_) => true,
        Value::Array(items) => items.iter().any(has_bytes),
        Value::Map(map) => map.iter().any(|(_, value)| has_bytes(value)),
        _ => false,
    }
}

fn all(value: &Value, fits: fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(fits))
}

const fn is_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

const fn is_text_or_map(value: &Value) -> bool {
    matches!(value, Value::Text(_) | Value::Map(_))
}

const fn is_int(value: &Value) -> bool {
    matches!(value, Value::Int(_))
}

fn is_byte(value: &Value) -> bool {
    value.as_i64().is_some_and(|byte| (0..=255).contains(&byte))
}

/// Members of nested maps whose kind the specification names (OMS 7, 14, 12.5.1, 6.1).
pub(in crate::grain) const NESTED: &[(&str, &[(&str, Holds)])] = &[
    (
        "content_refs",
        &[
            ("uri", Holds::Text),
            ("modality", Holds::Text),
            ("mime_type", Holds::Text),
            ("size_bytes", Holds::Count),
            ("checksum", Holds::Text),
            ("metadata", Holds::Map),
            ("citation_type", Holds::Text),
            ("identifier", Holds::Text),
            ("retrieved_at", Holds::Time),
        ],
    ),
    (
        "embedding_refs",
        &[
            ("vector_id", Holds::Text),
            ("model", Holds::Text),
            ("dimensions", Holds::Count),
            ("modality_source", Holds::Text),
            ("distance_metric", Holds::Text),
            ("chunk_index", Holds::Count),
            ("chunk_text", Holds::Text),
            ("chunk_strategy", Holds::Text),
            ("chunk_overlap", Holds::Count),
        ],
    ),
    (
        "related_to",
        &[
            ("hash", Holds::Text),
            ("relation_type", Holds::Text),
            ("weight", Holds::Float),
        ],
    ),
    (
        "derived_from",
        &[
            ("citation_type", Holds::Text),
            ("identifier", Holds::Text),
            ("retrieved_at", Holds::Time),
        ],
    ),
    ("owner", &[("type", Holds::Text), ("name", Holds::Text)]),
];

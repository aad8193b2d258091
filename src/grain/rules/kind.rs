//! The kinds of values that fields hold, and their ranges (OMS 6, 19.3; rulings F8, F13).

use crate::codec::{self, ContentAddress, Value};

use super::findings::Findings;
use super::lint::look_alike;
use super::required_fields::{entries, entries_of};
use crate::grain::fields::{Fields, Holds, Slot, field};
use crate::grain::{Error, Namespace, Type};

pub(super) fn check(of: Type, fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    for (name, value, slot) in fields.iter() {
        if let Some(slot) = slot {
            expect(&[slot.name()], slot.field().holds, value)?;
            each_member(slot.name(), value, expect)?;
        } else {
            look_alike::check(name.as_str(), findings);
        }
    }
    match of {
        // OMS 8.1: the object is text or a map; 6.2: an Event's content is text.
        Type::Belief => one_of(fields, field!("object"), "text or a map", is_text_or_map),
        Type::Event => one_of(fields, field!("content"), "text", is_text),
        // Ruling T2: the text says so in one place and "any" in another, so it binds writers only.
        Type::Consensus => {
            let slot = field!("agreed_content");
            let agreed = one_of(fields, slot, "text or a map", is_text_or_map);
            agreed.or_else(|error| findings.writer_rule(error))
        }
        _ => Ok(()),
    }?;
    check_sources(fields)
}

/// Judges those members of a nested field whose kind is known, by the path that leads to each.
fn each_member(
    field: &str,
    value: &Value,
    judge: fn(&[&str], Holds, &Value) -> Result<(), Error>,
) -> Result<(), Error> {
    if !matches!(value, Value::Array(_) | Value::Map(_)) {
        return Ok(());
    }
    let members = members_of(field);
    for entry in entries(value) {
        for (member, holds) in members {
            if let Some(value) = entry.get(member) {
                judge(&[field, member], *holds, value)?;
            }
        }
    }
    Ok(())
}

fn expect(path: &[&str], holds: Holds, value: &Value) -> Result<(), Error> {
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
        Holds::Binary => (is_binary(value), "bytes; base64 in JSON"),
        Holds::Signatures => (
            all(value, is_binary),
            "an array of signatures (bytes; base64 in JSON)",
        ),
    };
    if fits {
        Ok(())
    } else {
        Err(Error::WrongKind {
            field: path.join("."),
            expected,
        })
    }
}

fn one_of(
    fields: &Fields<'_>,
    slot: Slot,
    expected: &'static str,
    fits: fn(&Value) -> bool,
) -> Result<(), Error> {
    match fields.get(slot) {
        Some(value) if !fits(value) => Err(Error::WrongKind {
            field: slot.name().to_owned(),
            expected,
        }),
        _ => Ok(()),
    }
}

/// Ruling F19: a text in `derived_from` is a content address, whatever prefix it carries.
fn check_sources(fields: &Fields<'_>) -> Result<(), Error> {
    let sources = fields.get(field!("derived_from"));
    for source in sources.into_iter().flat_map(Value::texts) {
        ContentAddress::from_reference(source)?;
    }
    Ok(())
}

/// Checks the namespace against its limits, of a grain of any type (ruling I25).
pub(in crate::grain) fn check_namespace(fields: &Fields<'_>) -> Result<(), Error> {
    match fields.text(field!("namespace")) {
        Some(text) if !Namespace::is_within_limits(text) => {
            Err(out_of_range("namespace", "at most 512 bytes and 64 parts"))
        }
        _ => Ok(()),
    }
}

/// Checks numbers against the range of their field (OMS 19.3).
pub(super) fn check_ranges(fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    for (_, value, slot) in fields.iter() {
        if let Some(slot) = slot {
            in_range(&[slot.name()], slot.field().holds, value)?;
            each_member(slot.name(), value, in_range)?;
        }
    }
    for source in entries_of(fields, field!("provenance_chain")) {
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
    for link in entries_of(fields, field!("related_to")) {
        // OMS 14.2 gives no range; the weight is a similarity, as the one of 14.1.
        let is_outside =
            |value: &Value| matches!(value, Value::Float(it) if !(0.0..=1.0).contains(it));
        if link.get("weight").is_some_and(is_outside) {
            findings.writer_rule(out_of_range("related_to.weight", "0.0 to 1.0"))?;
        }
    }
    match fields
        .get(field!("consolidation_level"))
        .and_then(Value::as_i64)
    {
        // OMS 6.1: raw, frequency, pattern, sequence.
        Some(level) if level > 3 => Err(out_of_range("consolidation_level", "0 to 3")),
        _ => Ok(()),
    }
}

fn in_range(path: &[&str], holds: Holds, value: &Value) -> Result<(), Error> {
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
        Err(out_of_range(&path.join("."), range))
    }
}

fn out_of_range(name: &str, range: &'static str) -> Error {
    Error::Range {
        field: name.to_owned(),
        range,
    }
}

/// Ruling F13: bytes stand only in timestamp tokens and supersession signatures.
pub(super) fn check_bytes(fields: &Fields<'_>) -> Result<(), Error> {
    let stray = fields
        .map()
        .iter()
        .any(|(name, value)| match (name, value) {
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

const fn is_binary(value: &Value) -> bool {
    matches!(value, Value::Bytes(_))
}

const fn is_int(value: &Value) -> bool {
    matches!(value, Value::Int(_))
}

fn is_byte(value: &Value) -> bool {
    value.as_i64().is_some_and(|byte| (0..=255).contains(&byte))
}

/// Members whose kind is known, with it.
pub(in crate::grain) type Members = &'static [(&'static str, Holds)];

/// Returns what the members of a nested field hold (OMS 6.1, 6.2, 7, 12.5.1, 14,
/// 27.5).
pub(in crate::grain) fn members_of(field: &str) -> Members {
    match field {
        "content_blocks" => BLOCK,
        "content_refs" => CONTENT_REF,
        "embedding_refs" => EMBEDDING_REF,
        "related_to" => RELATED_TO,
        "derived_from" => CITATION,
        "owner" => LEGAL_ENTITY,
        "token_usage" => TOKEN_USAGE,
        "trusted_timestamp" => TIMESTAMP_TOKEN,
        "retention_policy" => RETENTION,
        _ => &[],
    }
}

const BLOCK: Members = &[("type", Holds::Text)];

const CONTENT_REF: Members = &[
    ("uri", Holds::Text),
    ("modality", Holds::Text),
    ("mime_type", Holds::Text),
    ("size_bytes", Holds::Count),
    ("checksum", Holds::Text),
    ("metadata", Holds::Map),
    ("citation_type", Holds::Text),
    ("identifier", Holds::Text),
    ("retrieved_at", Holds::Time),
];

const EMBEDDING_REF: Members = &[
    ("vector_id", Holds::Text),
    ("model", Holds::Text),
    ("dimensions", Holds::Count),
    ("modality_source", Holds::Text),
    ("distance_metric", Holds::Text),
    ("chunk_index", Holds::Count),
    ("chunk_text", Holds::Text),
    ("chunk_strategy", Holds::Text),
    ("chunk_overlap", Holds::Count),
];

const RELATED_TO: Members = &[
    ("hash", Holds::Text),
    ("relation_type", Holds::Text),
    ("weight", Holds::Float),
];

const CITATION: Members = &[
    ("citation_type", Holds::Text),
    ("identifier", Holds::Text),
    ("retrieved_at", Holds::Time),
];

const LEGAL_ENTITY: Members = &[
    ("type", Holds::Text),
    ("name", Holds::Text),
    ("entity_form", Holds::Text),
    ("jurisdiction", Holds::Text),
    ("reg_id", Holds::Text),
    ("did", Holds::Text),
];

const TOKEN_USAGE: Members = &[
    ("input_tokens", Holds::Count),
    ("output_tokens", Holds::Count),
    ("cache_creation_tokens", Holds::Count),
    ("cache_read_tokens", Holds::Count),
];

const TIMESTAMP_TOKEN: Members = &[("tsp_response", Holds::Binary), ("tsa_uri", Holds::Text)];

const RETENTION: Members = &[
    ("minimum_retention_years", Holds::Count),
    ("regulation", Holds::Text),
    ("deletion_requires", Holds::Text),
];

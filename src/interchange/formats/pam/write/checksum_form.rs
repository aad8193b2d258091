//! The form of a memory that both validators of the format compute the same checksum of: no null
//! where the schema names a member, `status` and `tags` always, `access` whole, times with no or
//! six digits of fraction and `Z`.

use crate::codec::{Map, Value};
use crate::grain::{Lifecycle, Status, Verification};
use crate::interchange::Loss;

/// Brings a memory into that form; digits of a second past the sixth are counted.
pub(crate) fn to_checksum_form(memory: &mut Map, loss: &mut Loss) {
    drop_nulls(memory, |_| true);
    for name in ["temporal", "provenance", "confidence", "access"] {
        if let Some(Value::Map(inner)) = memory.get_mut(name) {
            drop_nulls(inner, |_| true);
        }
    }
    // The schema names two members of the metadata; the others mean what their writers say.
    if let Some(Value::Map(inner)) = memory.get_mut("metadata") {
        drop_nulls(inner, |name| ["language", "domain"].contains(&name));
    }
    for (name, members) in [
        (
            "temporal",
            ["created_at", "updated_at", "valid_from", "valid_until"].as_slice(),
        ),
        ("provenance", &["extracted_at"]),
        ("confidence", &["last_reinforced"]),
    ] {
        let Some(Value::Map(inner)) = memory.get_mut(name) else {
            continue;
        };
        for member in members {
            if let Some(Value::Text(text)) = inner.get_mut(member) {
                *text = normalize_time(text, loss);
            }
        }
    }
    if !memory.contains("tags") {
        memory.insert("tags", Vec::<Value>::new());
    }
    if let Some(Value::Map(access)) = memory.get_mut("access") {
        let defaults = [
            ("visibility", Value::from("private")),
            ("exportable", Value::Bool(true)),
            ("shared_with", Value::Array(Vec::new())),
        ];
        for (name, value) in defaults {
            if !access.contains(name) {
                access.insert(name, value);
            }
        }
    }
}

/// Writes the status of the grain in the store (PAM 7), of several statements the gravest, and the id
/// of the memory that replaces it.
pub(crate) fn write_status(memory: &mut Map, status: &Status, replacement: Option<&str>) {
    let name = match status {
        _ if status.verification == Verification::Retracted || has_no_word(status) => "retracted",
        _ if status.superseded_by.is_some() || status.lifecycle == Lifecycle::Superseded => {
            "superseded"
        }
        _ if status.lifecycle == Lifecycle::Archived => "archived",
        _ if status.lifecycle == Lifecycle::Deprecated => "deprecated",
        _ => "active",
    };
    memory.insert("status", name);
    if let Some(Value::Map(temporal)) = memory.get_mut("temporal") {
        match replacement {
            Some(id) => drop(temporal.insert("superseded_by", id)),
            // A memory that is current here is replaced by none; one that ended keeps what it says.
            None if name == "active" => drop(temporal.remove("superseded_by")),
            None => {}
        }
    }
}

/// Returns whether a grain ended in a way that PAM 7 has no word for: it was contradicted, and not
/// withdrawn.
pub(crate) fn has_no_word(status: &Status) -> bool {
    let is_named = status.verification == Verification::Retracted
        || status.superseded_by.is_some()
        || matches!(
            status.lifecycle,
            Lifecycle::Superseded | Lifecycle::Archived
        );
    !status.is_current() && !is_named
}

fn drop_nulls(map: &mut Map, is_named: fn(&str) -> bool) {
    let nulls: Vec<String> = map
        .iter()
        .filter(|(name, value)| is_named(name) && **value == Value::Nil)
        .map(|(name, _)| name.to_owned())
        .collect();
    for name in nulls {
        map.remove(&name);
    }
}

fn normalize_time(text: &str, loss: &mut Loss) -> String {
    let text = text.to_ascii_uppercase();
    let text = match text
        .strip_suffix("+00:00")
        .or_else(|| text.strip_suffix("-00:00"))
    {
        Some(moment) => format!("{moment}Z"),
        None => text,
    };
    let Some((moment, rest)) = text.split_once('.') else {
        return text;
    };
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, offset) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let kept = digits.get(..6).unwrap_or(digits);
    if digits.bytes().skip(6).any(|digit| digit != b'0') {
        loss.count("fraction past microseconds");
    }
    if kept.bytes().all(|digit| digit == b'0') {
        format!("{moment}{offset}")
    } else {
        format!("{moment}.{kept:0<6}{offset}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_no_digits_of_fraction_or_six() {
        let mut loss = Loss::default();
        for (text, to_checksum_form) in [
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("2026-01-01t00:00:00.000z", "2026-01-01T00:00:00Z"),
            ("2026-01-01T00:00:00.5+00:00", "2026-01-01T00:00:00.500000Z"),
            (
                "2026-01-01T00:00:00.1234560+02:00",
                "2026-01-01T00:00:00.123456+02:00",
            ),
        ] {
            assert_eq!(normalize_time(text, &mut loss), to_checksum_form);
        }
        assert!(loss.is_empty());
        normalize_time("2026-01-01T00:00:00.1234561Z", &mut loss);
        assert!(!loss.is_empty());
    }
}

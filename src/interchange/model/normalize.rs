//! Text and values of foreign records, normalised for grains and hashes.

use std::fmt::Write as _;

use serde::ser::{Serialize, SerializeMap, Serializer};
use sha2::{Digest, Sha256};

use crate::codec::{Canonical, ContentAddress, Map, Profile, Value};
use crate::grain::Grain;

/// Returns text in NFC without byte-order marks, which no grain may hold (OMS 4.4); the residual
/// keeps them.
pub(crate) fn normalize_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    nfc_parts(text).concat()
}

/// Returns the text as [`normalize_text`] does, and most texts as they are.
pub(crate) fn normalized_text(text: String) -> String {
    match text.is_ascii() {
        true => text,
        false => normalize_text(&text),
    }
}

/// Returns a value as [`normalize_value`] does, and most values as they are.
pub(crate) fn normalized(value: Value) -> Value {
    match is_normal(&value, DEPTH_MAX) {
        true => value,
        false => normalize_value(&value),
    }
}

/// Returns whether normalising changes nothing, as far as that is seen at a glance.
fn is_normal(value: &Value, depth_left: usize) -> bool {
    let Some(below) = depth_left.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Text(text) => text.is_ascii(),
        Value::Array(items) => items.iter().all(|item| is_normal(item, below)),
        Value::Map(map) => {
            let mut members = map.iter();
            members.all(|(name, value)| name.is_ascii() && is_normal(value, below))
        }
        _ => true,
    }
}

/// Returns a value that a grain can hold. JSON text stands for a value that is nested deeper than
/// every profile allows, or has two names that become one.
pub(crate) fn normalize_value(value: &Value) -> Value {
    clean(value, DEPTH_MAX).unwrap_or_else(|| Value::Text(ascii_json(value)))
}

fn clean(value: &Value, depth_left: usize) -> Option<Value> {
    let below = depth_left.checked_sub(1)?;
    Some(match value {
        Value::Text(text) => Value::Text(normalize_text(text)),
        Value::Array(items) => {
            let items = items.iter().map(|item| clean(item, below));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Value::Map(map) => {
            let pairs = map
                .iter()
                .map(|(name, value)| Some((normalize_text(name), clean(value, below)?)));
            Value::Map(Map::from_pairs(pairs.collect::<Option<_>>()?).ok()?)
        }
        flat => flat.clone(),
    })
}

/// Returns JSON in ASCII, which no rule of grains about text can change.
///
/// Members come in the order of their names: the parsed value does not keep another.
pub(crate) fn ascii_json(value: &impl Serialize) -> String {
    // Serialising to a string fails only for keys that are not text, and ours all are.
    to_ascii(serde_json::to_string(value).unwrap_or_default())
}

/// Returns JSON as [`ascii_json`] does.
pub(crate) fn to_ascii(json: String) -> String {
    if json.is_ascii() {
        return json;
    }
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
            continue;
        }
        // Outside strings JSON is ASCII, so every other character may be escaped.
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}

/// Returns `sha256:` and the digest in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    format!("sha256:{}", data_encoding::HEXLOWER.encode(&digest))
}

/// Returns a foreign tag in the form that a grain holds; `None` if nothing is left of it.
///
/// OMS 13.2 gives tags like `phi:x` a meaning, which a foreign tag must not gain.
pub(crate) fn normalize_tag(tag: &str) -> Option<String> {
    let tag = normalize_text(tag);
    match tag.as_str() {
        "" => None,
        text if text.contains(':') => Some(format!("t:{text}")),
        _ => Some(tag),
    }
}

/// Returns `prefix:name`, or the prefix alone for free text; the residual has the text.
pub(crate) fn relation_name(prefix: &str, name: &str) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if (1..=64).contains(&name.len()) && name.bytes().all(is_name) {
        format!("{prefix}:{name}")
    } else {
        prefix.to_owned()
    }
}

/// Returns text as the object of a Belief, which must not be empty (OMS 8.1); the residual has the
/// original.
pub(crate) fn object_of(text: &str) -> Value {
    let text = normalize_text(text);
    if text.is_empty() {
        Value::Map([("x-empty", true)].into_iter().collect())
    } else {
        Value::Text(text)
    }
}

/// Returns the context that carries a residual.
pub(crate) fn context_of(name: &str, record: &impl Serialize) -> Map {
    [(name, ascii_json(record))].into_iter().collect()
}

/// A record without the member that its grain holds with the same text.
pub(crate) struct Rest<'a> {
    record: &'a Map,
    without: Option<&'a str>,
}

impl<'a> Rest<'a> {
    pub(crate) fn of(record: &'a Map, name: &'a str, normalize_text: &str) -> Self {
        let without = Some(name).filter(|_| is_carried(record, name, normalize_text));
        Self { record, without }
    }
}

impl Serialize for Rest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        for (name, value) in self.record.iter() {
            if self.without != Some(name) {
                members.serialize_entry(name, value)?;
            }
        }
        members.end()
    }
}

pub(crate) fn is_carried(record: &Map, name: &str, normalize_text: &str) -> bool {
    // Empty text is no field of a grain.
    !normalize_text.is_empty() && record.get(name).and_then(Value::as_text) == Some(normalize_text)
}

/// Returns the JSON that a member of a grain's context carries.
pub(crate) fn residual_json(grain: &Grain, member: &str) -> Option<Value> {
    let context = grain.field("context")?.as_map()?;
    Value::from_json(context.get(member)?.as_text()?).ok()
}

/// Returns a link of OMS 14.3 to another grain.
pub(crate) fn link(to: ContentAddress, kind: &str) -> Value {
    let link = [("hash", to.to_string()), ("relation_type", kind.to_owned())];
    Value::Map(link.into_iter().collect())
}

/// Returns the parts between byte-order marks, each in NFC.
pub(crate) fn nfc_parts(text: &str) -> Vec<String> {
    text.split('\u{feff}').map(nfc).collect()
}

fn nfc(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let map = [("text", text)].into_iter().collect();
    let canonical = Canonical::new(map, Profile::Extended).ok();
    match canonical.and_then(|map| map.into_map().remove("text")) {
        Some(Value::Text(text)) => text,
        // Only a byte-order mark is refused, and there is none in a part.
        _ => text.to_owned(),
    }
}

/// Tool input stands four levels deep in a grain that the Standard profile holds to 16.
const DEPTH_MAX: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_residual_is_ascii_and_says_the_same() {
        let value = Value::from("\u{feff}Zoë 😀 \u{7f}\"\\");
        let json = ascii_json(&value);
        assert!(json.is_ascii() && json.contains("\\ufeff") && json.contains("\\ud83d\\ude00"));
        assert_eq!(Value::from_json(&json).unwrap(), value);
    }

    #[test]
    fn a_value_too_deep_for_a_grain_is_carried_as_json() {
        let deep = |levels: usize| {
            Value::from_json(&format!("{}1{}", "[".repeat(levels), "]".repeat(levels))).unwrap()
        };
        assert_eq!(normalize_value(&deep(11)), deep(11));
        assert_eq!(normalize_value(&deep(12)), Value::from(deep(12).to_json()));
        for value in [deep(11), deep(12), "Zoe\u{308}".into(), "plain".into()] {
            assert_eq!(normalized(value.clone()), normalize_value(&value));
        }
        let twins = Value::from_json("{\"a\": 1, \"\u{feff}a\": 2}").unwrap();
        assert!(normalize_value(&twins).as_text().is_some());
    }
}

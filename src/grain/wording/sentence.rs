//! The content of a grain in one sentence for a reader: without tags, hashes and the names of formats.

use std::borrow::Cow;

use crate::codec::{Map, Value};

use super::SEARCHABLE_FIELDS;
use super::searchable_text::{NOT_WORDS, humanise, push_words};
use crate::grain::{Grain, Type};

pub(in crate::grain) fn sentence(grain: &Grain) -> String {
    let text = |name: &str| grain.text(name).map(Cow::Borrowed);
    let whole = match grain.type_() {
        Type::Event => message_text(grain),
        // Of an imported conversation its title.
        Type::State if is_record(grain) => grain
            .field("context")
            .and_then(Value::as_map)
            .and_then(|context| context.get("title")?.as_text())
            .map(Cow::Borrowed),
        _ if is_record(grain) => text("object"),
        _ => None,
    };
    if let Some(whole) = whole.filter(|text| !text.trim().is_empty()) {
        return whole.into_owned();
    }
    if grain.is_encrypted() || grain.type_() == Type::Consent {
        return grain.summary();
    }
    let is_state = grain.type_() == Type::State;
    let mut line = String::with_capacity(LINE_ROOM);
    for name in SEARCHABLE_FIELDS {
        let Some(value) = grain.field(name).filter(|_| !UNSAID.contains(name)) else {
            continue;
        };
        match *name {
            // Of every state it is that something was so.
            "relation" if is_state => {}
            "relation" => {
                let mut words = String::new();
                humanise(value, &mut words);
                push_words(&mut line, &words);
            }
            "context" if !is_state => {}
            _ => match value {
                Value::Text(text) if !is_hash(text) => push_words(&mut line, text),
                _ => push_words(&mut line, &said(value)),
            },
        }
    }
    line
}

pub(in crate::grain) fn message_text(grain: &Grain) -> Option<Cow<'_, str>> {
    if grain.type_() != Type::Event {
        return None;
    }
    let blocks: Vec<&str> = text_blocks(grain).collect();
    match *blocks {
        [] => grain.text("content").map(Cow::Borrowed),
        [only] => Some(Cow::Borrowed(only)),
        ref several => Some(Cow::Owned(several.join("\n"))),
    }
}

/// Returns the texts of the text blocks of an Event, but for blank ones.
pub(super) fn text_blocks(grain: &Grain) -> impl Iterator<Item = &str> {
    let blocks = match grain.type_() {
        Type::Event => grain.field("content_blocks").and_then(Value::as_array),
        _ => None,
    };
    let blocks = blocks.unwrap_or_default().iter().filter_map(Value::as_map);
    let of_text = |block: &&Map| block.get("type").and_then(Value::as_text) == Some("text");
    let texts = blocks.filter(of_text);
    let texts = texts.filter_map(|block| block.get("text")?.as_text());
    texts.filter(|text| !text.trim().is_empty())
}

pub(in crate::grain) fn is_record(grain: &Grain) -> bool {
    let context = grain.field("context").and_then(Value::as_map);
    context.is_some_and(|context| RECORDS.iter().any(|name| context.contains(name)))
}

/// Returns every value inside a value, those of a map with their names.
fn said(value: &Value) -> String {
    match value {
        Value::Nil => String::new(),
        Value::Text(text) if is_hash(text) => String::new(),
        Value::Text(text) => text.trim().to_owned(),
        Value::Array(items) => listed(items.iter().map(said)),
        Value::Map(map) => listed(members(map)),
        other => other.to_json(),
    }
}

fn members(map: &Map) -> impl Iterator<Item = String> {
    let named = |name: &&str| !NOT_WORDS.contains(name) && !name.starts_with("x-");
    let members = map.iter().filter(move |(name, _)| named(name));
    members.map(|(name, value)| match said(value) {
        said if said.is_empty() || IMPLIED.contains(&name) => said,
        said => format!("{} {said}", name.replace('_', " ")),
    })
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// Returns whether a text is a content address or another hash, and nothing else.
fn is_hash(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The bytes of most sentences.
pub(super) const LINE_ROOM: usize = 256;

/// Searchable fields that say nothing, or again what others say.
const UNSAID: [&str; 2] = ["structural_tags", "embedding_text"];

/// Members whose names say nothing beside their values.
const IMPLIED: [&str; 5] = ["what", "name", "text", "thinking", "content"];

/// The members of a context that hold a record of another format.
const RECORDS: [&str; 3] = ["x-aimem", "x-omi", "x-pam"];

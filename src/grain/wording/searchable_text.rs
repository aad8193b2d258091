//! The text of a grain: the fields that full-text search reads, and a summary for people.

use std::borrow::Cow;

use crate::codec::Value;
use crate::grain::{Grain, Type};

use super::sentence::{LINE_ROOM, text_blocks};

pub(in crate::grain) fn searchable_text(grain: &Grain) -> Vec<(&'static str, String)> {
    let mut parts = Vec::new();
    each_part(grain, |name, words| parts.push((name, words.into_owned())));
    parts
}

/// Passes on each field that has words, with its words.
fn each_part<'g>(grain: &'g Grain, mut take: impl FnMut(&'static str, Cow<'g, str>)) {
    // OMS 6.2: blocks take precedence, and the content is a fallback for other readers.
    let has_blocks = text_blocks(grain).next().is_some();
    let is_passed = |name: &str| name == "context" || (has_blocks && name == "content");
    for name in SEARCHABLE_FIELDS.iter().filter(|name| !is_passed(name)) {
        let words = match grain.field(name) {
            None => continue,
            Some(value) if *name == "relation" => {
                let mut words = String::new();
                humanise(value, &mut words);
                words.into()
            }
            Some(Value::Text(text)) => Cow::from(text),
            Some(value) => {
                let mut words = String::new();
                gather(value, &mut words);
                words.into()
            }
        };
        if !words.is_empty() {
            take(name, words);
        }
    }
    // A State is its context; on other types the context is metadata.
    if grain.type_() == Type::State
        && let Some(context) = grain.field("context").and_then(Value::as_map)
    {
        let mut words = String::new();
        for (_, value) in context.iter().filter(|(name, _)| !name.starts_with("x-")) {
            gather(value, &mut words);
        }
        take("context", words.into());
    }
}

pub(in crate::grain) fn summary(grain: &Grain) -> String {
    if grain.is_encrypted() {
        return "(encrypted)".to_owned();
    }
    if grain.type_() == Type::Consent {
        return consented(grain);
    }
    let mut line = String::with_capacity(LINE_ROOM);
    each_part(grain, |_, words| push_words(&mut line, &words));
    line
}

/// A Consent has no words of its own: who lets whom do what.
fn consented(grain: &Grain) -> String {
    let withdraws = grain.field("is_withdrawal").and_then(Value::as_bool) == Some(true);
    let verb = if withdraws { "no longer lets" } else { "lets" };
    let party = |name| grain.text(name).unwrap_or("somebody");
    let scope = grain.field("scope").into_iter().flat_map(Value::texts);
    let scope: Vec<_> = scope.collect();
    let (subject, grantee) = (party("subject_did"), party("grantee_did"));
    format!("{subject} {verb} {grantee} {}", scope.join(", "))
}

/// `mg:delegates_to` reads as "delegates to".
pub(super) fn humanise(relation: &Value, words: &mut String) {
    if let Some(text) = relation.as_text() {
        let text = text.strip_prefix("mg:").unwrap_or(text);
        words.extend(
            text.chars()
                .map(|c| if matches!(c, '_' | ':') { ' ' } else { c }),
        );
    }
}

/// Adds the words of a text to a line, each after a space.
pub(super) fn push_words(line: &mut String, text: &str) {
    let mut add = |words: &str| {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(words);
    };
    // Most text is of such words already, and bytes are looked at faster than characters.
    let bytes = text.as_bytes();
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    let is_apart = pairs.fold(true, |is, (one, next)| {
        is & ((*one != b' ') | (*next != b' '))
    });
    let ends = [bytes.first(), bytes.last()];
    let has_ends = ends.iter().all(|end| end.is_some_and(|byte| *byte != b' '));
    if is_apart && has_ends && is_printable(text) {
        add(text);
        return;
    }
    text.split_whitespace().for_each(add);
}

/// Returns whether a text is of printable ASCII and spaces alone. All of it is looked at, several bytes
/// at once: most text is.
pub(crate) fn is_printable(text: &str) -> bool {
    text.bytes()
        .fold(true, |is, byte| is & matches!(byte, b' '..=b'~'))
}

/// Adds every text inside a value, in order.
fn gather(value: &Value, words: &mut String) {
    match value {
        Value::Text(text) => {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(text);
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, words)),
        Value::Map(map) => map
            .iter()
            .filter(|(name, _)| !NOT_WORDS.contains(name))
            .for_each(|(_, value)| gather(value, words)),
        _ => {}
    }
}

/// The fields with words in them, in the order in which they are read; identifiers, addresses,
/// times and schemas are not words. New ones come last: an index refers to them by their place.
pub const SEARCHABLE_FIELDS: &[&str] = &[
    "subject",
    "relation",
    "object",
    "content",
    "content_blocks",
    "description",
    "criteria",
    "state_reason",
    "expected_output",
    "trigger",
    "steps",
    "plan",
    "tool_name",
    "tool_description",
    "input",
    "code",
    "stdout",
    "stderr",
    "error",
    "conclusion",
    "thinking_content",
    "alternatives_considered",
    "agreed_content",
    "invalidation_reason",
    "embedding_text",
    "structural_tags",
    "context",
];

/// Members of content blocks and tool inputs that identify rather than say.
pub(super) const NOT_WORDS: &[&str] = &["type", "id", "tool_use_id", "source"];

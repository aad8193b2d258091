//! Stored text as a model and a person see it: characters that hide or reorder text by their numbers.

use grainstore::render::escaped;
use serde_json::{Map, Value};

/// Returns a text of several lines and columns, which stay what they are.
pub(super) fn lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let cells: Vec<_> = line.split('\t').map(escaped).collect();
        cells.join("\t")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a document whose texts and names are shown in this way: what is structured is read by a
/// model too.
pub(super) fn document(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(lines(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(document).collect()),
        Value::Object(members) => Value::Object(self::members(members)),
        other => other,
    }
}

/// Returns the members of an object in this way.
pub(super) fn members(members: Map<String, Value>) -> Map<String, Value> {
    let shown = members.into_iter();
    shown
        .map(|(name, value)| (lines(&name), document(value)))
        .collect()
}

/// Returns a text in quotes that it cannot end.
pub(super) fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_lines_and_columns_stay() {
        let told = json!({ "a\u{e0041}": ["b\u{202e}c\n\td", 1, null] });
        assert_eq!(
            document(told),
            json!({ "a\\u{E0041}": ["b\\u{202E}c\n\td", 1, null] })
        );
    }

    #[test]
    fn a_quoted_text_does_not_end_its_quotes() {
        assert_eq!(quoted("a\" (kept)\\"), "\"a\\\" (kept)\\\\\"");
    }
}

//! Grok: the projects and media posts beside its conversations.

use crate::codec::{Map, Value};

use super::conversation::{rest, text};
use super::fact::{Fact, titled};
use super::grok::moment;

/// Reads an element of one of the arrays of facts; `None` without content.
pub(super) fn fact(array: &str, map: &Map) -> Option<Fact> {
    match array {
        "projects" => project(map),
        _ => media_post(map),
    }
}

/// Returns the members of an export that are not read, with their places; arrays that are read are
/// empty.
pub(super) fn unread(export: &Map) -> Vec<(String, String)> {
    let mut unread = Vec::new();
    for (name, value) in export.iter().filter(|(_, value)| !is_nothing(value)) {
        let items = value.as_array().unwrap_or_default();
        let message = match items.len() {
            0 => format!("{name} is not read"),
            count => format!("{count} records of {name} are not read"),
        };
        unread.push((format!("/{name}"), message));
    }
    unread
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        value => *value == Value::Nil,
    }
}

fn project(map: &Map) -> Option<Fact> {
    let id = text(map, "workspace_id")?.to_owned();
    let mut fact = Fact::new(id, "project", &titled(map, "name", "custom_personality"))?;
    let placed = ["workspace_id", "name", "custom_personality", "create_time"];
    fact.created_at = map.get("create_time").and_then(moment);
    fact.raw = rest(map, &placed);
    Some(fact)
}

fn media_post(map: &Map) -> Option<Fact> {
    let id = text(map, "id")?.to_owned();
    let mut fact = Fact::new(id, "context", text(map, "original_prompt")?)?;
    fact.created_at = map.get("create_time").and_then(moment);
    fact.raw = rest(map, &["id", "original_prompt", "create_time"]);
    Some(fact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_named() {
        let export = Value::from_json(
            r#"{"conversations": [], "tasks": [1, 2], "new": {"a": 1}, "none": []}"#,
        );
        let Ok(Value::Map(export)) = export else {
            unreachable!()
        };
        let skipped = unread(&export);
        let expected = [
            ("/new", "new is not read"),
            ("/tasks", "2 records of tasks are not read"),
        ];
        let expected = expected.map(|(at, message)| (at.to_owned(), message.to_owned()));
        assert_eq!(skipped, expected);
    }
}

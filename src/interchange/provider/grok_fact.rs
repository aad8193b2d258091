//! Grok: the projects and media posts beside its conversations.

use crate::codec::{Map, Value};

use super::fact::{Fact, titled};
use super::grok::moment;
use super::talk::{rest, text};

/// Reads what stands beside conversations; returns what is not read, with its place.
pub(super) fn facts(export: &Map, facts: &mut Vec<Fact>) -> Vec<(String, String)> {
    let mut skipped = Vec::new();
    for (name, value) in export.iter() {
        let items = value.as_array().unwrap_or_default();
        let read: fn(&Map) -> Option<Fact> = match name {
            "conversations" => continue,
            "projects" => project,
            "media_posts" => media_post,
            _ if is_nothing(value) => continue,
            _ => {
                let message = match items.len() {
                    0 => format!("{name} is not read"),
                    count => format!("{count} records of {name} are not read"),
                };
                skipped.push((format!("/{name}"), message));
                continue;
            }
        };
        for (index, item) in items.iter().enumerate() {
            match item.as_map().and_then(read) {
                Some(fact) => facts.push(fact),
                None => {
                    let message = "says nothing that a memory could".to_owned();
                    skipped.push((format!("/{name}/{index}"), message));
                }
            }
        }
    }
    skipped
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
        let skipped = facts(&export, &mut Vec::new());
        let expected = [
            ("/new", "new is not read"),
            ("/tasks", "2 records of tasks are not read"),
        ];
        let expected = expected.map(|(at, message)| (at.to_owned(), message.to_owned()));
        assert_eq!(skipped, expected);
    }
}

//! JSON, YAML and triples: the same members for each grain, as values.

use serde_json::{Map, Value};

use super::item::{Item, Shown};
use crate::time::whole;

fn object(item: &Item) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("type".into(), item.kind.singular().into());
    object.insert("content".into(), item.text.as_str().into());
    for (name, value) in &item.attributes {
        // The type of a reasoning beside that of the grain.
        let name = match name.as_str() {
            "type" => "reasoning_type",
            name => name,
        };
        let value = match value {
            Shown::Text(text) => text.as_str().into(),
            Shown::Number(n) => whole(*n).into(),
            Shown::Share(n) => (*n).into(),
        };
        object.insert(name.to_owned(), value);
    }
    object
}

/// Returns an array of objects, one on each line.
pub(super) fn json(groups: &[Vec<Item>]) -> String {
    let rows = groups.iter().flatten();
    let rows: Vec<String> = rows
        .map(|item| Value::Object(object(item)).to_string())
        .collect();
    match rows.is_empty() {
        true => "[]\n".to_owned(),
        false => format!("[\n{}\n]\n", rows.join(",\n")),
    }
}

/// Returns a list of maps; every text is quoted, as JSON is YAML.
pub(super) fn yaml(groups: &[Vec<Item>]) -> String {
    let mut text = String::new();
    for item in groups.iter().flatten() {
        for (n, (name, value)) in object(item).iter().enumerate() {
            let start = if n == 0 { "- " } else { "  " };
            let name = Value::from(name.as_str());
            text.push_str(&format!("{start}{name}: {value}\n"));
        }
    }
    if text.is_empty() {
        return "[]\n".to_owned();
    }
    text
}

/// Returns a statement on each line.
pub(super) fn triples(groups: &[Vec<Item>]) -> String {
    let lines = groups.iter().flatten().map(|item| triple(item) + "\n");
    lines.collect()
}

/// Returns subject, relation and object; of another grain its first attribute, its type and its text.
pub(super) fn triple(item: &Item) -> String {
    if let (Some(subject), Some((relation, object))) = (item.attribute("subject"), &item.said) {
        let parts = [subject, relation.clone(), object.clone()];
        return parts.map(|part| Value::from(part).to_string()).join(" ");
    }
    let first = item.attributes.first().map(|(_, value)| value.to_string());
    let subject = item.attribute("subject").or(first).unwrap_or_default();
    let parts = [subject, item.kind.singular().to_owned(), item.text.clone()];
    parts.map(|part| Value::from(part).to_string()).join(" ")
}

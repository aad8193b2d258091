//! TOON 3.0: a table for each type.

use super::Head;
use super::item::{Item, Shown, columns as attributes};

/// Returns the tables; below the members of a head for a context.
pub(super) fn written(groups: &[Vec<Item>], head: Option<&Head>) -> String {
    let mut text = String::new();
    let indent = match head {
        Some(_) => "  ",
        // Several types have no one array: each is a member of an object (ruling A8).
        None if groups.len() > 1 => "  ",
        None => "",
    };
    if let Some(head) = head {
        for (name, value) in [("context", &head.name), ("intent", &head.intent)] {
            if let Some(value) = value {
                text.push_str(&format!("{name}: {}\n", cell(value)));
            }
        }
        if let Some([used, total]) = head.tokens {
            text.push_str(&format!("tokens: {used}/{total}\n"));
        }
    }
    for group in groups {
        let Some(first) = group.first() else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        let columns = columns(group);
        let names: Vec<String> = columns.iter().map(|name| key(name)).collect();
        let plural = first.kind.plural();
        text.push_str(&format!(
            "{plural}[{}]{{{}}}:\n",
            group.len(),
            names.join(",")
        ));
        for item in group {
            text.push_str(&format!("{indent}{}\n", row(item, &columns)));
        }
    }
    text
}

/// Returns the columns of a group: those of its type that a row has, in the order of the
/// specification, then others.
pub(super) fn columns(group: &[Item]) -> Vec<String> {
    let has = |name: &str| {
        let mut all = group.iter().flat_map(|item| &item.attributes);
        all.any(|(known, _)| known == name)
    };
    let known = group
        .first()
        .map(|item| attributes(item.kind))
        .unwrap_or_default();
    let mut columns: Vec<String> = Vec::new();
    for (name, _) in known.iter().filter(|(name, _)| has(name)) {
        columns.push((*name).to_owned());
    }
    // The subject stands before the text of a belief and a goal, and all attributes before others.
    let is_about = matches!(columns.first().map(String::as_str), Some("subject"));
    let at = if is_about { 1 } else { columns.len() };
    columns.insert(at, "content".to_owned());
    for (name, _) in group.iter().flat_map(|item| &item.attributes) {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    columns
}

pub(super) fn row(item: &Item, columns: &[String]) -> String {
    let cells = columns.iter().map(|column| match column.as_str() {
        "content" => cell(&item.text),
        name => {
            let value = item.attributes.iter().find(|(known, _)| known == name);
            match value.map(|(_, value)| value) {
                Some(Shown::Text(text)) => cell(text),
                Some(Shown::Number(n) | Shown::Share(n)) => n.to_string(),
                None => "null".to_owned(),
            }
        }
    });
    cells.collect::<Vec<String>>().join(",")
}

/// Returns a text, in quotes where it could be read as something else.
fn cell(text: &str) -> String {
    let is_special =
        |c: char| matches!(c, ',' | ':' | '"' | '\\' | '[' | ']' | '{' | '}') || c.is_control();
    let is_quoted = text.is_empty()
        || text.trim() != text
        || text.contains(is_special)
        || matches!(text, "true" | "false" | "null")
        || text.starts_with('-')
        || text.parse::<f64>().is_ok();
    if !is_quoted {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns the name of a column, in quotes where TOON asks for them.
fn key(name: &str) -> String {
    let is_plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    match is_plain && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => name.to_owned(),
        false => format!("\"{name}\""),
    }
}

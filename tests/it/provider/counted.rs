//! Nothing of a file falls away in silence: where a change of it brings fewer records, more is counted as a
//! loss, or the file is refused.

use std::path::PathBuf;

use grainstore::interchange::Loss;

use super::*;
use crate::interchange_vectors::valid;

/// The records of a file and its losses; `None` if it is refused.
fn counts(path: &Path, format: Format) -> Option<(u64, Loss)> {
    let file = ImportFile::open(path, Some(format), &ReadOptions::default()).ok()?;
    file.errors
        .is_empty()
        .then(|| (file.records.len(), file.loss))
}

/// Whether something is lost more often.
fn is_more(loss: &Loss, than: &Loss) -> bool {
    let before = |name| {
        than.iter()
            .find(|(it, _)| *it == name)
            .map_or(0, |(_, count)| count)
    };
    loss.iter().any(|(name, count)| count > before(name))
}

/// The changes of a value: each object in it becomes a number, and each id another member.
fn changes(value: &Value, kept: &[&str]) -> Vec<Value> {
    let mut changed = Vec::new();
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                for new in own_changes(item, kept) {
                    let mut items = items.clone();
                    items[at] = new;
                    changed.push(Value::Array(items));
                }
            }
        }
        Value::Map(map) => {
            for (name, member) in map.iter().filter(|(name, _)| !kept.contains(name)) {
                for new in own_changes(member, kept) {
                    let mut map = map.clone();
                    map.insert(name, new);
                    changed.push(Value::Map(map));
                }
                if ["id", "uuid", "_id", "messageId", "role", "sender"].contains(&name) {
                    let mut map = map.clone();
                    let member = map.remove(name).unwrap();
                    map.insert(format!("{name}-of-another-kind"), member);
                    changed.push(Value::Map(map));
                }
            }
        }
        _ => {}
    }
    changed
}

fn own_changes(value: &Value, kept: &[&str]) -> Vec<Value> {
    let mut changed = changes(value, kept);
    if value.as_map().is_some() {
        changed.push(Value::from(7_i64));
    }
    changed
}

/// The texts of a file of which one value is changed.
fn texts(path: &Path, kept: &[&str]) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Vec::new();
    };
    if let Ok(value) = Value::from_json(&text) {
        return own_changes(&value, kept)
            .iter()
            .map(Value::to_json)
            .collect();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut texts = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Ok(value) = Value::from_json(line) else {
            continue;
        };
        for new in own_changes(&value, kept) {
            let new = new.to_json();
            let mut lines = lines.clone();
            lines[at] = &new;
            texts.push(lines.join("\n"));
        }
    }
    texts
}

#[test]
fn where_a_changed_file_brings_fewer_records_more_is_counted() {
    let mut silent = Vec::new();
    for format in Format::all().filter(|it| !WHOLE.contains(&it.name())) {
        for path in valid(format).into_iter().flat_map(files) {
            let Some((records, lost)) = counts(&path, format) else {
                continue;
            };
            let folder = tempfile::tempdir().unwrap();
            let copy = folder.path().join(path.file_name().unwrap());
            let kept = match format {
                Format::Provider(_) => KEPT,
                _ => &[],
            };
            for text in texts(&path, kept) {
                std::fs::write(&copy, &text).unwrap();
                let found = counts(&copy, format);
                if let Some((now, loss)) = &found
                    && *now < records
                    && !is_more(loss, &lost)
                {
                    let path = path.file_name().unwrap().display();
                    silent.push(format!("{format} {path} {records} {now}: {text}"));
                }
            }
        }
    }
    assert!(
        silent.is_empty(),
        "{} in silence:\n{}",
        silent.len(),
        silent.join("\n")
    );
}

/// The members of messages of providers that stay in raw metadata as they are.
const KEPT: &[&str] = &["content", "details", "fragments", "safeHtmlItem"];

/// Formats whose files are valid as a whole or refused.
const WHOLE: [&str; 10] = [
    "aimem",
    "aimem-ndjson",
    "jsonl",
    "markdown",
    "mg",
    "omi",
    "omi-jsonl",
    "pam",
    "pam-conversation",
    "pam-embeddings",
];

fn files(path: PathBuf) -> Vec<PathBuf> {
    match path.is_dir() {
        false => vec![path],
        true => {
            let entries = std::fs::read_dir(path).unwrap();
            entries
                .map(|it| it.unwrap().path())
                .filter(|it| it.is_file())
                .collect()
        }
    }
}

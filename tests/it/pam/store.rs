//! Stores to import, and their members by path.

use std::fs;
use std::path::{Path, PathBuf};

use crate::whole::{Import, pam};
use grainstore::codec::{Map, Value};
use grainstore::interchange::{Error, ReadOptions, Record};
use sha2::Digest as _;
use unicode_normalization::UnicodeNormalization as _;

pub(super) fn memories(import: &Import) -> impl Iterator<Item = &Record> {
    let is_memory = |record: &&Record| {
        record
            .foreign_id
            .as_ref()
            .is_some_and(|id| id.format() == "pam")
    };
    import.records.iter().filter(is_memory)
}

pub(super) fn by_id<'a>(import: &'a Import, id: &str) -> &'a Record {
    memories(import)
        .find(|record| record.foreign_id.as_ref().unwrap().id() == id)
        .unwrap()
}

pub(super) fn sample() -> Import {
    pam::read(&data(), &ReadOptions::default()).unwrap()
}

pub(super) fn import(store: &Map) -> Import {
    let json = Value::Map(store.clone()).to_json();
    pam::read_bytes(json.as_bytes(), &ReadOptions::default()).unwrap()
}

pub(super) fn with_conversation(conversation: &Map) -> Import {
    with_conversation_file(&Value::Map(conversation.clone()))
}

pub(super) fn with_conversation_file(conversation: &Value) -> Import {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("c.json"), conversation.to_json()).unwrap();
    let mut store = small(&[("a", "one")]);
    set(&mut store, "conversations_index", vec![entry("c.json")]);
    fs::write(
        folder.path().join("memory-store.json"),
        Value::Map(store).to_json(),
    )
    .unwrap();
    pam::read(folder.path(), &ReadOptions::default()).unwrap()
}

pub(super) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam")
}

pub(super) fn store() -> Map {
    json(&data().join("memory-store.json"))
}

pub(super) fn json(path: &Path) -> Map {
    match Value::from_json(&fs::read_to_string(path).unwrap()).unwrap() {
        Value::Map(map) => map,
        other => unreachable!("{other:?}"),
    }
}

pub(crate) fn small(memories: &[(&str, &str)]) -> Map {
    let memories = memories.iter().map(|(id, content)| {
        let mut memory = Map::new();
        memory.insert("id", *id);
        memory.insert("type", "fact");
        memory.insert("content", *content);
        memory.insert("content_hash", hash(content));
        set(&mut memory, "temporal/created_at", NOW);
        set(&mut memory, "provenance/platform", "local");
        Value::Map(memory)
    });
    let memories: Vec<Value> = memories.collect();
    let mut store = Map::new();
    store.insert("schema", "portable-ai-memory");
    store.insert("schema_version", "1.0");
    store.insert("memories", memories);
    set(&mut store, "owner/id", "o");
    store
}

pub(super) fn entry(reference: &str) -> Value {
    let mut entry = Map::new();
    entry.insert("id", "conv");
    entry.insert("platform", "local");
    set(&mut entry, "temporal/created_at", NOW);
    set(&mut entry, "storage/type", "file");
    set(&mut entry, "storage/ref", reference);
    Value::Map(entry)
}

pub(super) fn conversation(messages: &[(&str, Option<&str>)]) -> Map {
    let messages = messages.iter().map(|(id, parent)| {
        let mut message = Map::new();
        message.insert("id", *id);
        message.insert("role", "user");
        message.insert("created_at", NOW);
        message.insert("parent_id", parent.map_or(Value::Nil, Value::from));
        set(&mut message, "content/type", "text");
        set(&mut message, "content/text", "hello");
        set(&mut message, "tool_calls", Vec::<Value>::new());
        Value::Map(message)
    });
    let messages: Vec<Value> = messages.collect();
    let mut conversation = Map::new();
    conversation.insert("schema", "portable-ai-memory-conversation");
    conversation.insert("schema_version", "1.0");
    conversation.insert("id", "conv");
    conversation.insert("messages", messages);
    set(&mut conversation, "provider/name", "local");
    set(&mut conversation, "temporal/created_at", NOW);
    conversation
}

/// The program of PAM Appendix C.
pub(super) fn hash(content: &str) -> String {
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let lower: String = content
        .trim_matches(is_space)
        .to_lowercase()
        .nfc()
        .collect();
    let words: Vec<&str> = lower
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    let digest = sha2::Sha256::digest(words.join(" "));
    format!("sha256:{}", data_encoding::HEXLOWER.encode(&digest))
}

pub(super) fn codes(errors: &[Error]) -> Vec<&'static str> {
    errors.iter().map(|error| error.code().as_str()).collect()
}

pub(super) fn get<'a>(map: &'a Map, path: &str) -> &'a Value {
    let (name, rest) = path
        .split_once('/')
        .map_or((path, None), |(name, rest)| (name, Some(rest)));
    let value = map.get(name).unwrap();
    match (rest, value) {
        (None, value) => value,
        (Some(rest), Value::Map(map)) => get(map, rest),
        (Some(rest), Value::Array(items)) => {
            let (index, rest) = rest
                .split_once('/')
                .map_or((rest, None), |(index, rest)| (index, Some(rest)));
            let item = &items[index.parse::<usize>().unwrap()];
            rest.map_or(item, |rest| get(item.as_map().unwrap(), rest))
        }
        _ => unreachable!("{path}"),
    }
}

pub(super) fn set(map: &mut Map, path: &str, value: impl Into<Value>) {
    edit(map, path, Some(value.into()));
}

pub(super) fn remove(map: &mut Map, path: &str) {
    edit(map, path, None);
}

/// Sets the member before `=` to the JSON after it, or removes it when there is none.
pub(super) fn apply(map: &mut Map, change: &str) {
    match change.split_once('=') {
        Some((path, json)) => set(map, path, Value::from_json(json).unwrap()),
        None => remove(map, change),
    }
}

/// Sets or removes a member, making the maps and elements on the way to it.
fn edit(map: &mut Map, path: &str, value: Option<Value>) {
    let Some((name, rest)) = path.split_once('/') else {
        match value {
            Some(value) => drop(map.insert(path, value)),
            None => drop(map.remove(path)),
        }
        return;
    };
    if map.get(name).is_none_or(|value| *value == Value::Nil) {
        map.insert(name, Map::new());
    }
    match map.get_mut(name).unwrap() {
        Value::Map(inner) => edit(inner, rest, value),
        Value::Array(items) => {
            let (index, rest) = rest
                .split_once('/')
                .map_or((rest, None), |(index, rest)| (index, Some(rest)));
            let index: usize = index.parse().unwrap();
            if items.len() == index {
                items.push(Value::Map([("name", "tool")].into_iter().collect()));
            }
            match (rest, &mut items[index]) {
                (None, slot) => *slot = value.unwrap(),
                (Some(rest), Value::Map(inner)) => edit(inner, rest, value),
                _ => unreachable!("{path}"),
            }
        }
        _ => unreachable!("{path}"),
    }
}

pub(super) const NOW: &str = "2026-01-01T00:00:00Z";

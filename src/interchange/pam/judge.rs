//! The rules of PAM that no schema can express, and that no grain depends on.

use std::collections::HashSet;

use crate::codec::{Map, Value};
use crate::interchange::moment::date_time;
use crate::interchange::{Error, Place};

use super::document::Document;
use super::object::{Object, fault};
use super::shapes::CONVERSATION;
use super::storage::check;
use super::{Options, code};

/// Passes on what is minded: as errors where a file is held to every rule, else as findings.
///
/// What an error tells already about the same place is not told twice.
pub(super) fn mind(
    minded: Vec<Error>,
    options: &Options,
    faults: &mut Vec<Error>,
    findings: &mut Vec<Error>,
) {
    let told = faults.iter().chain(&*findings);
    let mut told: HashSet<Place> = told.map(|error| error.place().clone()).collect();
    let new = minded
        .into_iter()
        .filter(|error| told.insert(error.place().clone()));
    if options.is_strict {
        faults.extend(new);
    } else {
        findings.extend(new);
    }
}

/// Judges what one member of a store asks of another (PAM 5, 18).
pub(super) fn conditions(root: &Map, minded: &mut Vec<Error>) {
    let memories = root.get("memories").and_then(Value::as_array);
    for (index, memory) in memories.into_iter().flatten().enumerate() {
        let Some(memory) = memory.as_map() else {
            continue;
        };
        let is_custom = memory.get("type").and_then(Value::as_text) == Some("custom");
        let is_named = memory
            .get("custom_type")
            .is_some_and(|name| *name != Value::Nil);
        if is_custom != is_named {
            let at = format!("/memories/{index}/custom_type");
            let message = "must be there if type is custom, and only then";
            minded.push(fault(code::CUSTOM_TYPE, at, message));
        }
    }
    if root.get("signature").and_then(Value::as_map).is_some() {
        for name in ["export_id", "export_date"] {
            if root.get(name).and_then(Value::as_text).is_none() {
                let message = "is missing below a signature";
                minded.push(fault(code::SIGNATURE_FORM, format!("/{name}"), message));
            }
        }
    }
}

/// Judges what the records of a store say about each other (PAM 13, 14).
pub(super) fn store(document: &Document<'_>, minded: &mut Vec<Error>, findings: &mut Vec<Error>) {
    let mut entries = HashSet::new();
    let mut derived = HashSet::new();
    for entry in &document.entries {
        judge_span(entry.object.map, &entry.object.at, minded);
        judge_reference(&entry.object, minded);
        entries.insert(entry.id);
        let memories = entry.object.get("derived_memories").into_iter();
        derived.extend(memories.flat_map(Value::texts).map(|id| (entry.id, id)));
    }
    // PAM 16: a delta may name what the export it goes on from holds.
    let unknown = if document.is_delta() {
        &mut *findings
    } else {
        minded
    };
    let mut odd = Vec::new();
    let mut named = HashSet::new();
    for memory in &document.memories {
        // An index that is not there says nothing about what is in it.
        let Some(id) = memory.conversation_ref.filter(|_| !entries.is_empty()) else {
            continue;
        };
        named.insert((id, memory.id));
        let at = || format!("{}/provenance/conversation_ref", memory.object.at);
        if !entries.contains(id) {
            let message = "no entry of conversations_index has this id";
            unknown.push(fault(code::CONVERSATION_REF, at(), message));
        } else if !derived.contains(&(id, memory.id)) {
            // PAM 14.1: both sides say so, which importers take as advice.
            let message = "the conversation does not name this memory in derived_memories";
            odd.push(fault(code::DERIVED_REF, at(), message));
        }
    }
    for entry in &document.entries {
        let elements = entry.object.elements("derived_memories");
        for (value, at) in elements.into_iter().flatten() {
            let id = value.as_text().unwrap_or_default();
            if !document.numbers.contains_key(id) {
                unknown.push(fault(code::DERIVED_REF, at, "no memory has this id"));
            } else if !named.contains(&(entry.id, id)) {
                let message = "the memory does not name this conversation in conversation_ref";
                odd.push(fault(code::DERIVED_REF, at, message));
            }
        }
    }
    for relation in &document.relations {
        if relation.from == relation.to {
            let message = "relates a memory to itself";
            let object = &relation.object;
            odd.push(object.member_fault("to", code::RELATION_REF, message));
        }
    }
    findings.extend(odd);
}

/// Judges a reference to a file by its spelling; it is opened elsewhere.
fn judge_reference(entry: &Object<'_>, minded: &mut Vec<Error>) {
    let storage = entry.get("storage").and_then(Value::as_map);
    let text = |name: &str| storage.and_then(|storage| storage.get(name)?.as_text());
    if text("type") == Some("file")
        && let Some(Err(message)) = text("ref").map(check)
    {
        let at = format!("{}/storage/ref", entry.at);
        minded.push(fault(code::STORAGE_REF, at, message));
    }
}

/// Judges a conversation document: everything that its grains do not depend on (PAM 25).
pub(super) fn conversation(value: &Value, at: &str, minded: &mut Vec<Error>) {
    CONVERSATION.judge(value, at, minded);
    let Some(map) = value.as_map() else {
        return;
    };
    judge_span(map, at, minded);
    let messages = map.get("messages").and_then(Value::as_array);
    let messages = messages.unwrap_or_default();
    let id = |message: &Value| message.as_map()?.get("id")?.as_text().map(str::to_owned);
    let ids: HashSet<String> = messages.iter().filter_map(id).collect();
    for (index, message) in messages.iter().enumerate() {
        let children = message.as_map().and_then(|map| map.get("children_ids"));
        let children = children.and_then(Value::as_array).unwrap_or_default();
        for (child, value) in children.iter().enumerate() {
            if value.as_text().is_some_and(|id| !ids.contains(id)) {
                let at = format!("{at}/messages/{index}/children_ids/{child}");
                let message = "no message of this conversation has this id";
                minded.push(fault(code::MESSAGE_DAG, at, message));
            }
        }
    }
}

/// Judges `temporal` of what begins and goes on.
fn judge_span(map: &Map, at: &str, minded: &mut Vec<Error>) {
    let temporal = map.get("temporal").and_then(Value::as_map);
    let time = |name: &str| date_time(temporal?.get(name)?.as_text()?).ok();
    if time("updated_at").is_some_and(|updated| Some(updated) < time("created_at")) {
        let at = format!("{at}/temporal/updated_at");
        minded.push(fault(code::TEMPORAL, at, "is before created_at"));
    }
}

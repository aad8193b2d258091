//! The rules of PAM that no schema expresses and no grain depends on.

use std::collections::HashSet;

use crate::codec::{Map, Value};
use crate::interchange::model::rfc3339::parse_rfc3339;
use crate::interchange::{Diagnostics, Place, ReadOptions};

use super::super::code;
use super::super::files::storage::check;
use super::super::types::object::{fault, reported};
use super::tables::CONVERSATION;

/// Reports violations that need not refuse a file: as errors if the caller asks for strictness,
/// else as findings.
///
/// A place that has an error or a finding already gets no second one.
pub(crate) fn report_non_fatal(
    non_fatal: Diagnostics,
    options: &ReadOptions,
    faults: &mut Diagnostics,
    findings: &mut Diagnostics,
) {
    let reported = faults.list.iter().chain(&findings.list);
    let mut reported: HashSet<Place> = reported.map(|error| error.place().clone()).collect();
    let new = non_fatal.list.into_iter();
    let new = new.filter(|error| reported.insert(error.place().clone()));
    let to = if options.is_strict { faults } else { findings };
    to.extend(new);
    to.more = to.more.saturating_add(non_fatal.more);
}

/// Validates the members of an envelope that depend on each other (PAM 18).
pub(crate) fn conditions(root: &Map, non_fatal: &mut Diagnostics) {
    if root.get("signature").and_then(Value::as_map).is_some() {
        for name in ["export_id", "export_date"] {
            if root.get(name).and_then(Value::as_text).is_none() {
                let message = "is missing below a signature";
                non_fatal.push(fault(code::SIGNATURE_FORM, format!("/{name}"), message));
            }
        }
    }
}

/// Validates the members of a memory that depend on each other (PAM 5).
pub(crate) fn memory(memory: &Value, at: &str, non_fatal: &mut Diagnostics) {
    let Some(memory) = memory.as_map() else {
        return;
    };
    let is_custom = memory.get("type").and_then(Value::as_text) == Some("custom");
    let is_named = memory
        .get("custom_type")
        .is_some_and(|name| *name != Value::Nil);
    if is_custom != is_named {
        let at = format!("{at}/custom_type");
        let message = "must be there if type is custom, and only then";
        non_fatal.push(fault(code::CUSTOM_TYPE, at, message));
    }
}

/// Validates the members of an index entry that depend on each other (PAM 14).
pub(crate) fn entry(entry: &Value, at: &str, non_fatal: &mut Diagnostics) {
    if let Some(map) = entry.as_map() {
        validate_span(map, at, non_fatal);
        validate_reference(map, at, non_fatal);
    }
}

/// Validates the text of a reference to a file; nothing is opened here.
fn validate_reference(entry: &Map, at: &str, non_fatal: &mut Diagnostics) {
    let storage = entry.get("storage").and_then(Value::as_map);
    let text = |name: &str| storage.and_then(|storage| storage.get(name)?.as_text());
    if text("type") == Some("file")
        && let Some(Err(message)) = text("ref").map(check)
    {
        let at = format!("{at}/storage/ref");
        non_fatal.push(fault(code::STORAGE_REF, at, message));
    }
}

/// Validates the parts of a conversation document that its grains do not depend on (PAM 25).
pub(crate) fn conversation(value: &Value, at: &str, non_fatal: &mut Diagnostics) {
    CONVERSATION.validate(value, at, &mut reported(non_fatal));
    let Some(map) = value.as_map() else {
        return;
    };
    validate_span(map, at, non_fatal);
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
                non_fatal.push(fault(code::MESSAGE_DAG, at, message));
            }
        }
    }
}

/// Validates the order of the times in `temporal`.
fn validate_span(map: &Map, at: &str, non_fatal: &mut Diagnostics) {
    let temporal = map.get("temporal").and_then(Value::as_map);
    let time = |name: &str| parse_rfc3339(temporal?.get(name)?.as_text()?).ok();
    if time("updated_at").is_some_and(|updated| Some(updated) < time("created_at")) {
        let at = format!("{at}/temporal/updated_at");
        non_fatal.push(fault(code::TEMPORAL, at, "is before created_at"));
    }
}

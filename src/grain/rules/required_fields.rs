//! Which fields must be there (OMS 8.1–8.10).

use crate::codec::{Map, Value};

use super::action;
use super::elided::is_elided;
use super::findings::{Findings, Origin};
use super::lint::look_alike;
use crate::grain::fields::{Fields, Slot, field, fields};
use crate::grain::{Error, Type};

pub(super) fn check(of: Type, fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    for slot in required(of) {
        // Ruling T16: later revisions write a Workflow as a graph, without steps and trigger.
        let is_later_workflow = of == Type::Workflow
            && findings.origin == Origin::Foreign
            && fields.contains(field!("nodes"));
        if !is_present(fields, *slot) && !is_later_workflow {
            return Err(match look_alike::meant(fields.map(), slot.name()) {
                Some(found) => Error::misspelt(slot.name(), of, found),
                None => Error::missing(slot.name(), of),
            });
        }
    }
    if !is_present(fields, field!("created_at")) {
        return Err(Error::missing("created_at", of));
    }
    match of {
        Type::Event => check_event(fields, findings),
        Type::Action => action::check(fields, findings),
        Type::Observation => check_observer(fields, findings),
        Type::Consent => check_withdrawal(fields),
        _ => Ok(()),
    }?;
    check_entries(fields)
}

/// Ruling S10: an elided field is present, as its hash.
pub(super) fn is_present(fields: &Fields<'_>, slot: Slot) -> bool {
    fields.contains(slot) || is_elided(fields, slot)
}

pub(super) fn is_required(of: Type, name: &str) -> bool {
    required(of).iter().any(|slot| slot.name() == name)
}

/// Returns the fields a type requires besides `type` and `created_at`.
pub(super) const fn required(of: Type) -> &'static [Slot] {
    match of {
        Type::Belief => fields!["subject", "relation", "object", "confidence"],
        Type::State => fields!["context"],
        Type::Workflow => fields!["steps", "trigger"],
        Type::Observation => fields!["observer_id", "observer_type"],
        Type::Goal => fields!["description", "goal_state"],
        Type::Consensus => fields![
            "participating_observers",
            "threshold",
            "agreement_count",
            "dissent_count",
        ],
        Type::Consent => fields!["subject_did", "grantee_did", "scope", "is_withdrawal"],
        Type::Event | Type::Action | Type::Reasoning | Type::Opaque(_) => &[],
    }
}

/// OMS 8.2, 6.2; rulings T4, P15. A message without a text, as importers find them, has an empty
/// array of blocks.
fn check_event(fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    let has = |slot| is_present(fields, slot);
    let missing = || {
        let fields = "content, content_blocks, or subject with relation and object";
        Error::missing(fields, Type::Event)
    };
    let (content, blocks) = (field!("content"), field!("content_blocks"));
    let triple = *fields!["subject", "relation", "object"];
    let is_empty = |slot| match fields.get(slot) {
        Some(Value::Text(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => false,
    };
    let says_nothing = match (has(content) || has(blocks), triple.map(has)) {
        (true, _) => [content, blocks].into_iter().chain(triple).all(is_empty),
        // A triple with an empty part does not fully describe the event.
        (false, [true, true, true]) => triple.into_iter().any(is_empty),
        (false, _) => return Err(missing()),
    };
    match says_nothing {
        true => findings.writer_rule(missing()),
        false => Ok(()),
    }
}

/// OMS 24.2, 17.2.
fn check_observer(fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    let observer = fields.text(field!("observer_type"));
    match observer {
        Some("human") if fields.contains(field!("observer_model")) => Err(Error::Forbidden {
            field: "observer_model".into(),
            reason: "a human observer has no model (OMS 24.2)",
        }),
        Some("llm" | "reflector" | "classifier" | "detector")
            if !is_present(fields, field!("observer_model")) =>
        {
            findings.warn(
                "observer_model",
                "recommended for this observer_type (OMS 17.2)",
            );
            Ok(())
        }
        _ => Ok(()),
    }
}

/// OMS 8.10, ruling I8: the grant must be named; it need not be here.
fn check_withdrawal(fields: &Fields<'_>) -> Result<(), Error> {
    let is_withdrawal = fields.get(field!("is_withdrawal")).and_then(Value::as_bool);
    if is_withdrawal == Some(true) && !is_present(fields, field!("prior_consent")) {
        return Err(Error::missing("prior_consent", Type::Consent));
    }
    Ok(())
}

/// Members that nested maps must have (OMS 6.2, 7, 12.5.1, 27.5).
fn check_entries(fields: &Fields<'_>) -> Result<(), Error> {
    for (slot, members) in NESTED_REQUIRED {
        for entry in entries_of(fields, *slot) {
            let members = match slot.name() {
                // Ruling T10: an entry with a citation_type is a citation.
                "content_refs" if entry.contains("citation_type") => &["identifier"],
                "derived_from" if !entry.contains("citation_type") => &["citation_type"][..],
                _ => *members,
            };
            if let Some(member) = members.iter().find(|member| !entry.contains(member)) {
                return Err(Error::Missing {
                    field: member,
                    of: slot.name().to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Returns the maps a field holds: of an array, or the one map itself.
pub(super) fn entries_of<'a>(fields: &Fields<'a>, slot: Slot) -> impl Iterator<Item = &'a Map> {
    fields.get(slot).into_iter().flat_map(entries)
}

/// Returns the maps of an array, or the one map itself.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = &Map> {
    let items = value.as_array().unwrap_or_default();
    items.iter().filter_map(Value::as_map).chain(value.as_map())
}

/// Refuses required texts and arrays that are empty (OMS 19.3).
pub(super) fn check_empty(
    of: Type,
    fields: &Fields<'_>,
    findings: &mut Findings,
) -> Result<(), Error> {
    let by_type: &[Slot] = match of {
        Type::Event => fields!["content"],
        Type::Action => fields!["tool_name", "tool_call_id", "code"],
        Type::Consent => fields!["prior_consent"],
        _ => &[],
    };
    for slot in required(of).iter().chain(by_type) {
        let is_empty = match fields.get(*slot) {
            Some(Value::Text(text)) => text.is_empty(),
            // OMS 8.4: steps are a non-empty array.
            Some(Value::Array(items)) => *slot == field!("steps") && items.is_empty(),
            _ => false,
        };
        // An Event without text may still speak through its blocks.
        if is_empty && !(of == Type::Event && fields.contains(field!("content_blocks"))) {
            return Err(Error::Empty {
                field: slot.name().to_owned(),
            });
        }
    }
    for (slot, members) in NESTED_REQUIRED {
        for entry in entries_of(fields, *slot) {
            let required = members.iter().chain(&["identifier"]);
            let is_empty = |name: &&str| entry.get(name).and_then(Value::as_text) == Some("");
            if let Some(name) = required.copied().find(|name| is_empty(name)) {
                findings.writer_rule(Error::Empty {
                    field: format!("{}.{name}", slot.name()),
                })?;
            }
        }
    }
    Ok(())
}

const NESTED_REQUIRED: &[(Slot, &[&str])] = &[
    (field!("content_blocks"), &["type"]),
    (field!("content_refs"), &["uri", "modality"]),
    (
        field!("embedding_refs"),
        &["vector_id", "model", "dimensions"],
    ),
    (field!("related_to"), &["hash", "relation_type"]),
    (field!("derived_from"), &["identifier"]),
    (field!("owner"), &["type", "name"]),
];

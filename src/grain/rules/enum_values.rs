//! Values of closed lists (OMS 8.7, 14.3, 25, 26, 27.1, 27.5, 12.5.1). Open lists are not judged.

use crate::codec::Value;

use super::findings::Findings;
use super::required_fields::entries_of;
use crate::grain::fields::{Fields, Slot, field};
use crate::grain::{Error, Type};

pub(super) fn check(of: Type, fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    for (slot, allowed) in LISTS {
        if let Some(value) = fields.text(*slot) {
            one_of(*slot, value, allowed)?;
        }
    }
    if of == Type::Observation {
        check_observation(fields, findings)?;
    }
    for (slot, member, allowed) in NESTED_LISTS {
        for entry in entries_of(fields, *slot) {
            if let Some(value) = entry.get(member).and_then(Value::as_text)
                && !allowed.contains(&value)
            {
                let error = not_listed(format!("{}.{member}", slot.name()), value, allowed);
                match slot.name() {
                    // Ruling T13: closed for writers; later revisions put other values there.
                    "related_to" => findings.writer_rule(error)?,
                    _ => return Err(error),
                }
            }
        }
    }
    Ok(())
}

/// OMS 25, 26 close both lists; 27.6 opens them for triggers (ruling T1).
fn check_observation(fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    let is_trigger = fields
        .text(field!("observer_type"))
        .is_some_and(|kind| kind.starts_with("trigger:"));
    if let Some(mode) = fields.text(field!("observation_mode")) {
        let known = if is_trigger { TRIGGER_MODES } else { MODES };
        one_of(field!("observation_mode"), mode, known)?;
    }
    match fields.text(field!("observation_scope")) {
        Some(scope) if !is_trigger => one_of(
            field!("observation_scope"),
            scope,
            &["point", "interval", "session", "longitudinal"],
        )?,
        None if fields.text(field!("observation_mode")) == Some("reflective") => {
            findings.warn(
                "observation_scope",
                "expected on reflective observations (OMS 26)",
            );
        }
        _ => {}
    }
    Ok(())
}

fn one_of(slot: Slot, value: &str, allowed: &[&str]) -> Result<(), Error> {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(not_listed(slot.name().to_owned(), value, allowed))
}

pub(super) fn not_listed(field: String, value: &str, allowed: &[&str]) -> Error {
    Error::NotListed {
        field,
        value: value.to_owned(),
        allowed: allowed.join(", "),
    }
}

const MODES: &[&str] = &["passive", "active", "reflective", "real_time"];

/// Ruling T1: three more for triggers (OMS 27.6), not three instead.
const TRIGGER_MODES: &[&str] = &[
    "passive",
    "active",
    "reflective",
    "real_time",
    "periodic",
    "continuous",
    "scheduled",
];

pub(super) const LISTS: &[(Slot, &[&str])] = &[
    (
        field!("goal_state"),
        &["active", "satisfied", "failed", "suspended"],
    ),
    (
        field!("execution_mode"),
        &["function_call", "code_exec", "computer_use"],
    ),
    (field!("tool_type"), &["client", "server", "builtin"]),
    (field!("temporal_type"), &["state", "observation"]),
    (field!("recall_priority"), &["hot", "warm", "cold"]),
    (
        field!("identity_state"),
        &["anonymous", "pseudonymous", "authenticated"],
    ),
];

const NESTED_LISTS: &[(Slot, &str, &[&str])] = &[
    (field!("related_to"), "relation_type", RELATION_TYPES),
    (field!("content_refs"), "modality", MODALITIES),
    (field!("content_refs"), "citation_type", CITATIONS),
    (field!("content_refs"), "citation_role", CITATION_ROLES),
    (field!("derived_from"), "citation_type", CITATIONS),
    (field!("derived_from"), "citation_role", CITATION_ROLES),
    (field!("owner"), "type", &["human", "org"]),
];

/// OMS 14.3: closed, so that relation names cannot carry personal data.
const RELATION_TYPES: &[&str] = &[
    "similar",
    "contradicts",
    "elaborates",
    "generalizes",
    "temporal_next",
    "temporal_prev",
    "causal",
    "supports",
    "refutes",
    "replaces",
    "depends_on",
];

const MODALITIES: &[&str] = &[
    "image",
    "audio",
    "video",
    "point_cloud",
    "3d_mesh",
    "document",
    "binary",
    "embedding",
];

const CITATIONS: &[&str] = &[
    "doi",
    "arxiv",
    "pmid",
    "isbn",
    "rrid",
    "clinicaltrials",
    "url",
];

const CITATION_ROLES: &[&str] = &[
    "supports",
    "refutes",
    "extends",
    "replicates",
    "uses_data",
    "uses_software",
];

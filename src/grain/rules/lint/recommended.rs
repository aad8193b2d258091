//! Warnings about fields that a section recommends (OMS 7.1, 14.1, 23.4, 23.5, 23.9, 27.1).

use crate::codec::Value;
use crate::grain::Type;
use crate::grain::fields::{Fields, field};
use crate::grain::rules::required_fields::entries_of;

use super::{Findings, is_empty};

pub(super) fn check(of: Type, fields: &Fields<'_>, findings: &mut Findings) {
    match of {
        Type::Action => check_call(fields, findings),
        Type::Goal => check_goal(fields, findings),
        _ => {}
    }
    check_references(fields, findings);
    check_provenance(fields, findings);
}

/// OMS 27.1: a call is found by its id once its result arrives.
fn check_call(fields: &Fields<'_>, findings: &mut Findings) {
    let phase = fields.text(field!("action_phase"));
    if phase == Some("call") && !fields.contains(field!("tool_call_id")) {
        findings.warn(
            "tool_call_id",
            "recommended on a call, so that its result can name it (OMS 27.1)",
        );
    }
}

/// OMS 23.4, 23.5, 23.9: a protected goal that may end by itself ends on evidence.
fn check_goal(fields: &Fields<'_>, findings: &mut Findings) {
    let policy = fields
        .get(field!("invalidation_policy"))
        .and_then(Value::as_map);
    let mode = policy.and_then(|policy| policy.get("mode"));
    if mode.is_none_or(|mode| mode.as_text() == Some("open")) {
        return;
    }
    let ends = |state: &str| ["satisfied", "failed"].contains(&state);
    let allowed = fields.get(field!("allowed_transitions"));
    let needed = fields
        .get(field!("evidence_required"))
        .and_then(Value::as_i64);
    if allowed.is_some_and(|allowed| allowed.texts().any(ends)) && needed.is_none_or(|it| it < 1) {
        findings.warn(
            "evidence_required",
            "should be 1 or more where a protected goal may end by itself (OMS 23.5, 23.9)",
        );
    }
    let state = fields.text(field!("goal_state"));
    if state.is_some_and(ends)
        && !is_empty(fields, field!("derived_from"))
        && is_empty(fields, field!("satisfaction_evidence"))
    {
        findings.warn(
            "satisfaction_evidence",
            "should name the evidence on which a protected goal ended (OMS 23.4, 23.5)",
        );
    }
}

/// OMS 14.1: an entry says what was used, and how.
fn check_provenance(fields: &Fields<'_>, findings: &mut Findings) {
    for entry in entries_of(fields, field!("provenance_chain")) {
        for member in ["source_hash", "method"] {
            if !entry.contains(member) {
                findings.warn(
                    &format!("provenance_chain.{member}"),
                    "absent, so the entry does not say what was used, or how (OMS 14.1)",
                );
            }
        }
    }
}

/// OMS 7.1; a citation has neither.
fn check_references(fields: &Fields<'_>, findings: &mut Findings) {
    let references = entries_of(fields, field!("content_refs"));
    for reference in references.filter(|reference| reference.contains("modality")) {
        for member in ["mime_type", "checksum"] {
            if !reference.contains(member) {
                findings.warn(
                    &format!("content_refs.{member}"),
                    "recommended in a content reference (OMS 7.1)",
                );
            }
        }
    }
}

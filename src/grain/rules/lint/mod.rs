//! Warnings about valid grains: the SHOULDs that need no store (OMS 6.11, 8, 12.5.1, 23.2, 27.3).

pub(super) mod look_alike;
mod observation;
mod recommended;

use crate::codec::Value;
use crate::grain::Type;
use crate::grain::fields::{Fields, Slot, field, fields};

use super::findings::Findings;
use super::required_fields::entries_of;

pub(super) fn check(of: Type, fields: &Fields<'_>, findings: &mut Findings) {
    check_relation(fields, findings);
    check_established(fields, findings);
    check_owner(fields, findings);
    check_delegation(fields, findings);
    check_snapshot(fields, findings);
    check_policy(fields, findings);
    check_blocks(fields, findings);
    observation::check(of, fields, findings);
    recommended::check(of, fields, findings);
}

/// OMS 8: the `mg:` prefix is reserved for the standard vocabulary.
fn check_relation(fields: &Fields<'_>, findings: &mut Findings) {
    let relation = fields.text(field!("relation"));
    if let Some(relation) = relation
        && let Some(name) = relation.strip_prefix("mg:")
        && !MG_RELATIONS.contains(&name)
    {
        findings.warn("relation", "not in the standard mg: vocabulary (OMS 8)");
    }
}

/// OMS 27.3: established knowledge has no user and does not expire.
fn check_established(fields: &Fields<'_>, findings: &mut Findings) {
    let source = fields.text(field!("source_type"));
    if !matches!(source, Some("established_knowledge" | "axiomatic")) {
        return;
    }
    for slot in fields!["user_id", "valid_to"] {
        if fields.contains(*slot) {
            findings.warn(
                slot.name(),
                "should be omitted on established knowledge (OMS 27.3)",
            );
        }
    }
    if fields.get(field!("confidence")).and_then(Value::as_f64) != Some(1.0) {
        findings.warn(
            "confidence",
            "should be 1.0 on established knowledge (OMS 27.3)",
        );
    }
    let policy = fields
        .get(field!("invalidation_policy"))
        .and_then(Value::as_map);
    let mode = policy
        .and_then(|policy| policy.get("mode"))
        .and_then(Value::as_text);
    if mode != Some("locked") {
        findings.warn(
            "invalidation_policy",
            "should be locked on established knowledge (OMS 27.3)",
        );
    }
}

/// OMS 12.5.1: a person has no legal form; an owner is verified by a DID.
fn check_owner(fields: &Fields<'_>, findings: &mut Findings) {
    let Some(owner) = fields.get(field!("owner")).and_then(Value::as_map) else {
        return;
    };
    if owner.get("type").and_then(Value::as_text) == Some("human") && owner.contains("entity_form")
    {
        findings.warn("owner.entity_form", "omitted for a human (OMS 12.5.1)");
    }
    if !owner.contains("did") {
        findings.warn(
            "owner.did",
            "recommended, so that the owner can be verified (OMS 12.5.1)",
        );
    }
}

/// OMS 6.11: a delegation without bounds is valid and rarely intended.
fn check_delegation(fields: &Fields<'_>, findings: &mut Findings) {
    let namespaces = fields.get(field!("authorized_namespaces"));
    if namespaces.is_some_and(|namespaces| namespaces.texts().any(|name| name == "*")) {
        findings.warn(
            "authorized_namespaces",
            "\"*\" gives away every namespace (OMS 6.11)",
        );
    }
    let relation = fields.text(field!("relation"));
    if relation != Some("mg:delegates_to") {
        return;
    }
    if namespaces.is_none() {
        findings.warn(
            "authorized_namespaces",
            "absent, so the delegatee may write everywhere (OMS 6.11)",
        );
    }
    if !fields.contains(field!("delegation_depth")) {
        findings.warn(
            "delegation_depth",
            "absent, so the delegatee may delegate without limit (OMS 6.11)",
        );
    }
    // OMS 28.7: a conversation that is handed over comes back.
    if fields.contains(field!("session_id")) && !fields.contains(field!("return_to")) {
        findings.warn(
            "return_to",
            "absent, so control returns to no one (OMS 28.7)",
        );
    }
}

/// OMS 28.6: the snapshot of a conversation has the members that describe its state.
fn check_snapshot(fields: &Fields<'_>, findings: &mut Findings) {
    let relation = fields.text(field!("relation"));
    let context = fields.get(field!("context")).and_then(Value::as_map);
    let (Some("mg:state_at"), Some(context)) = (relation, context) else {
        return;
    };
    for name in ["messages_tail", "message_count", "participants"] {
        if !context.contains(name) {
            findings.warn(
                &format!("context.{name}"),
                "absent from a snapshot (OMS 28.6)",
            );
        }
    }
}

/// OMS 23.3: a policy that is not understood locks the grain; the grain stays valid.
fn check_policy(fields: &Fields<'_>, findings: &mut Findings) {
    let Some(policy) = fields
        .get(field!("invalidation_policy"))
        .and_then(Value::as_map)
    else {
        return;
    };
    let is_mode = |value: &Value| value.as_text().is_some_and(|mode| MODES.contains(&mode));
    if !policy.get("mode").is_some_and(is_mode) {
        findings.warn("invalidation_policy.mode", LOCKED);
    }
    for (member, fits) in POLICY_MEMBERS {
        if policy.get(member).is_some_and(|value| !fits(value)) {
            findings.warn(&format!("invalidation_policy.{member}"), STRICTER);
        }
    }
}

/// OMS 6.2: the members of standard blocks. Only `type` is a rule, for blocks also come from
/// formats that let anything stand there.
fn check_blocks(fields: &Fields<'_>, findings: &mut Findings) {
    for block in entries_of(fields, field!("content_blocks")) {
        let kind = block.get("type").and_then(Value::as_text);
        for (_, member, fits) in BLOCK_MEMBERS.iter().filter(|(of, ..)| Some(*of) == kind) {
            if block.get(member).is_some_and(|value| !fits(value)) {
                findings.warn(
                    &format!("content_blocks.{member}"),
                    "of another kind than in a standard block (OMS 6.2)",
                );
            }
        }
    }
}

const BLOCK_MEMBERS: &[(&str, &str, Fits)] = &[
    ("text", "text", is_text),
    ("tool_use", "id", is_text),
    ("tool_use", "name", is_text),
    ("tool_use", "input", |value| value.as_map().is_some()),
    ("tool_result", "tool_use_id", is_text),
    ("tool_result", "is_error", |value| value.as_bool().is_some()),
    ("thinking", "thinking", is_text),
];

const LOCKED: &str = "not understood, so the grain counts as locked (OMS 23.3)";

const STRICTER: &str = "not understood, so the stricter reading holds (OMS 23.3)";

const MODES: &[&str] = &[
    "open",
    "soft_locked",
    "locked",
    "quorum",
    "delegated",
    "timed",
    "hold",
    "consent_cascade",
];

type Fits = fn(&Value) -> bool;

/// OMS 23.2; ruling I9: a fallback that is itself timed is none.
const POLICY_MEMBERS: &[(&str, Fits)] = &[
    ("authorized", |value| {
        let dids = value.as_array();
        dids.is_some_and(|dids| dids.iter().all(is_text))
    }),
    ("threshold", is_count),
    ("locked_until", is_count),
    ("fallback_mode", |value| {
        let mode = value.as_text();
        mode.is_some_and(|mode| mode != "timed" && MODES.contains(&mode))
    }),
    ("scope", |value| {
        matches!(value.as_text(), Some("grain" | "subtree" | "lineage"))
    }),
    ("protection_reason", is_text),
];

fn is_empty(fields: &Fields<'_>, slot: Slot) -> bool {
    len_of(fields, slot) == 0
}

/// Returns the number of entries of a list; 0 without one.
fn len_of(fields: &Fields<'_>, slot: Slot) -> usize {
    let entries = fields.get(slot).and_then(Value::as_array);
    entries.map_or(0, <[Value]>::len)
}

const fn is_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

fn is_count(value: &Value) -> bool {
    matches!(value, Value::Int(int) if int.as_u64().is_some())
}

const MG_RELATIONS: &[&str] = &[
    "perceives",
    "knows",
    "said",
    "did",
    "infers",
    "agrees_with",
    "state_at",
    "requires_steps",
    "intends",
    "permits",
    "revokes",
    "prohibits",
    "requires",
    "prefers",
    "avoids",
    "delegates_to",
    "owned_by",
    "has_capability",
    "handed_off_to",
    "depends_on",
    "assigned_to",
    // Revision 1.4.
    "has_graph",
    "capable_of",
];

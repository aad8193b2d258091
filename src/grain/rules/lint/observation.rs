//! Warnings about observations and conversations: the SHOULDs of OMS 24 to 26 and 28.6 that need no
//! store.
//!
//! The registered observer types serve these warnings and nothing else: storage and access treat
//! `observer_type` as open (OMS 17.3, 24).

use crate::codec::Value;
use crate::grain::Type;
use crate::grain::fields::{Fields, field};

use super::{Findings, is_empty, len_of};

pub(super) fn check(of: Type, fields: &Fields<'_>, findings: &mut Findings) {
    match of {
        Type::Observation => {
            check_source(fields, findings);
            check_mode(fields, findings);
            check_scope(fields, findings);
        }
        Type::Event => check_conversation(fields, findings),
        Type::Belief => check_summary(fields, findings),
        _ => {}
    }
}

/// OMS 24.1, 24.2: what kind of source a registered observer is.
fn check_source(fields: &Fields<'_>, findings: &mut Findings) {
    let observer = fields.text(field!("observer_type"));
    let source = fields.text(field!("source_type"));
    let expected = match observer {
        Some(observer) if PHYSICAL.contains(&observer) => (
            "sensor",
            "should be sensor for a physical observer (OMS 24.1)",
        ),
        Some("llm" | "reflector" | "classifier" | "detector") => (
            "agent_inferred",
            "should be agent_inferred for this observer_type (OMS 24.2)",
        ),
        Some("human") => (
            "user_explicit",
            "should be user_explicit for a human observer (OMS 24.2)",
        ),
        _ => return check_hybrid(observer, fields, findings),
    };
    if source.is_some_and(|source| source != expected.0) {
        findings.warn("source_type", expected.1);
    }
}

fn check_hybrid(observer: Option<&str>, fields: &Fields<'_>, findings: &mut Findings) {
    match observer {
        // An entry for each step.
        Some("hybrid") if len_of(fields, field!("provenance_chain")) < 2 => findings.warn(
            "provenance_chain",
            "should name reading and inference of a hybrid observer (OMS 24.2)",
        ),
        Some("hybrid") | None => {}
        // OMS 24.3: an unprefixed name may be registered one day.
        Some(custom) if !custom.contains(':') => findings.warn(
            "observer_type",
            "not registered, and without the prefix of a namespace (OMS 24.3)",
        ),
        Some(_) => {}
    }
}

/// OMS 25.
fn check_mode(fields: &Fields<'_>, findings: &mut Findings) {
    match fields.text(field!("observation_mode")) {
        Some("reflective") if is_empty(fields, field!("derived_from")) => findings.warn(
            "derived_from",
            "should name the grains that a reflective observation consumed (OMS 25)",
        ),
        Some("active") => {
            let context = fields.get(field!("context")).and_then(Value::as_map);
            if !context.is_some_and(|context| context.contains("probe")) {
                findings.warn(
                    "context.probe",
                    "should record the probe of an active observation (OMS 25)",
                );
            }
        }
        _ => {}
    }
}

/// OMS 26.
fn check_scope(fields: &Fields<'_>, findings: &mut Findings) {
    let time = |slot| fields.get(slot).and_then(Value::as_i64);
    let scope = fields.text(field!("observation_scope"));
    if scope == Some("longitudinal") && is_empty(fields, field!("derived_from")) {
        findings.warn(
            "derived_from",
            "should name the observations of each session covered (OMS 26)",
        );
    }
    if matches!(scope, Some("interval" | "session" | "longitudinal"))
        && let (Some(from), Some(to)) = (time(field!("valid_from")), time(field!("valid_to")))
        && from >= to
    {
        findings.warn(
            "valid_to",
            "should be after valid_from in this scope (OMS 26)",
        );
    }
}

/// OMS 28.6: a message belongs to a session.
fn check_conversation(fields: &Fields<'_>, findings: &mut Findings) {
    if fields.contains(field!("parent_message_id")) && !fields.contains(field!("session_id")) {
        findings.warn(
            "session_id",
            "absent, so the message is of no conversation (OMS 28.6)",
        );
    }
}

/// OMS 28.6: the summary of a conversation points at what it sums up.
fn check_summary(fields: &Fields<'_>, findings: &mut Findings) {
    let source = fields.text(field!("source_type"));
    if source != Some("consolidated") {
        return;
    }
    if is_empty(fields, field!("derived_from")) {
        findings.warn(
            "derived_from",
            "should name the grains that were consolidated (OMS 28.6)",
        );
    }
    let level = fields
        .get(field!("consolidation_level"))
        .and_then(Value::as_i64);
    if level.is_none_or(|level| level < 1) {
        findings.warn(
            "consolidation_level",
            "should be 1 or more on a summary (OMS 28.6)",
        );
    }
}

/// OMS 24.1.
const PHYSICAL: &[&str] = &[
    "lidar",
    "camera",
    "imu",
    "gps",
    "temperature",
    "pressure",
    "accelerometer",
    "magnetometer",
    "ultrasonic",
    "radar",
    "microphone",
];

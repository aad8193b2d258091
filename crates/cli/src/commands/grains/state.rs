//! A grain, its status and its signature, as JSON members and as lines for people.
//!
//! Shared by the commands that show grains.

use grainstore::grain::Status;
use grainstore::policy::Trust;
use grainstore::store::Signature;
use grainstore::{Grain, Time};
use serde_json::{Value, json};

/// Returns the members of `signature` in JSON output.
pub(crate) fn signature_json(signature: &Signature) -> Value {
    let mut members = json!({
        "signer": signature.signer.as_str(),
        "trust": signature.trust.name(),
    });
    if let Trust::Untrusted(doubt) = signature.trust {
        members["doubt"] = json!(doubt.name());
    }
    members
}

pub(super) fn signature_line(signature: &Signature) -> String {
    let signer = &signature.signer;
    match signature.trust {
        Trust::Verified => format!("is signed by {signer}, a trusted signer"),
        Trust::Untrusted(doubt) => format!("is signed by {signer}, untrusted: {doubt}"),
    }
}

/// Returns the members of `status` in JSON output.
pub(crate) fn status_json(status: &Status) -> Value {
    json!({
        "current": status.is_current(),
        "superseded_by": status.superseded_by.map(|address| address.to_string()),
        "system_valid_to": status.system_valid_to.map(Time::ms),
        "verification_status": status.verification.name(),
        "contradicted": status.contradicted,
        "lifecycle": status.lifecycle.name(),
    })
}

/// Returns the status as a sentence; `None` for a current grain with the default status.
pub(crate) fn status_line(status: &Status) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(by) = status.superseded_by {
        parts.push(format!("is superseded by {by}"));
    }
    match status.system_valid_to {
        Some(time) if !status.is_current() => parts.push(format!("is not current since {time}")),
        _ => {}
    }
    let default = Status::default();
    if status.verification != default.verification {
        parts.push(format!("is {}", status.verification.name()));
    }
    if status.contradicted {
        parts.push("is contradicted".to_owned());
    }
    if status.lifecycle != default.lifecycle {
        parts.push(format!("is {}", status.lifecycle.name()));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns a grain with its address, as the commands that list grains print it.
pub(crate) fn grain_json(grain: &Grain) -> Value {
    json!({ "address": grain.address().to_string(), "grain": grain })
}

//! A status, and the legal holds on a grain, as JSON, for formats that carry them beside the grain.

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Lifecycle, Status, StatusChange, Time, Verification};
use crate::policy::RecordedAuthorization;

/// The members a status may have.
pub(crate) const MEMBERS: [&str; 6] = [
    "of",
    "superseded_by",
    "system_valid_to",
    "verification_status",
    "contradicted",
    "lifecycle",
];

/// Returns the members of a status that differ from the default.
pub(crate) fn write(of: ContentAddress, status: &Status) -> Map {
    let default = Status::default();
    let mut members = Map::new();
    members.insert("of", of);
    if let Some(address) = status.superseded_by {
        members.insert("superseded_by", address);
    }
    if let Some(time) = status.system_valid_to {
        members.insert("system_valid_to", time.ms());
    }
    if status.verification != default.verification {
        members.insert("verification_status", status.verification.name());
    }
    if status.contradicted {
        members.insert("contradicted", true);
    }
    if status.lifecycle != default.lifecycle {
        members.insert("lifecycle", status.lifecycle.name());
    }
    members
}

/// Reads a status, and the address that it belongs to.
///
/// # Errors
/// The name of a member that is invalid.
pub(crate) fn read(map: &Map) -> Result<(ContentAddress, StatusChange), &'static str> {
    let address = |name: &'static str| -> Result<Option<ContentAddress>, &'static str> {
        let read = |value: &Value| value.as_text().and_then(|text| text.parse().ok());
        member(map, name, read)
    };
    let of = address("of")?.ok_or("of")?;
    let change = StatusChange {
        superseded_by: address("superseded_by")?,
        system_valid_to: member(map, "system_valid_to", time)?,
        verification: member(map, "verification_status", |value| {
            value.as_text().and_then(Verification::named)
        })?,
        contradicted: member(map, "contradicted", Value::as_bool)?,
        lifecycle: member(map, "lifecycle", |value| {
            value.as_text().and_then(Lifecycle::named)
        })?,
    };
    Ok((of, change))
}

/// Reads a member that may be absent or null.
fn member<T>(
    map: &Map,
    name: &'static str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, &'static str> {
    match map.get(name) {
        None | Some(Value::Nil) => Ok(None),
        Some(value) => read(value).map(Some).ok_or(name),
    }
}

fn time(value: &Value) -> Option<Time> {
    match value {
        Value::Text(text) => Time::parse(text).ok(),
        value => value.as_i64().map(Time::from_ms),
    }
}

/// The members of a hold.
pub(crate) const HOLD_MEMBERS: [&str; 3] = ["of", "reason", "authority"];

/// Returns the members of a hold on a grain.
pub(crate) fn write_hold(of: ContentAddress, hold: &RecordedAuthorization) -> Map {
    let mut members = Map::new();
    members.insert("of", of);
    members.insert("reason", hold.reason.as_str());
    members.insert("authority", hold.authority.as_str());
    members
}

/// Reads a hold, and the address of the grain that it is on.
///
/// # Errors
/// The name of a member that is invalid.
pub(crate) fn read_hold(
    map: &Map,
) -> Result<(ContentAddress, RecordedAuthorization), &'static str> {
    let text = |name: &'static str| map.get(name).and_then(Value::as_text).ok_or(name);
    let hold = RecordedAuthorization {
        reason: text("reason")?.to_owned(),
        authority: text("authority")?.to_owned(),
    };
    Ok((text("of")?.parse().map_err(|_| "of")?, hold))
}

//! A legal hold as JSON, for formats that carry it beside the grain.

use crate::codec::{ContentAddress, Map, Value};
use crate::policy::RecordedAuthorization;

/// The members of a hold.
pub(crate) const MEMBERS: [&str; 3] = ["of", "reason", "authority"];

/// Returns the members of a hold on a grain.
pub(crate) fn write(of: ContentAddress, hold: &RecordedAuthorization) -> Map {
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
pub(crate) fn read(map: &Map) -> Result<(ContentAddress, RecordedAuthorization), &'static str> {
    let text = |name: &'static str| map.get(name).and_then(Value::as_text).ok_or(name);
    let hold = RecordedAuthorization {
        reason: text("reason")?.to_owned(),
        authority: text("authority")?.to_owned(),
    };
    Ok((text("of")?.parse().map_err(|_| "of")?, hold))
}

//! A grain as a flat record: what `--format` and `--fields` of lists choose from.

use grainstore::Grain;
use grainstore::query::Found;
use grainstore::store::Version;
use serde_json::{Map, Value, json};

/// The fields of a list of grains that names none.
pub(crate) const GRAIN_FIELDS: [&str; 5] = ["address", "type", "time", "summary", "status"];

/// Returns the fields of a grain, with those that the store adds.
pub(crate) fn grain_record(
    grain: &Grain,
    is_current: bool,
) -> serde_json::Result<Map<String, Value>> {
    let mut record: Map<String, Value> = serde_json::from_value(serde_json::to_value(grain)?)?;
    let status = if is_current { "current" } else { "superseded" };
    // They take the place of a field that a grain may have under the same name.
    for (name, value) in [
        ("address", json!(grain.address().to_string())),
        ("type", json!(grain.type_().to_string())),
        ("time", json!(grain.event_time().to_string())),
        ("summary", json!(grain.summary())),
        ("status", json!(status)),
    ] {
        record.insert(name.to_owned(), value);
    }
    Ok(record)
}

/// Returns the record of a version, with how it was stored.
pub(crate) fn version_record(version: &Version) -> serde_json::Result<Map<String, Value>> {
    let mut record = grain_record(&version.grain, version.status.is_current())?;
    let (at, by) = (version.stored_at.to_string(), &version.stored_by);
    record.insert("stored_at".to_owned(), json!(at));
    record.insert("stored_by".to_owned(), json!(by));
    Ok(record)
}

/// Returns the record of a grain that was found, with its score.
pub(crate) fn found_record(found: &Found) -> serde_json::Result<Map<String, Value>> {
    let mut record = grain_record(&found.grain, found.status.is_current())?;
    record.insert("score".to_owned(), json!(found.score));
    Ok(record)
}

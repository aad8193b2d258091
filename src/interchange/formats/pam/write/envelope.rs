//! The envelope of a written store: the original one, or a new one.

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::export::GENERATOR;
use crate::interchange::model::rfc3339::envelope_time;

use super::super::names::SCHEMA;

/// Returns the envelope: the original one, if there is one.
pub(super) fn envelope(mut envelopes: Vec<Map>, owner: Option<&str>, now: Time) -> Map {
    if let (1, Some(mut only)) = (envelopes.len(), envelopes.pop()) {
        // Where the schema allows null it means nothing else than absence.
        let nulls: Vec<String> = only
            .iter()
            .filter(|(_, value)| **value == Value::Nil)
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in nulls {
            only.remove(&name);
        }
        return only;
    }
    new_envelope(owner, now)
}

/// Returns the envelope of an incremental store (PAM 16).
pub(super) fn delta(owner: Option<&str>, now: Time, since: Time, base: Option<&str>) -> Map {
    let mut store = new_envelope(owner, now);
    store.insert("export_type", "incremental");
    store.insert("since", envelope_time(since));
    if let Some(base) = base {
        store.insert("base_export_id", base);
    }
    store
}

fn new_envelope(owner: Option<&str>, now: Time) -> Map {
    let mut store = Map::new();
    store.insert("schema", SCHEMA);
    store.insert("schema_version", "1.0");
    store.insert("exported_by", GENERATOR);
    store.insert("export_date", envelope_time(now));
    let id = owner.unwrap_or("local");
    let did = id.starts_with("did:").then_some(("did", id));
    let owner: Map = [("id", id)].into_iter().chain(did).collect();
    store.insert("owner", owner);
    store
}

//! UUIDs for records without an id, derived from their content.

use crate::codec::{ContentAddress, Map, Value};
use crate::interchange::export::GENERATOR;

/// Gives a new export an id, so that incremental ones can be based on it (PAM 16); the same
/// memories written at the same time are the same export.
pub(crate) fn name(store: &mut Map) {
    if store.contains("export_id")
        || store.get("exported_by").and_then(Value::as_text) != Some(GENERATOR)
    {
        return;
    }
    let names = [
        "export_date",
        "owner",
        "integrity",
        "since",
        "base_export_id",
    ];
    let said = names
        .iter()
        .filter_map(|name| Some((*name, store.get(name)?.clone())));
    let said = Value::Map(said.collect());
    store.insert("export_id", uuid_of(said.to_json().as_bytes()));
}

/// Returns a UUID made of an address: PAM wants the form of version 4 (PAM 4).
pub(crate) fn uuid(address: ContentAddress) -> String {
    uuid_from(address.as_bytes())
}

/// Returns a UUID of the same form made of any bytes.
pub(crate) fn uuid_of(bytes: &[u8]) -> String {
    uuid_from(ContentAddress::of(bytes).as_bytes())
}

fn uuid_from(hash: &[u8; 32]) -> String {
    let mut bytes: Vec<u8> = hash.iter().copied().take(16).collect();
    for (at, (keep, set)) in [(6, (0x0f, 0x40)), (8, (0x3f, 0x80))] {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = (*byte & keep) | set;
        }
    }
    let hex = data_encoding::HEXLOWER.encode(&bytes);
    let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
    let groups = [
        group(0, 8),
        group(8, 12),
        group(12, 16),
        group(16, 20),
        group(20, 32),
    ];
    groups.join("-")
}

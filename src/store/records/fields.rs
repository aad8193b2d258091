//! The members of a record's body: a canonical MessagePack map with short keys.
//!
//! Readers ignore unknown keys, so that later versions may add some. The records beside this file
//! define the keys.

use crate::codec::{self, Canonical, ContentAddress, Encoding, Map, Profile, Value};
use crate::grain::Time;
use crate::ledger::EntryId;

/// Encodes the members of a record.
///
/// # Errors
/// `ERR_CORRUPT` and the like for text without a canonical form: an entry that cannot be read again
/// would keep the store from opening, so it is not written.
pub(super) fn encode(map: Map) -> Result<Vec<u8>, codec::Error> {
    let map = Canonical::new(map, Profile::Extended)?;
    Ok(Encoding::MessagePack.encode(&map))
}

pub(super) fn decode(body: &[u8]) -> Option<Canonical> {
    Encoding::MessagePack.decode(body, Profile::Extended).ok()
}

pub(super) fn bytes(address: &ContentAddress) -> Value {
    Value::Bytes(address.as_bytes().to_vec())
}

/// Returns the sequence of an entry as a value.
pub(super) fn sequence(row: EntryId) -> Value {
    // A ledger has fewer than 2^63 entries, so none is lost.
    Value::from(i64::try_from(row.get()).unwrap_or(i64::MAX))
}

pub(super) fn address(map: &Map, key: &str) -> Option<ContentAddress> {
    to_address(map.get(key)?)
}

pub(super) fn to_address(value: &Value) -> Option<ContentAddress> {
    let bytes: [u8; 32] = value.as_bytes()?.try_into().ok()?;
    Some(ContentAddress::new(bytes))
}

pub(super) fn text<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_text)
}

pub(super) fn flag(map: &Map, key: &str) -> Option<bool> {
    map.get(key).and_then(Value::as_bool)
}

pub(super) fn time(map: &Map, key: &str) -> Option<Time> {
    map.get(key).and_then(Value::as_i64).map(Time::from_ms)
}

/// Returns the entry of a [`sequence`].
pub(super) fn row(map: &Map, key: &str) -> Option<EntryId> {
    count(map, key).map(EntryId::new)
}

pub(super) fn count(map: &Map, key: &str) -> Option<u64> {
    map.get(key)?.as_i64()?.try_into().ok()
}

/// Returns the texts of an array, unless one of its elements is no text.
pub(super) fn texts(map: &Map, key: &str) -> Option<Vec<String>> {
    let values = map.get(key)?.as_array()?.iter();
    let texts = values.map(|value| value.as_text().map(str::to_owned));
    texts.collect()
}

/// Returns the pseudonyms of persons, one behind the other; none without the member.
pub(super) fn uids(map: &Map, key: &str) -> Option<Vec<[u8; 16]>> {
    let Some(uids) = map.get(key) else {
        return Some(Vec::new());
    };
    let (uids, rest) = uids.as_bytes()?.as_chunks();
    rest.is_empty().then(|| uids.to_vec())
}

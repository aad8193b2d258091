//! The law of `decode_blob`: a blob that is accepted is exactly the bytes that its grain encodes
//! to, under every profile and in every direction.

use grainstore::codec::{Canonical, ContentAddress, Encoding, Flags, Header, Profile};
use grainstore::grain::{Draft, Grain, Type, Warning};
use sha2::{Digest, Sha256};

use crate::meter::{PLAIN, measure};
use crate::{choice, float64};

/// Reads bytes as a grain and, from the tenth on, as a payload.
///
/// - What a local store accepts, one that imports accepts; what a small profile accepts, so does a
///   larger one; and it is the same grain.
/// - An accepted grain has the bytes it was read from and their SHA-256 as its address.
/// - A grain accepted for a header that does not fit is accepted locally once it does.
/// - A locally accepted grain comes back from JSON, byte for byte.
/// - An accepted payload is the one that its map encodes to.
pub fn decode_blob(data: &[u8]) {
    for encoding in [Encoding::MessagePack, Encoding::Cbor] {
        payload(encoding, data.get(Header::LEN..).unwrap_or_default());
    }
    let foreign = read_foreign(data, Profile::Extended);
    let local = read_local(data, Profile::Extended);
    let small = choice(SMALL, data.len());
    if let Some((grain, _)) = read_foreign(data, small) {
        assert_eq!(Some(&grain), foreign.as_ref().map(|(grain, _)| grain));
    }
    if let Some(grain) = read_local(data, small) {
        assert_eq!(Some(&grain), local.as_ref());
    }
    match (local, foreign) {
        (None, None) => {}
        (Some(_), None) => panic!("accepted locally and refused as foreign"),
        (Some(grain), Some((same, _))) => {
            assert_eq!(grain, same);
            accepted(&grain, data);
            json_round_trip(&grain);
        }
        (None, Some((grain, warnings))) => {
            accepted(&grain, data);
            mended(&grain, &warnings);
        }
    }
}

/// Holds a grain to the bytes it was read from.
pub(crate) fn accepted(grain: &Grain, blob: &[u8]) {
    let address = <[u8; 32]>::from(Sha256::digest(blob));
    assert_eq!(grain.blob(), blob);
    assert_eq!(grain.address().as_bytes(), &address);
    let stored = Grain::from_stored(blob.to_vec(), ContentAddress::new(address));
    assert_eq!(stored.expect("it has its address").fields(), grain.fields());
}

/// Holds a grain that a local store accepts to coming back from its JSON.
pub(crate) fn json_round_trip(grain: &Grain) {
    if matches!(grain.type_(), Type::Opaque(_)) {
        return; // A draft is of one of the ten types.
    }
    let draft = Draft::from_json(&grain.to_json()).expect("JSON of a grain is a draft");
    let draft = draft
        .encoding(grain.encoding())
        .sensitivity(grain.header().sensitivity());
    let copy = draft
        .finish(Profile::Extended)
        .expect("JSON of a grain is valid");
    if copy == *grain {
        return;
    }
    // Ruling F9: of the two CBOR forms the one with wide floats is read and not written.
    assert_eq!(grain.encoding(), Encoding::Cbor);
    let map = payload_of(&copy);
    let blob = [&copy.blob()[..Header::LEN], &float64::encode(&map)].concat();
    assert_eq!(blob, grain.blob());
}

fn payload_of(grain: &Grain) -> Canonical {
    let payload = &grain.blob()[Header::LEN..];
    let map = grain.encoding().decode(payload, Profile::Extended);
    map.expect("a grain has a payload")
}

/// Writes the header that the payload calls for, which no mutation finds: it holds a hash.
fn mended(grain: &Grain, warnings: &[Warning]) {
    if warnings.iter().any(|warning| warning.field != "header") {
        return;
    }
    let entries = |name| {
        let entries = grain.field(name).and_then(|entries| entries.as_array());
        entries.is_some_and(|entries| !entries.is_empty())
    };
    let flags = Flags::sensitivity(grain.header().sensitivity())
        .with_if(Flags::CONTENT_REFS, entries("content_refs"))
        .with_if(Flags::EMBEDDING_REFS, entries("embedding_refs"))
        .with_if(Flags::CBOR, grain.encoding() == Encoding::Cbor);
    let header = Header {
        flags,
        namespace_hash: Header::hash_namespace(grain.text("namespace")),
        created_at_sec: Header::seconds(grain.created_at().ms()),
        ..*grain.header()
    };
    let blob = [&header.to_bytes(), &grain.blob()[Header::LEN..]].concat();
    let mended = Grain::from_blob(blob.clone(), Profile::Extended);
    let mended = mended.expect("nothing but the header was wrong");
    accepted(&mended, &blob);
    json_round_trip(&mended);
}

fn payload(encoding: Encoding, bytes: &[u8]) {
    let [extended, small] = [Profile::Extended, choice(SMALL, bytes.len())]
        .map(|profile| measure(PLAIN, bytes.len(), || encoding.decode(bytes, profile)).ok());
    if let Some(small) = small {
        let large = extended.as_ref().expect("a larger profile accepts it too");
        assert_eq!(encoding.encode(&small), encoding.encode(large));
    }
    let prefix = measure(PLAIN, bytes.len(), || {
        encoding.decode_prefix(bytes, Profile::Extended)
    });
    let len = prefix.as_ref().map(|(_, len)| *len).ok();
    assert_eq!(len == Some(bytes.len()), extended.is_some());
    if let Ok((map, len)) = prefix {
        canonical(encoding, &map, &bytes[..len]);
    }
}

/// Holds a decoded map to the bytes it was decoded from.
fn canonical(encoding: Encoding, map: &Canonical, bytes: &[u8]) {
    let again = encoding.encode(map);
    let wide = || encoding == Encoding::Cbor && float64::encode(map) == bytes;
    assert!(again == bytes || wide(), "{map:?} has two spellings");
    let same = Canonical::new(map.clone().into_map(), Profile::Extended);
    assert_eq!(encoding.encode(&same.expect("decoded is canonical")), again);
    for other in [Encoding::MessagePack, Encoding::Cbor] {
        let there = other.decode(&other.encode(map), Profile::Extended);
        let back = encoding.encode(&there.expect("encoded is decoded"));
        assert_eq!(back, again, "{map:?} is not the same in {other:?}");
    }
}

fn read_local(data: &[u8], profile: Profile) -> Option<Grain> {
    measure(PLAIN, data.len(), || {
        Grain::from_blob(data.to_vec(), profile).ok()
    })
}

fn read_foreign(data: &[u8], profile: Profile) -> Option<(Grain, Vec<Warning>)> {
    measure(PLAIN, data.len(), || {
        Grain::from_foreign_blob(data.to_vec(), profile).ok()
    })
}

const SMALL: [Profile; 2] = [Profile::Standard, Profile::Lightweight];

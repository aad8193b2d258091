//! Every error code of OMS section 19, reached through the public face.

use grainstore::codec::{ContentAddress, Encoding, Map, Profile, Value};
use grainstore::grain::{Draft, Grain, Time};
use grainstore::store::{Options, Store};

/// How a code is reached, or what it waits for.
enum Reached {
    By(fn() -> &'static str),
    Waiting(&'static str),
}
use Reached::{By, Waiting};

/// The conditions of OMS 19.1, 19.2 and 19.3 in their order.
const CONDITIONS: &[(&str, &str, Reached)] = &[
    (
        "blob shorter than 10 bytes",
        "ERR_TOO_SHORT",
        By(|| of_blob(vec![1, 0, 2, 0, 0, 0, 0, 0, 0])),
    ),
    (
        "unsupported version byte",
        "ERR_VERSION",
        By(|| of_changed(0, 2)),
    ),
    (
        "malformed MessagePack",
        "ERR_CORRUPT",
        By(|| of_blob(vec![1, 0, 2, 0, 0, 0, 0, 0, 0, 0xc1])),
    ),
    (
        "malformed CBOR",
        "ERR_CORRUPT",
        By(|| of_blob(vec![1, 0x20, 2, 0, 0, 0, 0, 0, 0, 0xff])),
    ),
    (
        "payload is not a map",
        "ERR_NOT_MAP",
        By(|| of_blob(vec![1, 0, 2, 0, 0, 0, 0, 0, 0, 0x90])),
    ),
    (
        "missing type field",
        "ERR_NO_TYPE",
        By(|| of_blob(vec![1, 0, 2, 0, 0, 0, 0, 0, 0, 0x80])),
    ),
    (
        "unknown type value",
        "ERR_UNKNOWN_TYPE",
        By(|| of_json(r#"{"type": "episode"}"#)),
    ),
    (
        "missing required field",
        "ERR_SCHEMA",
        By(|| of_json(r#"{"type": "goal", "description": "d", "created_at": 1}"#)),
    ),
    (
        "SHA-256 mismatch",
        "ERR_INTEGRITY",
        By(|| {
            let other = ContentAddress::of(b"other");
            let stored = Grain::from_stored(belief().into_blob(), other);
            stored.unwrap_err().code()
        }),
    ),
    (
        "content address not lowercase hex",
        "ERR_HASH_FORMAT",
        By(|| of_address(&"G".repeat(64))),
    ),
    (
        "content address of another length",
        "ERR_HASH_LENGTH",
        By(|| of_address("abc")),
    ),
    (
        "confidence out of range",
        "ERR_RANGE",
        By(|| of_draft(Draft::belief("a", "b", "c").confidence(1.1))),
    ),
    (
        "importance out of range",
        "ERR_RANGE",
        By(|| of_draft(Draft::event("a").importance(-0.1))),
    ),
    (
        "empty required string",
        "ERR_EMPTY",
        By(|| of_draft(Draft::event(""))),
    ),
    (
        "negative count",
        "ERR_RANGE",
        By(|| of_draft(Draft::event("a").set("success_count", -1))),
    ),
    (
        "float is NaN",
        "ERR_FLOAT_INVALID",
        By(|| of_draft(Draft::event("a").importance(f64::NAN))),
    ),
    (
        "float is infinite in a blob",
        "ERR_FLOAT_INVALID",
        By(|| {
            let mut blob = vec![1, 0, 2, 0, 0, 0, 0, 0, 0, 0x81, 0xa1, b'x', 0xcb];
            blob.extend_from_slice(&f64::INFINITY.to_be_bytes());
            of_blob(blob)
        }),
    ),
    (
        "signed flag without a wrapper",
        "ERR_SIGNED_MISMATCH",
        By(|| of_changed(1, 1)),
    ),
    (
        "header sensitivity below the tags",
        "ERR_SENSITIVITY_MISMATCH",
        By(|| {
            let mut blob = finished(Draft::event("a").tag("phi:mrn")).into_blob();
            blob[1] &= 0x3f;
            of_blob(blob)
        }),
    ),
    (
        "duplicate map keys",
        "ERR_CORRUPT",
        By(|| of_payload(&[0x82, 0xa1, b'a', 1, 0xa1, b'a', 1])),
    ),
    (
        "duplicate keys in JSON",
        "ERR_CORRUPT",
        By(|| of_json(r#"{"type": "event", "type": "event"}"#)),
    ),
    (
        "string contains a BOM",
        "ERR_CORRUPT",
        By(|| of_draft(Draft::event("a\u{feff}"))),
    ),
    (
        "string in a blob contains a BOM",
        "ERR_CORRUPT",
        By(|| of_payload(&[0x81, 0xa1, b'a', 0xa3, 0xef, 0xbb, 0xbf])),
    ),
    (
        "supersession against the policy",
        "ERR_INVALIDATION_DENIED",
        By(|| of_supersession("locked")),
    ),
    (
        "policy mode unknown",
        "ERR_INVALIDATION_DENIED",
        By(|| of_supersession("made_up")),
    ),
    (
        "satisfied without the evidence required",
        "ERR_EVIDENCE_REQUIRED",
        Waiting("policy"),
    ),
];

#[test]
fn every_code_of_section_19_is_reached_or_waits() {
    for (condition, code, reached) in CONDITIONS {
        match reached {
            By(reach) => assert_eq!(reach(), *code, "{condition}"),
            Waiting(topic) => assert_eq!(*topic, "policy", "{condition}"),
        }
    }
    let codes: std::collections::BTreeSet<_> = CONDITIONS.iter().map(|(_, code, _)| code).collect();
    assert_eq!(codes.len(), 17, "{codes:?}");
}

fn finished(draft: Draft) -> Grain {
    let draft = draft.created_at(Time::from_ms(1));
    draft.finish(Profile::Extended).unwrap()
}

fn belief() -> Grain {
    finished(Draft::belief("a", "likes", "b").confidence(1.0))
}

fn of_blob(blob: Vec<u8>) -> &'static str {
    let read = Grain::from_blob(blob, Profile::Extended);
    read.unwrap_err().code()
}

fn of_changed(at: usize, byte: u8) -> &'static str {
    let mut blob = belief().into_blob();
    blob[at] = byte;
    of_blob(blob)
}

fn of_payload(bytes: &[u8]) -> &'static str {
    let decoded = Encoding::MessagePack.decode(bytes, Profile::Extended);
    decoded.unwrap_err().code()
}

fn of_json(json: &str) -> &'static str {
    let finished = Draft::from_json(json).and_then(|draft| draft.finish(Profile::Extended));
    finished.unwrap_err().code()
}

fn of_draft(draft: Draft) -> &'static str {
    let draft = draft.created_at(Time::from_ms(1));
    draft.finish(Profile::Extended).unwrap_err().code()
}

fn of_address(text: &str) -> &'static str {
    text.parse::<ContentAddress>().unwrap_err().code()
}

fn of_supersession(mode: &str) -> &'static str {
    let store = Store::in_memory(Options::default()).unwrap();
    let policy = Map::from_iter([("mode", Value::from(mode))]);
    let old = Draft::event("a").set("invalidation_policy", policy);
    let old = store.put(old.created_at(Time::from_ms(1))).unwrap();
    let new = Draft::event("b").derived_from(old);
    let superseded = store.supersede(&old, new.created_at(Time::from_ms(2)), None);
    superseded.unwrap_err().code()
}

//! Every error code of OMS section 19, reached through the public face.

use grainstore::ErrorCode;
use grainstore::Store;
use grainstore::codec::{ContentAddress, Encoding, Map, Profile, Value};
use grainstore::grain::{Draft, Grain, Time};
use grainstore::store::Options;

/// How a code is reached.
type Reach = fn() -> ErrorCode;

/// The conditions of OMS 19.1, 19.2 and 19.3 in their order.
const CONDITIONS: &[(&str, &str, Reach)] = &[
    ("blob shorter than 10 bytes", "ERR_TOO_SHORT", || {
        of_blob(vec![1, 0, 2, 0, 0, 0, 0, 0, 0])
    }),
    ("unsupported version byte", "ERR_VERSION", || {
        of_changed(0, 2)
    }),
    ("malformed MessagePack", "ERR_CORRUPT", || {
        of_blob(vec![1, 0, 2, 0, 0, 0, 0, 0, 0, 0xc1])
    }),
    ("malformed CBOR", "ERR_CORRUPT", || {
        of_blob(vec![1, 0x20, 2, 0, 0, 0, 0, 0, 0, 0xff])
    }),
    ("payload is not a map", "ERR_NOT_MAP", || {
        of_blob(vec![1, 0, 2, 0, 0, 0, 0, 0, 0, 0x90])
    }),
    ("missing type field", "ERR_NO_TYPE", || {
        of_blob(vec![1, 0, 2, 0, 0, 0, 0, 0, 0, 0x80])
    }),
    ("unknown type value", "ERR_UNKNOWN_TYPE", || {
        of_json(r#"{"type": "episode"}"#)
    }),
    ("missing required field", "ERR_SCHEMA", || {
        of_json(r#"{"type": "goal", "description": "d", "created_at": 1}"#)
    }),
    ("SHA-256 mismatch", "ERR_INTEGRITY", || {
        let other = ContentAddress::of(b"other");
        let stored = Grain::from_stored(belief().into_blob(), other);
        stored.unwrap_err().code()
    }),
    (
        "content address not lowercase hex",
        "ERR_HASH_FORMAT",
        || of_address(&"G".repeat(64)),
    ),
    (
        "content address of another length",
        "ERR_HASH_LENGTH",
        || of_address("abc"),
    ),
    ("confidence out of range", "ERR_RANGE", || {
        of_draft(Draft::belief("a", "b", "c").confidence(1.1))
    }),
    ("importance out of range", "ERR_RANGE", || {
        of_draft(Draft::event("a").importance(-0.1))
    }),
    ("empty required string", "ERR_EMPTY", || {
        of_draft(Draft::event(""))
    }),
    ("negative count", "ERR_RANGE", || {
        of_draft(Draft::event("a").set("success_count", -1))
    }),
    ("float is NaN", "ERR_FLOAT_INVALID", || {
        of_draft(Draft::event("a").importance(f64::NAN))
    }),
    ("float is infinite in a blob", "ERR_FLOAT_INVALID", || {
        let mut blob = vec![1, 0, 2, 0, 0, 0, 0, 0, 0, 0x81, 0xa1, b'x', 0xcb];
        blob.extend_from_slice(&f64::INFINITY.to_be_bytes());
        of_blob(blob)
    }),
    (
        "signed flag without a wrapper",
        "ERR_SIGNED_MISMATCH",
        || of_changed(1, 1),
    ),
    (
        "wrapper without the signed flag",
        "ERR_SIGNED_MISMATCH",
        || {
            let read = Grain::from_signed_blob(belief().into_blob(), Profile::Extended);
            read.unwrap_err().code()
        },
    ),
    (
        "header sensitivity below the tags",
        "ERR_SENSITIVITY_MISMATCH",
        || {
            let mut blob = finished(Draft::event("a").tag("phi:mrn")).into_blob();
            blob[1] &= 0x3f;
            of_blob(blob)
        },
    ),
    ("duplicate map keys", "ERR_CORRUPT", || {
        of_payload(&[0x82, 0xa1, b'a', 1, 0xa1, b'a', 1])
    }),
    ("duplicate keys in JSON", "ERR_CORRUPT", || {
        of_json(r#"{"type": "event", "type": "event"}"#)
    }),
    ("string contains a BOM", "ERR_CORRUPT", || {
        of_draft(Draft::event("a\u{feff}"))
    }),
    ("string in a blob contains a BOM", "ERR_CORRUPT", || {
        of_payload(&[0x81, 0xa1, b'a', 0xa3, 0xef, 0xbb, 0xbf])
    }),
    (
        "supersession against the policy",
        "ERR_INVALIDATION_DENIED",
        || of_supersession("locked"),
    ),
    ("policy mode unknown", "ERR_INVALIDATION_DENIED", || {
        of_supersession("made_up")
    }),
    (
        "satisfied without the evidence required",
        "ERR_EVIDENCE_REQUIRED",
        of_goal,
    ),
];

#[test]
fn every_code_of_section_19_is_reached() {
    for (condition, code, reach) in CONDITIONS {
        assert_eq!(reach(), *code, "{condition}");
    }
    let codes: std::collections::BTreeSet<_> = CONDITIONS.iter().map(|(_, code, _)| code).collect();
    assert_eq!(codes.len(), 17, "{codes:?}");
}

#[test]
fn every_code_has_a_wire_name_of_its_own() {
    let names: std::collections::BTreeSet<_> =
        ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), ErrorCode::ALL.len());
    assert!(ErrorCode::ALL.iter().all(|code| *code == code.as_str()));
}

fn finished(draft: Draft) -> Grain {
    let draft = draft.created_at(Time::from_ms(1));
    draft.finish(Profile::Extended).unwrap()
}

fn belief() -> Grain {
    finished(Draft::belief("a", "likes", "b").confidence(1.0))
}

fn of_blob(blob: Vec<u8>) -> ErrorCode {
    let read = Grain::from_blob(blob, Profile::Extended);
    read.unwrap_err().code()
}

fn of_changed(at: usize, byte: u8) -> ErrorCode {
    let mut blob = belief().into_blob();
    blob[at] = byte;
    of_blob(blob)
}

fn of_payload(bytes: &[u8]) -> ErrorCode {
    let decoded = Encoding::MessagePack.decode(bytes, Profile::Extended);
    decoded.unwrap_err().code()
}

fn of_json(json: &str) -> ErrorCode {
    let finished = Draft::from_json(json).and_then(|draft| draft.finish(Profile::Extended));
    finished.unwrap_err().code()
}

fn of_draft(draft: Draft) -> ErrorCode {
    let draft = draft.created_at(Time::from_ms(1));
    draft.finish(Profile::Extended).unwrap_err().code()
}

fn of_address(text: &str) -> ErrorCode {
    text.parse::<ContentAddress>().unwrap_err().code()
}

fn of_supersession(mode: &str) -> ErrorCode {
    let store = Store::in_memory(Options::default()).unwrap();
    let policy = Map::from_iter([("mode", Value::from(mode))]);
    let old = Draft::event("a").set("invalidation_policy", policy);
    let old = store.put(old.created_at(Time::from_ms(1))).unwrap();
    let new = Draft::event("b").derived_from(old);
    let superseded = store.supersede(&old, new.created_at(Time::from_ms(2)), None);
    superseded.unwrap_err().code()
}

fn of_goal() -> ErrorCode {
    let store = Store::in_memory(Options::default()).unwrap();
    let goal = |state: &str| {
        let policy = Map::from_iter([("mode", Value::from("locked"))]);
        Draft::goal("tidy up")
            .set("goal_state", state)
            .set("invalidation_policy", policy)
            .set(
                "allowed_transitions",
                Value::Array(vec!["satisfied".into()]),
            )
            .set("evidence_required", 1)
            .created_at(Time::from_ms(1))
    };
    let active = store.put(goal("active")).unwrap();
    let satisfied = goal("satisfied").derived_from(active);
    let superseded = store.supersede(&active, satisfied, None);
    superseded.unwrap_err().code()
}

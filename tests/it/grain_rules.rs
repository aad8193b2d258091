//! Rules of grains one by one: the keys of their fields, the header, and what a blob may hold.

mod every_spelling;
mod fields;
mod recommended;
mod schema;

use grainstore::codec::{Canonical, Encoding, Flags, Header, Map, Profile, Sensitivity, Value};
use grainstore::grain::{Draft, Error, Field, Grain, Time, Type};

use fields::MINIMAL;

const NOW_MS: i64 = 1_768_471_200_999;

fn belief() -> Draft {
    Draft::belief("user", "prefers", "dark mode")
        .confidence(0.9)
        .created_at(Time::from_ms(NOW_MS))
}

fn parsed(json: &str) -> Map {
    let value = Value::from_json(&json.replace("NOW", "\"created_at\": 1768471200999"));
    value.unwrap().as_map().unwrap().clone()
}

fn finish(fields: Map) -> Result<Grain, Error> {
    Draft::from_value(Value::Map(fields))?.finish(Profile::Extended)
}

fn finish_json(json: &str) -> Result<Grain, Error> {
    finish(parsed(json))
}

fn code(json: &str) -> &'static str {
    finish_json(json).map_or_else(|error| error.code().as_str(), |_| "valid")
}

/// A blob as another program may write it: the payload's keys as given, no namespace.
fn blob(type_byte: u8, flags: Flags, payload: Map) -> Vec<u8> {
    let created_at = payload.get("ca").and_then(Value::as_i64);
    let header = Header {
        flags,
        type_byte,
        namespace_hash: [0, 0],
        created_at_sec: Header::seconds(created_at.unwrap_or_default()),
    };
    let mut blob = header.to_bytes().to_vec();
    let payload = Canonical::new(payload, Profile::Extended).unwrap();
    Encoding::MessagePack.encode_into(&mut blob, &payload);
    blob
}

fn payload(grain: &Grain) -> Map {
    let bytes = &grain.blob()[Header::LEN..];
    let payload = Encoding::MessagePack.decode(bytes, Profile::Extended);
    payload.unwrap().into_map()
}

#[test]
fn every_field_has_the_short_key_of_its_table() {
    // OMS 6.1–6.11, 7, 14.2 and Appendix C, copied from the text into the vectors.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/test-vectors/oms/fields.json");
    let rows = Value::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 194);
    for row in rows {
        let row = row.as_map().unwrap();
        let text = |name| row.get(name).and_then(Value::as_text);
        let (name, key) = (text("name").unwrap(), text("key").unwrap());
        // The rules of the types do not judge an opaque grain, so any field can stand in it.
        let of = match key {
            "cnt" => Type::Action,
            _ => Type::Opaque(0x42),
        };
        let field = match text("in") {
            None if of == Type::Action => {
                let grain = Draft::action("t", Map::new(), 1, false).created_at(Time::from_ms(1));
                let payload = payload(&grain.finish(Profile::Extended).unwrap());
                assert!(payload.contains("cnt") && !payload.contains("content"));
                continue;
            }
            // Ruling P14: no blob says what the store says, so these stand under their keys.
            None if Field::is_index_layer(name) => {
                let draft = Draft::new(of).set(name, 1);
                assert_eq!(
                    draft.finish(Profile::Extended).unwrap_err().code(),
                    "ERR_SCHEMA"
                );
                Draft::new(of).set(key, 1)
            }
            None => Draft::new(of).set(name, 1),
            Some("context") => Draft::new(of)
                .tag("profile:integration")
                .set("context", Map::from_iter([(name, 1)])),
            Some(outer) => Draft::new(of).push(outer, Value::Map(Map::from_iter([(name, 1)]))),
        };
        let grain = field.finish(Profile::Extended).unwrap();
        let payload = payload(&grain);
        let found = match text("in") {
            None => payload,
            Some("context") => payload.get("ctx").unwrap().as_map().unwrap().clone(),
            Some(outer) => {
                let outer = payload.get(Field::named(outer).unwrap().key).unwrap();
                outer.as_array().unwrap()[0].as_map().unwrap().clone()
            }
        };
        let keys: Vec<&str> = found.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, [key], "{name}");
        // And back.
        let read = Grain::from_stored(grain.blob().to_vec(), grain.address()).unwrap();
        assert_eq!(read.fields(), grain.fields(), "{name}");
    }
    // Nothing else is compacted but the names of later revisions (ruling T16).
    let later = [
        "embedding_text",
        "nodes",
        "edges",
        "bindings",
        "retries",
        "rec_status",
    ];
    let is_in_the_text = |field: &Field| {
        let named = |row: &Value| row.as_map().unwrap().get("name") == Some(&field.name.into());
        rows.iter().any(named)
    };
    for field in Field::all() {
        assert!(
            is_in_the_text(field) || later.contains(&field.name),
            "{}",
            field.name
        );
        // Appendix A: a profile's fields have a prefix, so they can never meet a core name.
        assert!(!field.name.contains(':') && !field.key.contains(':'));
    }
}

#[test]
fn the_bits_of_the_header_are_those_of_the_table() {
    let flags = |draft: Draft| draft.finish(Profile::Extended).unwrap().blob()[1];
    assert_eq!(flags(belief()), 0b0000_0000);
    assert_eq!(flags(belief().to_be_signed()), 0b0000_0001);
    let reference = Map::from_iter([("uri", "u"), ("modality", "image")]);
    let reference = belief().push("content_refs", Value::Map(reference));
    assert_eq!(flags(reference), 0b0000_1000);
    let mut vector = Map::from_iter([("vector_id", "v"), ("model", "m")]);
    vector.insert("dimensions", 3);
    let vector = belief().push("embedding_refs", Value::Map(vector));
    assert_eq!(flags(vector), 0b0001_0000);
    assert_eq!(flags(belief().encoding(Encoding::Cbor)), 0b0010_0000);
    for (level, bits) in [
        (Sensitivity::Internal, 0b0100_0000),
        (Sensitivity::Pii, 0b1000_0000),
        (Sensitivity::Phi, 0b1100_0000),
    ] {
        assert_eq!(flags(belief().sensitivity(level)), bits);
    }
    // A payload that is said to be compressed and is not is refused; one that is said to be encrypted
    // is not looked at (rulings S3, S4, P4).
    let flagged = |bit: u8| {
        let mut blob = belief().finish(Profile::Extended).unwrap().into_blob();
        blob[1] |= bit;
        Grain::from_foreign_blob(blob, Profile::Extended)
    };
    assert_eq!(flagged(0b100).unwrap_err().code(), "ERR_CORRUPT");
    let (sealed, warnings) = flagged(0b010).unwrap();
    assert!(sealed.is_encrypted() && sealed.fields().is_empty());
    assert_eq!(warnings[0].field, "payload");
}

#[test]
fn the_ten_types_have_their_bytes_and_names() {
    let names = [
        "belief",
        "event",
        "state",
        "workflow",
        "action",
        "observation",
        "goal",
        "reasoning",
        "consensus",
        "consent",
    ];
    for ((byte, name), json) in (1..).zip(names).zip(MINIMAL) {
        let grain = finish_json(json).unwrap();
        assert_eq!((grain.blob()[2], grain.text("type")), (byte, Some(name)));
    }
}

#[test]
fn the_other_names_of_two_types_are_kept_as_written() {
    // Ruling F1: the byte is the type; what the payload calls it is the writer's word.
    let fact = MINIMAL[0].replace("belief", "fact");
    let tool = MINIMAL[4].replace("action", "tool");
    for (json, byte, name) in [(fact, 1, "fact"), (tool, 5, "tool")] {
        let grain = finish_json(&json).unwrap();
        assert_eq!((grain.blob()[2], grain.text("type")), (byte, Some(name)));
        let read = Grain::from_blob(grain.blob().to_vec(), Profile::Extended).unwrap();
        assert_eq!(read.text("type"), Some(name));
    }
}

#[test]
fn a_profile_bounds_blobs_at_its_maximum_and_not_below() {
    for (profile, max) in [
        (Profile::Extended, 1_048_576),
        (Profile::Standard, 32_768),
        (Profile::Lightweight, 512),
    ] {
        let with = |len: usize| belief().set("object", "x".repeat(len));
        let draft = with(max - 200);
        let len = max - 200 + max - draft.finish(Profile::Extended).unwrap().blob().len();
        let grain = with(len).finish(profile).unwrap();
        assert_eq!(grain.blob().len(), max);
        assert!(Grain::from_blob(grain.into_blob(), profile).is_ok());
        let error = with(len + 1).finish(profile).unwrap_err();
        assert_eq!(error.code(), "ERR_RANGE", "{profile:?}");
        let mut longer = payload(&with(len).finish(Profile::Extended).unwrap());
        longer.insert("o", "x".repeat(len + 1));
        let longer = blob(1, Flags::default(), longer);
        let error = Grain::from_blob(longer, profile).unwrap_err();
        assert_eq!(error.code(), "ERR_RANGE", "{profile:?}");
    }
}

#[test]
fn the_payloads_time_counts_and_not_the_headers() {
    let grain = belief().finish(Profile::Extended).unwrap();
    assert_eq!(grain.header().created_at_sec, 1_768_471_200);
    assert_eq!(grain.created_at().ms(), NOW_MS);
    let mut lying = grain.into_blob();
    lying[5] ^= 0x40;
    let (kept, _) = Grain::from_foreign_blob(lying, Profile::Extended).unwrap();
    assert_eq!(kept.created_at().ms(), NOW_MS);
}

#[test]
fn a_time_between_milliseconds_is_rounded_down_also_before_1970() {
    for (text, ms) in [
        ("1970-01-01T00:00:00.0019999Z", 1),
        ("1969-12-31T23:59:59.9990001Z", -1),
        ("1969-12-31T23:59:59.9989999Z", -2),
    ] {
        let grain = finish_json(&format!(
            r#"{{"type": "event", "content": "a", "created_at": "{text}"}}"#
        ));
        assert_eq!(grain.unwrap().created_at().ms(), ms, "{text}");
    }
}

#[test]
fn the_same_claim_in_another_second_is_another_grain() {
    let at = |ms| {
        let draft = belief().created_at(Time::from_ms(ms));
        draft.finish(Profile::Extended).unwrap().address()
    };
    assert_eq!(at(1_000), at(1_000));
    assert_ne!(at(1_000), at(2_000));
}

#[test]
fn a_reference_keeps_its_prefix_and_is_resolved_without_it() {
    let source = belief().finish(Profile::Extended).unwrap().address();
    for prefix in ["", "sha256:", "mg:sha256:"] {
        let reference = format!("{prefix}{source}");
        let draft = Draft::event("a").push("derived_from", reference.as_str());
        let grain = draft.created_at(Time::from_ms(1)).finish(Profile::Extended);
        let grain = grain.unwrap();
        assert_eq!(grain.derived_from().collect::<Vec<_>>(), [source]);
        let stored = payload(&grain);
        let stored: Vec<&str> = stored.get("df").unwrap().texts().collect();
        assert_eq!(stored, [reference.as_str()]);
    }
}

#[test]
fn keys_of_later_revisions_cannot_be_taken() {
    assert_eq!(
        code(r#"{"type": "event", "content": "a", "bind": 1, NOW}"#),
        "ERR_CORRUPT"
    );
    for name in ["nodes", "edges"] {
        let json = format!(r#"{{"type": "event", "content": "a", "{name}": "mine", NOW}}"#);
        assert_eq!(code(&json), "ERR_SCHEMA", "{name}");
    }
    let graph = MINIMAL[3].replace("NOW", r#""bindings": {"a": 1}, "retries": 3, NOW"#);
    let payload = payload(&finish_json(&graph).unwrap());
    assert!(payload.contains("bind") && payload.contains("retries"));
}

#[test]
fn bytes_stand_in_two_fields_only() {
    let bytes = || Value::Bytes(vec![1, 2]);
    let inside = |name: &str| Value::Map(Map::from_iter([(name, bytes())]));
    for (name, value) in [
        ("trusted_timestamp", inside("tsp_response")),
        ("supersession_auth", Value::Array(vec![bytes()])),
    ] {
        let grain = belief().set(name, value).finish(Profile::Extended).unwrap();
        assert!(Grain::from_blob(grain.into_blob(), Profile::Extended).is_ok());
    }
    for (name, value) in [
        ("app_image", bytes()),
        ("context", inside("image")),
        ("content_refs", Value::Array(vec![inside("data")])),
        ("trusted_timestamp", inside("image")),
        ("supersession_auth", Value::Array(vec![inside("image")])),
    ] {
        let error = belief().set(name, value.clone()).finish(Profile::Extended);
        assert_eq!(error.unwrap_err().code(), "ERR_CORRUPT", "{name}");
        let mut payload = payload(&belief().finish(Profile::Extended).unwrap());
        payload.insert(Field::named(name).map_or(name, |field| field.key), value);
        let blob = blob(1, Flags::default(), payload);
        let error = Grain::from_foreign_blob(blob, Profile::Extended).unwrap_err();
        assert_eq!(error.code(), "ERR_CORRUPT", "{name}");
    }
}

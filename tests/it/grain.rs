//! Grains: whatever is accepted is rebuilt to the byte, and what a rule forbids has its code.

mod tables;

use grainstore::codec::{ContentAddress, Encoding, Flags, Header, Map, Profile, Value};
use grainstore::grain::{Draft, Field, Grain, Time, Type};

use crate::random::{Random, cases, seeds};
use crate::sample::draft;

use tables::{ACCEPTED, NOW, REFUSED};

#[test]
fn a_grain_is_the_same_in_both_encodings_and_in_json() {
    for seed in seeds(cases(5_000).into()) {
        let random = &mut Random::new(seed);
        let draft = draft(random);
        let packed = draft.clone().encoding(Encoding::MessagePack);
        let packed = packed.finish(Profile::Extended).unwrap();
        let cbor = draft.encoding(Encoding::Cbor);
        let cbor = cbor.finish(Profile::Extended).unwrap();
        assert_ne!(packed.address(), cbor.address(), "OMS 16.2");
        assert_eq!(packed.fields(), cbor.fields());
        for grain in [packed, cbor] {
            let read = Grain::from_blob(grain.blob().to_vec(), Profile::Extended).unwrap();
            assert_eq!(read.address(), grain.address());
            assert_eq!(read.fields(), grain.fields());
            let again = Draft::from_json(&grain.to_json()).unwrap();
            let again = again.encoding(grain.encoding());
            let again = again.finish(Profile::Extended).unwrap();
            assert_eq!(again.blob(), grain.blob());
        }
    }
}

#[test]
fn a_changed_byte_gives_another_grain_or_an_error_and_never_a_panic() {
    for seed in seeds(20_000) {
        let random = &mut Random::new(seed);
        let mut blob = draft(random).finish(Profile::Extended).unwrap().into_blob();
        let at = random.below(blob.len());
        blob[at] = random.number().to_be_bytes()[0];
        if let Ok(grain) = Grain::from_blob(blob.clone(), Profile::Extended) {
            assert_eq!(grain.address(), ContentAddress::of(&blob));
        }
    }
}

#[test]
fn what_a_rule_forbids_is_refused_with_its_code() {
    for (section, json, code) in REFUSED {
        let json = json.replace("NOW", NOW);
        let result = Draft::from_json(&json).and_then(|draft| draft.finish(Profile::Extended));
        match result {
            Ok(_) => panic!("{section}: accepted: {json}"),
            Err(error) => assert_eq!(error.code(), *code, "{section}: {json}: {error}"),
        }
    }
}

#[test]
fn the_edges_of_the_rules_are_valid() {
    for (section, json) in ACCEPTED {
        let json = json.replace("NOW", NOW);
        let draft = Draft::from_json(&json).unwrap();
        let grain = draft.finish(Profile::Extended).unwrap_or_else(|error| {
            panic!("{section}: {json}: {error}");
        });
        assert!(
            Grain::from_blob(grain.into_blob(), Profile::Extended).is_ok(),
            "{section}"
        );
    }
}

fn belief() -> Draft {
    Draft::belief("user", "prefers", "dark mode")
        .confidence(0.9)
        .namespace("work")
        .created_at(Time::from_ms(1_768_471_200_000))
}

#[test]
fn a_header_that_does_not_fit_its_payload_is_refused_here_and_kept_from_elsewhere() {
    let grain = belief().finish(Profile::Extended).unwrap();
    // Ruling F12: flags, namespace hash and seconds all follow from the payload.
    for (byte, bit) in [(1, 3), (1, 4), (3, 0), (4, 7), (5, 1), (8, 2)] {
        let mut blob = grain.blob().to_vec();
        blob[byte] ^= 1 << bit;
        let error = Grain::from_blob(blob.clone(), Profile::Extended).unwrap_err();
        assert_eq!(error.code(), "ERR_CORRUPT", "byte {byte}");
        let (kept, warnings) = Grain::from_foreign_blob(blob, Profile::Extended).unwrap();
        assert_eq!(
            (kept.text("object"), warnings.len()),
            (Some("dark mode"), 1)
        );
    }
}

#[test]
fn blobs_of_other_versions_types_and_wrappings_are_refused_with_their_codes() {
    let grain = belief().finish(Profile::Extended).unwrap();
    let with = |byte: usize, value: u8| {
        let mut blob = grain.blob().to_vec();
        blob[byte] = value;
        Grain::from_blob(blob, Profile::Extended).unwrap_err()
    };
    assert_eq!(with(0, 2).code(), "ERR_VERSION");
    assert!(
        with(0, 2).to_string().contains('2'),
        "OMS 19.4: the version is in the message"
    );
    assert_eq!(with(2, 0).code(), "ERR_UNKNOWN_TYPE");
    assert_eq!(with(2, 5).code(), "ERR_UNKNOWN_TYPE");
    assert_eq!(with(1, Flags::SIGNED.bits()).code(), "ERR_SIGNED_MISMATCH");
    assert_eq!(with(1, Flags::ENCRYPTED.bits()).code(), "ERR_CORRUPT");
    assert_eq!(with(1, Flags::COMPRESSED.bits()).code(), "ERR_CORRUPT");
    let short = Grain::from_blob(grain.blob()[..9].to_vec(), Profile::Extended).unwrap_err();
    assert_eq!(short.code(), "ERR_TOO_SHORT");
}

#[test]
fn sensitivity_below_the_tags_is_refused_and_above_them_is_kept() {
    let grain = belief().tag("pii:email").finish(Profile::Extended).unwrap();
    assert_eq!(grain.header().sensitivity().name(), "pii");
    let with_level = |level: u8| {
        let mut blob = grain.blob().to_vec();
        blob[1] = (blob[1] & 0x3f) | (level << 6);
        Grain::from_blob(blob, Profile::Extended)
    };
    for level in [0, 1] {
        let error = with_level(level).unwrap_err();
        assert_eq!(error.code(), "ERR_SENSITIVITY_MISMATCH");
    }
    assert_eq!(with_level(3).unwrap().header().sensitivity().name(), "phi");
}

#[test]
fn opaque_types_are_kept_verbatim_and_not_judged() {
    // OMS 19.4, ruling F2: a later revision's type, with keys it compacts its own way.
    let map = Map::from_iter([
        ("t", Value::from("skill")),
        ("description", "spelled out".into()),
    ]);
    let map = grainstore::codec::Canonical::new(map, Profile::Extended).unwrap();
    for byte in [0x0b, 0x7f, 0xef, 0xf0, 0xff] {
        let header = Header {
            flags: Flags::default(),
            type_byte: byte,
            namespace_hash: [0, 0],
            created_at_sec: 0,
        };
        let mut blob = header.to_bytes().to_vec();
        Encoding::MessagePack.encode_into(&mut blob, &map);
        let grain = Grain::from_blob(blob.clone(), Profile::Extended).unwrap();
        assert_eq!(
            (grain.type_(), grain.blob()),
            (Type::Opaque(byte), &blob[..])
        );
        assert_eq!(grain.text("description"), Some("spelled out"));
    }
}

#[test]
fn what_a_later_type_says_of_itself_is_no_status() {
    // Ruling P14: the keys of the index layer, in a map that is compacted as ours are.
    let keys = ["sb", "svt", "vstatus", "ac", "laa", "ct", "rstat"];
    let said = keys.map(|key| (key, Value::from("verified")));
    let map = Map::from_iter([("t", Value::from("skill")), ("s", "subject".into())]);
    let map: Map = map
        .into_iter()
        .chain(said.map(|(key, value)| (key.to_owned(), value)))
        .collect();
    let map = grainstore::codec::Canonical::new(map, Profile::Extended).unwrap();
    let header = Header {
        flags: Flags::default(),
        type_byte: 0x0b,
        namespace_hash: [0, 0],
        created_at_sec: 0,
    };
    let mut blob = header.to_bytes().to_vec();
    Encoding::MessagePack.encode_into(&mut blob, &map);
    let grain = Grain::from_blob(blob.clone(), Profile::Extended).unwrap();
    let names: Vec<_> = grain.fields().iter().map(|(name, _)| name).collect();
    assert!(
        !names.iter().any(|name| Field::is_index_layer(name)),
        "{names:?}"
    );
    assert!(keys.iter().all(|key| names.contains(key)), "{names:?}");
    assert_eq!(grain.text("subject"), Some("subject"));
}

#[test]
fn a_field_spelled_in_full_in_a_blob_is_refused() {
    let mut pairs = Map::from_iter([("t", "event"), ("content", "a"), ("subject", "s")]);
    pairs.insert("ca", 1_i64);
    let map = grainstore::codec::Canonical::new(pairs, Profile::Extended).unwrap();
    let mut blob = vec![1, 0, 2, 0, 0, 0, 0, 0, 0];
    Encoding::MessagePack.encode_into(&mut blob, &map);
    let error = Grain::from_blob(blob, Profile::Extended).unwrap_err();
    assert_eq!(error.code(), "ERR_CORRUPT");
}

#[test]
fn index_fields_in_foreign_blobs_are_kept_with_a_warning() {
    // Ruling I2: an implementation that writes them exists.
    let map = Map::from_iter([
        ("t", Value::from("event")),
        ("content", "a".into()),
        ("ca", 1_i64.into()),
        ("vstatus", "verified".into()),
    ]);
    let map = grainstore::codec::Canonical::new(map, Profile::Extended).unwrap();
    let mut blob = vec![1, 0, 2, 0, 0, 0, 0, 0, 0];
    Encoding::MessagePack.encode_into(&mut blob, &map);
    assert_eq!(
        Grain::from_blob(blob.clone(), Profile::Extended)
            .unwrap_err()
            .code(),
        "ERR_SCHEMA"
    );
    let (grain, warnings) = Grain::from_foreign_blob(blob.clone(), Profile::Extended).unwrap();
    assert_eq!((grain.blob(), warnings.len()), (&blob[..], 1));
}

#[test]
fn profiles_bound_size_and_the_lightweight_one_bounds_fields() {
    let long = belief().set("app_note", "x".repeat(40_000));
    assert_eq!(
        long.clone().finish(Profile::Standard).unwrap_err().code(),
        "ERR_RANGE"
    );
    let grain = long.finish(Profile::Extended).unwrap();
    assert_eq!(
        Grain::from_blob(grain.into_blob(), Profile::Standard)
            .unwrap_err()
            .code(),
        "ERR_RANGE"
    );
    let plain = belief().finish(Profile::Lightweight).unwrap();
    assert!(Grain::from_blob(plain.into_blob(), Profile::Lightweight).is_ok());
    // OMS 18.3: State requires its context, and a microcontroller has no room for it.
    for rich in [belief().tag("ui"), Draft::state(Map::new())] {
        let rich = rich.created_at(Time::from_ms(0));
        let written = rich.clone().finish(Profile::Lightweight);
        assert_eq!(written.unwrap_err().code(), "ERR_SCHEMA");
        let blob = rich.finish(Profile::Extended).unwrap().into_blob();
        let read = Grain::from_blob(blob.clone(), Profile::Lightweight);
        assert_eq!(read.unwrap_err().code(), "ERR_SCHEMA");
        let foreign = Grain::from_foreign_blob(blob.clone(), Profile::Lightweight);
        assert_eq!(foreign.unwrap_err().code(), "ERR_SCHEMA");
        assert!(Grain::from_blob(blob, Profile::Standard).is_ok());
    }
}

#[test]
fn what_is_odd_but_valid_is_a_warning() {
    let warned = |draft: Draft| {
        let (_, warnings) = draft.finish_with_warnings(Profile::Extended).unwrap();
        warnings
            .into_iter()
            .map(|warning| warning.field)
            .collect::<Vec<_>>()
    };
    let now = Time::from_ms(0);
    assert_eq!(
        warned(Draft::observation("a", "llm").created_at(now)),
        ["observer_model"]
    );
    assert_eq!(
        warned(
            Draft::observation("a", "gps")
                .set("observation_mode", "reflective")
                .created_at(now)
        ),
        ["observation_scope", "derived_from"]
    );
    assert_eq!(
        warned(
            Draft::belief("a", "mg:likes", "b")
                .confidence(1.0)
                .created_at(now)
        ),
        ["relation"]
    );
    assert_eq!(
        warned(belief().source("axiomatic").user("u")),
        ["user_id", "confidence", "invalidation_policy"]
    );
    assert!(warned(belief()).is_empty());
}

#[test]
fn an_absent_field_is_not_its_default() {
    // OMS 4.5: nothing is filled in on the way.
    let grain = belief().finish(Profile::Extended).unwrap();
    assert!(grain.field("importance").is_none());
    let with_default = belief()
        .set("importance", 0.0)
        .finish(Profile::Extended)
        .unwrap();
    assert_ne!(grain.address(), with_default.address());
}

#[test]
fn a_changed_byte_in_storage_is_noticed() {
    let grain = belief().finish(Profile::Extended).unwrap();
    let mut blob = grain.blob().to_vec();
    assert!(Grain::from_stored(blob.clone(), grain.address()).is_ok());
    *blob.last_mut().unwrap() ^= 1;
    let error = Grain::from_stored(blob, grain.address()).unwrap_err();
    assert_eq!(error.code(), "ERR_INTEGRITY");
}

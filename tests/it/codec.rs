//! Canonical bytes: what is written is read back, and nothing but what would be written is read.

use grainstore::codec::{Canonical, Encoding, Int, Map, Profile, Value};
use proptest::prelude::*;

/// Values as a program builds them; floats are finite, text is any Unicode but byte-order marks.
pub(crate) fn value(depth: u32) -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z]{0,12}",
        "\\PC{0,8}",
        "[a-zA-Z0-9 ]{30,40}",
        "[é\u{301}ü한ａ]{0,5}"
    ]
    .prop_map(|text| text.replace('\u{feff}', ""));
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-300_i64..300).prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |f| f.is_finite().then_some(Value::Float(f))),
        (-1000_i32..1000).prop_map(|n| Value::Float(f64::from(n) / 8.0)),
        text.clone().prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(depth, 64, 20, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(Value::Array),
            prop::collection::vec(("[a-zé]{0,4}", inner), 0..20)
                .prop_map(|pairs| Value::Map(pairs.into_iter().collect())),
        ]
    })
}

pub(crate) fn map() -> impl Strategy<Value = Map> {
    prop::collection::vec(("[a-zA-Z_é]{0,6}", value(3)), 0..24)
        .prop_map(|pairs| pairs.into_iter().collect())
}

fn canonical(map: Map) -> Canonical {
    Canonical::new(map, Profile::Extended).unwrap()
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded_in_both_encodings(map in map()) {
        let map = canonical(map);
        for encoding in [Encoding::MessagePack, Encoding::Cbor] {
            let bytes = encoding.encode(&map);
            prop_assert_eq!(&encoding.decode(&bytes, Profile::Extended).unwrap(), &map);
        }
    }

    #[test]
    fn whatever_is_accepted_encodes_to_the_same_bytes(
        map in map(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = Encoding::MessagePack.encode(&canonical(map));
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(map) = Encoding::MessagePack.decode(&bytes, Profile::Extended) {
            prop_assert_eq!(Encoding::MessagePack.encode(&map), bytes);
        }
    }

    #[test]
    fn accepted_cbor_encodes_to_the_same_bytes_or_is_the_wide_float_form(
        map in map(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = Encoding::Cbor.encode(&canonical(map));
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(map) = Encoding::Cbor.decode(&bytes, Profile::Extended) {
            let again = Encoding::Cbor.encode(&map);
            // Ruling F9: the wide form is read but never written.
            prop_assert!(again == bytes || again.len() < bytes.len());
        }
    }

    #[test]
    fn independent_encoders_write_the_same_bytes(map in map()) {
        let map = canonical(map);
        prop_assert_eq!(Encoding::MessagePack.encode(&map), rmp_bytes(&Value::Map(map.clone().into_map())));
        let mut cbor = Vec::new();
        ciborium::into_writer(&ciborium_value(&Value::Map(map.clone().into_map())), &mut cbor).unwrap();
        prop_assert_eq!(Encoding::Cbor.encode(&map), cbor);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(Encoding::MessagePack.decode(&bytes, Profile::Extended));
        drop(Encoding::Cbor.decode(&bytes, Profile::Extended));
    }

    #[test]
    fn json_gives_back_every_value_without_bytes(value in value(3)) {
        let json = value.to_json();
        if !json.contains("0x") && !has_bytes(&value) {
            prop_assert_eq!(Value::from_json(&json).unwrap(), value);
        }
    }
}

fn has_bytes(value: &Value) -> bool {
    match value {
        Value::Bytes(_) => true,
        Value::Array(items) => items.iter().any(has_bytes),
        Value::Map(map) => map.iter().any(|(_, value)| has_bytes(value)),
        _ => false,
    }
}

/// The `rmp` crate's shortest forms, as a second opinion.
fn rmp_bytes(value: &Value) -> Vec<u8> {
    use rmp::encode as rmp;
    let mut out = Vec::new();
    match value {
        Value::Nil => rmp::write_nil(&mut out).unwrap(),
        Value::Bool(flag) => rmp::write_bool(&mut out, *flag).unwrap(),
        Value::Int(int) => match int.as_u64() {
            Some(number) => drop(rmp::write_uint(&mut out, number).unwrap()),
            None => drop(rmp::write_sint(&mut out, int.as_i64().unwrap()).unwrap()),
        },
        Value::Float(float) => rmp::write_f64(&mut out, *float).unwrap(),
        Value::Text(text) => rmp::write_str(&mut out, text).unwrap(),
        Value::Bytes(bytes) => rmp::write_bin(&mut out, bytes).unwrap(),
        Value::Array(items) => {
            rmp::write_array_len(&mut out, items.len().try_into().unwrap()).unwrap();
            out.extend(items.iter().flat_map(rmp_bytes));
        }
        Value::Map(map) => {
            rmp::write_map_len(&mut out, map.len().try_into().unwrap()).unwrap();
            for (name, value) in map.iter() {
                rmp::write_str(&mut out, name).unwrap();
                out.extend(rmp_bytes(value));
            }
        }
    }
    out
}

fn ciborium_value(value: &Value) -> ciborium::Value {
    match value {
        Value::Nil => ciborium::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Int(int) => match int.as_u64() {
            Some(number) => number.into(),
            None => int.as_i64().unwrap().into(),
        },
        Value::Float(float) => (*float).into(),
        Value::Text(text) => text.clone().into(),
        Value::Bytes(bytes) => bytes.clone().into(),
        Value::Array(items) => ciborium::Value::Array(items.iter().map(ciborium_value).collect()),
        Value::Map(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by_key(|(name, _)| (name.len(), *name));
            ciborium::Value::Map(
                pairs
                    .into_iter()
                    .map(|(name, value)| (name.into(), ciborium_value(value)))
                    .collect(),
            )
        }
    }
}

/// Payloads that are well formed, or nearly, and must be refused; with the code.
const REFUSED_MSGPACK: &[(&str, &str, &str)] = &[
    ("unsorted keys", "82a16201a16101", "ERR_CORRUPT"),
    ("duplicate keys", "82a16101a16101", "ERR_CORRUPT"),
    (
        "nested unsorted keys",
        "81a16182a16201a16101",
        "ERR_CORRUPT",
    ),
    ("5 as uint8", "81a161cc05", "ERR_CORRUPT"),
    ("5 as int8", "81a161d005", "ERR_CORRUPT"),
    ("200 as int16", "81a161d100c8", "ERR_CORRUPT"),
    ("300 as uint32", "81a161ce0000012c", "ERR_CORRUPT"),
    ("70000 as uint64", "81a161cf0000000000011170", "ERR_CORRUPT"),
    ("-1 as int8", "81a161d0ff", "ERR_CORRUPT"),
    ("-33 as int16", "81a161d1ffdf", "ERR_CORRUPT"),
    ("-200 as int32", "81a161d2ffffff38", "ERR_CORRUPT"),
    ("-200 as int64", "81a161d3ffffffffffffff38", "ERR_CORRUPT"),
    ("float32", "81a161ca3f800000", "ERR_CORRUPT"),
    ("NaN", "81a161cb7ff8000000000000", "ERR_FLOAT_INVALID"),
    ("infinity", "81a161cb7ff0000000000000", "ERR_FLOAT_INVALID"),
    ("short text as str8", "81a161d90162", "ERR_CORRUPT"),
    ("short key as str8", "81d9016101", "ERR_CORRUPT"),
    ("short array as array16", "81a161dc000101", "ERR_CORRUPT"),
    ("short map as map16", "de0001a16101", "ERR_CORRUPT"),
    ("empty bin as bin16", "81a161c50000", "ERR_CORRUPT"),
    ("null member", "81a161c0", "ERR_CORRUPT"),
    ("integer key", "810101", "ERR_CORRUPT"),
    ("extension", "81a161d40100", "ERR_CORRUPT"),
    ("timestamp extension", "81a161d6ff00000000", "ERR_CORRUPT"),
    ("reserved byte", "81a161c1", "ERR_CORRUPT"),
    ("trailing byte", "81a1610100", "ERR_CORRUPT"),
    ("not UTF-8", "81a161a1ff", "ERR_CORRUPT"),
    ("decomposed text", "81a161a365cc81", "ERR_CORRUPT"),
    (
        "byte-order mark in front",
        "81a161a4efbbbf61",
        "ERR_CORRUPT",
    ),
    ("byte-order mark inside", "81a161a461efbbbf", "ERR_CORRUPT"),
    ("array of 2^32-1", "81a161ddffffffff", "ERR_CORRUPT"),
    ("map of 2^32-1", "dfffffffff", "ERR_CORRUPT"),
    ("text of 2^32-1", "81a161dbffffffff", "ERR_CORRUPT"),
    ("cut short", "81a161", "ERR_CORRUPT"),
    ("an array", "90", "ERR_NOT_MAP"),
    ("an integer", "01", "ERR_NOT_MAP"),
];

const REFUSED_CBOR: &[(&str, &str, &str)] = &[
    (
        "keys sorted as text, not as bytes",
        "a262616101616201",
        "ERR_CORRUPT",
    ),
    ("duplicate keys", "a2616101616101", "ERR_CORRUPT"),
    ("5 in two bytes", "a161611805", "ERR_CORRUPT"),
    ("indefinite map", "bf616101ff", "ERR_CORRUPT"),
    ("indefinite array", "a161619f01ff", "ERR_CORRUPT"),
    ("indefinite text", "a161617f6161ff", "ERR_CORRUPT"),
    ("tag", "a16161c001", "ERR_CORRUPT"),
    ("bignum", "a16161c249010000000000000000", "ERR_CORRUPT"),
    ("undefined", "a16161f7", "ERR_CORRUPT"),
    ("null member", "a16161f6", "ERR_CORRUPT"),
    ("NaN", "a16161f97e00", "ERR_FLOAT_INVALID"),
    ("infinity", "a16161f97c00", "ERR_FLOAT_INVALID"),
    ("1.5 as float32", "a16161fa3fc00000", "ERR_CORRUPT"),
    (
        "mixed float widths",
        "a26161f93e006162fb3ff8000000000000",
        "ERR_CORRUPT",
    ),
    ("-2^63-1", "a161613b8000000000000000", "ERR_CORRUPT"),
    ("array of 2^63", "a161619b8000000000000000", "ERR_CORRUPT"),
    ("integer key", "a10101", "ERR_CORRUPT"),
    ("decomposed text", "a161616365cc81", "ERR_CORRUPT"),
    ("byte-order mark", "a1616164efbbbf61", "ERR_CORRUPT"),
    ("trailing byte", "a161610100", "ERR_CORRUPT"),
    ("an array", "80", "ERR_NOT_MAP"),
];

#[test]
fn what_is_not_canonical_is_refused_with_its_code() {
    let tables = [
        (Encoding::MessagePack, REFUSED_MSGPACK),
        (Encoding::Cbor, REFUSED_CBOR),
    ];
    for (encoding, table) in tables {
        for (name, hex, code) in table {
            let bytes = data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap();
            let error = encoding.decode(&bytes, Profile::Extended).unwrap_err();
            assert_eq!(error.code(), *code, "{encoding:?}: {name}: {error}");
        }
    }
}

#[test]
fn cbor_is_read_under_either_float_rule() {
    // Ruling F9: 1.5 as binary16 (16.2) and as binary64 (4.3).
    for hex in ["a16161f93e00", "a16161fb3ff8000000000000"] {
        let bytes = data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap();
        let map = Encoding::Cbor.decode(&bytes, Profile::Extended).unwrap();
        assert_eq!(map.get("a"), Some(&Value::Float(1.5)));
    }
}

#[test]
fn nesting_is_bounded_by_the_profile_in_and_out() {
    for (profile, depth) in [
        (Profile::Extended, 32),
        (Profile::Standard, 16),
        (Profile::Lightweight, 8),
    ] {
        assert!(Canonical::new(nested(depth), profile).is_ok());
        assert!(Canonical::new(nested(depth + 1), profile).is_err());
        for (encoding, map, outer, inner) in [
            (Encoding::MessagePack, b"\x81\xa1a", 0x91, 0x90),
            (Encoding::Cbor, b"\xa1\x61a", 0x81, 0x80),
        ] {
            // The payload map is level 1 (ruling F17), the innermost array the last one.
            let bytes = |levels: usize| [&map[..], &vec![outer; levels - 2], &[inner]].concat();
            assert!(encoding.decode(&bytes(depth), profile).is_ok());
            assert!(encoding.decode(&bytes(depth + 1), profile).is_err());
            // A million opening brackets must not reach the stack.
            assert!(encoding.decode(&bytes(1_000_000), profile).is_err());
        }
    }
}

fn nested(levels: usize) -> Map {
    let mut value = Value::Array(vec![]);
    for _ in 2..levels {
        value = Value::Array(vec![value]);
    }
    Map::from_iter([("a", value)])
}

#[test]
fn a_float_that_is_not_finite_has_no_canonical_form() {
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for value in [Value::Float(float), Value::Array(vec![Value::Float(float)])] {
            let map = Map::from_iter([("a", value)]);
            let error = Canonical::new(map, Profile::Extended).unwrap_err();
            assert_eq!(error.code(), "ERR_FLOAT_INVALID");
        }
    }
}

#[test]
fn names_that_normalise_to_one_are_refused() {
    let map = Map::from_iter([("\u{e9}", 1), ("e\u{301}", 2)]);
    assert_eq!(
        Canonical::new(map, Profile::Extended).unwrap_err().code(),
        "ERR_CORRUPT"
    );
}

#[test]
fn null_is_omitted_from_maps_and_kept_in_arrays() {
    let map = Map::from_iter([
        ("a", Value::Nil),
        (
            "b",
            Value::Array(vec![
                Value::Nil,
                Value::Map(Map::from_iter([("c", Value::Nil)])),
            ]),
        ),
    ]);
    let bytes = Encoding::MessagePack.encode(&canonical(map));
    assert_eq!(bytes, [0x81, 0xa1, b'b', 0x92, 0xc0, 0x80]);
}

#[test]
fn equal_integers_are_equal_values_whatever_type_they_came_from() {
    assert_eq!(Int::from(7_u64), Int::from(7_i64));
    assert_ne!(Int::from(u64::MAX), Int::from(-1_i64));
}

//! Canonical JSON (RFC 8785), over which foreign formats compute their checksums.

use crate::codec::{Int, Map, Value};

pub(in crate::codec) fn to_jcs(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write(value, &mut out);
    out.into_bytes()
}

#[cfg(feature = "interchange")]
pub(in crate::codec) fn is_canonical(value: &Value) -> bool {
    match value {
        Value::Int(int) => exact(*int).is_some(),
        Value::Float(float) => super::float_text(*float) == number_text(*float),
        Value::Array(items) => items.iter().all(is_canonical),
        Value::Map(map) => {
            let mut members = map.iter();
            members.all(|(name, value)| is_plain(name) && is_canonical(value))
        }
        Value::Nil | Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => true,
    }
}

/// Checksums are over whole files, so that this is written out: only numbers, which are the hard
/// part, are left to a library.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Int(int) => match exact(*int) {
            Some(small) => out.push_str(&small.to_string()),
            None => out.push_str(&number_text(int.to_f64())),
        },
        Value::Float(float) => out.push_str(&number_text(*float)),
        Value::Array(items) => super::write_items(items, out, write),
        Value::Map(map) => write_map(map, out),
        Value::Nil | Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => super::write(value, out),
    }
}

/// RFC 8785, 3.2.3: members stand in the order of their UTF-16 code units.
fn write_map(map: &Map, out: &mut String) {
    if map.iter().all(|(name, _)| is_plain(name)) {
        return super::write_members(map.iter(), out, write);
    }
    let mut members: Vec<_> = map.iter().collect();
    members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    super::write_members(members.into_iter(), out, write);
}

/// The order of bytes, which a map has, differs only where characters past U+FFFF, in four bytes
/// from 0xF0 on, stand against those from U+E000 on, in three from 0xEE on.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte < 0xee)
}

/// Returns an integer that is exact as a double, and shorter than where exponents begin.
fn exact(int: Int) -> Option<i64> {
    int.as_i64().filter(|small| small.unsigned_abs() < 1 << 53)
}

fn number_text(float: f64) -> String {
    // Values parsed from JSON are finite, and finite values have a canonical text.
    serde_json_canonicalizer::to_string(&float).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let flat = prop_oneof![
            Just(Value::Nil),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1000_i64..1000).prop_map(Value::from),
            any::<f64>()
                .prop_filter("finite", |it| it.is_finite())
                .prop_map(Value::from),
            "\\PC*|[\u{0}-\u{7f}]{0,9}".prop_map(Value::from),
            prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::from),
        ];
        flat.prop_recursive(4, 40, 6, |inner| {
            let name = "\\PC{0,3}|[a\u{7f}\u{d7ff}\u{e000}\u{ffff}\u{10000}]{0,3}";
            let members = prop::collection::vec((name, inner.clone()), 0..6);
            prop_oneof![
                prop::collection::vec(inner, 0..6).prop_map(Value::from),
                members.prop_map(|members| Value::Map(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_written_as_the_library_for_it_writes_it(value in values()) {
            let expected = serde_json_canonicalizer::to_vec(&value).unwrap();
            prop_assert_eq!(
                String::from_utf8(value.to_jcs()).unwrap(),
                String::from_utf8(expected).unwrap()
            );
            let json = value.to_json();
            prop_assert_eq!(&json, &serde_json::to_string(&value).unwrap());
            #[cfg(feature = "interchange")]
            prop_assert!(!value.is_canonical() || json.into_bytes() == value.to_jcs());
        }
    }
}

//! Canonical JSON (RFC 8785), over which foreign formats compute their checksums.

use crate::codec::{Int, Map, Value};

impl Value {
    /// Returns the value as canonical JSON (RFC 8785), which foreign checksums are computed over.
    ///
    /// Integers past ±(2^53 − 1) have no exact form there: a reader that
    /// checks a checksum refuses them first.
    pub fn to_jcs(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write(self, &mut out);
        out
    }
}

/// Checksums are over whole files, so that this is written out: only numbers, which are the hard
/// part, are left to a library.
fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Nil => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(int) => write_int(*int, out),
        Value::Float(float) => write_number(*float, out),
        Value::Text(text) => write_text(text, out),
        Value::Bytes(bytes) => write_text(&data_encoding::BASE64.encode(bytes), out),
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Map(map) => write_map(map, out),
    }
}

/// RFC 8785, 3.2.3: members stand in the order of their UTF-16 code units.
fn write_map(map: &Map, out: &mut Vec<u8>) {
    let mut member = |at: usize, name: &str, value: &Value| {
        out.push(if at == 0 { b'{' } else { b',' });
        write_text(name, out);
        out.push(b':');
        write(value, out);
    };
    // The order of bytes, which a map has, differs only where characters past U+FFFF, in four bytes
    // from 0xF0 on, stand against those from U+E000 on, in three from 0xEE on.
    let is_plain = |name: &str| name.bytes().all(|byte| byte < 0xee);
    if map.iter().all(|(name, _)| is_plain(name)) {
        for (at, (name, value)) in map.iter().enumerate() {
            member(at, name, value);
        }
    } else {
        let mut members: Vec<_> = map.iter().collect();
        members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        for (at, (name, value)) in members.into_iter().enumerate() {
            member(at, name, value);
        }
    }
    out.extend_from_slice(if map.is_empty() { b"{}" } else { b"}" });
}

fn write_int(int: Int, out: &mut Vec<u8>) {
    match int.as_i64() {
        // Exact as a double, and shorter than where exponents begin.
        Some(small) if small.unsigned_abs() < 1 << 53 => {
            // Writing to memory cannot fail.
            serde_json::to_writer(out, &small).unwrap_or_default();
        }
        _ => write_number(int.to_f64(), out),
    }
}

fn write_number(float: f64, out: &mut Vec<u8>) {
    // Values parsed from JSON are finite, and finite values have a canonical text.
    let text = serde_json_canonicalizer::to_vec(&float);
    out.extend_from_slice(&text.unwrap_or_default());
}

/// RFC 8785, 3.2.2.2: the escapes that are needed, and no others, which is how strings are written
/// here anyway.
fn write_text(text: &str, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    serde_json::to_writer(out, text).unwrap_or_default();
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
        }
    }
}

//! CBOR with every float in eight bytes, the other form that a reader accepts (OMS 4.3): written
//! here once more, so that the law does not rest on the encoder it judges.

use grainstore::codec::{Map, Value};

/// Returns the bytes of a canonical map.
pub(crate) fn encode(map: &Map) -> Vec<u8> {
    let mut out = Vec::new();
    write_map(&mut out, map);
    out
}

fn write_map(out: &mut Vec<u8>, map: &Map) {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(name, _)| (name.len(), *name));
    head(out, 5, entries.len() as u64);
    for (name, value) in entries {
        head(out, 3, name.len() as u64);
        out.extend_from_slice(name.as_bytes());
        write(out, value);
    }
}

fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Nil => out.push(0xf6),
        Value::Bool(flag) => out.push(0xf4 + u8::from(*flag)),
        Value::Int(int) => match (int.as_u64(), int.as_i64()) {
            (Some(number), _) => head(out, 0, number),
            (None, number) => head(out, 1, number.unwrap_or_default().unsigned_abs() - 1),
        },
        Value::Float(float) => {
            out.push(0xfb);
            out.extend_from_slice(&float.to_bits().to_be_bytes());
        }
        Value::Text(text) => {
            head(out, 3, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Bytes(bytes) => {
            head(out, 2, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        Value::Array(items) => {
            head(out, 4, items.len() as u64);
            for item in items {
                write(out, item);
            }
        }
        Value::Map(map) => write_map(out, map),
    }
}

fn head(out: &mut Vec<u8>, major: u8, argument: u64) {
    let bytes = argument.to_be_bytes();
    let (info, len) = match argument {
        0..=23 => {
            out.push(major << 5 | bytes[7]);
            return;
        }
        24..=0xff => (24, 1),
        0x100..=0xffff => (25, 2),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 8),
    };
    out.push(major << 5 | info);
    out.extend_from_slice(&bytes[8 - len..]);
}

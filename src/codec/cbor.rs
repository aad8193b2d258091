//! Deterministic CBOR (OMS 16.2, RFC 8949 4.2.1): text-keyed maps, no tags, no indefinite lengths.

use half::f16;

use super::cbor_head as head;
use super::reader::{Reader, room};
use super::value::{Int, Map, Value};
use super::{Error, Profile};

/// Reads one value that must be the whole of `bytes`.
///
/// Floats may all be shortest (OMS 16.2) or all be 64-bit (OMS 4.3): ruling F9 has readers accept
/// a payload that is canonical under either rule.
pub(super) fn decode(bytes: &[u8], profile: Profile) -> Result<Value, Error> {
    let mut reader = Reader::new(bytes, profile);
    let (value, floats) = read_with_floats(&mut reader)?;
    reader.finish()?;
    check_floats(&reader, floats)?;
    Ok(value)
}

/// Reads one value and returns how many bytes it took.
pub(super) fn decode_prefix(bytes: &[u8], profile: Profile) -> Result<(Value, usize), Error> {
    let mut reader = Reader::new(bytes, profile);
    let (value, floats) = read_with_floats(&mut reader)?;
    check_floats(&reader, floats)?;
    Ok((value, reader.offset()))
}

/// Which float rules the floats read so far allow.
#[derive(Clone, Copy)]
struct Floats {
    shortest: bool,
    wide: bool,
}

fn read_with_floats(reader: &mut Reader<'_>) -> Result<(Value, Floats), Error> {
    let mut floats = Floats {
        shortest: true,
        wide: true,
    };
    let value = read(reader, &mut floats)?;
    Ok((value, floats))
}

fn check_floats(reader: &Reader<'_>, floats: Floats) -> Result<(), Error> {
    if floats.shortest || floats.wide {
        Ok(())
    } else {
        Err(reader.fault("floats are neither all shortest nor all 64-bit"))
    }
}

fn read(reader: &mut Reader<'_>, floats: &mut Floats) -> Result<Value, Error> {
    let (major, info) = head::read_first(reader)?;
    Ok(match major {
        head::POSITIVE => Value::Int(head::read_argument(reader, info)?.into()),
        head::NEGATIVE => {
            let argument = head::read_argument(reader, info)?;
            let number = i64::try_from(argument).map_err(|_| {
                // Ruling F7: integers stop at 64 signed bits below zero.
                reader.fault("negative integer is below -2^63")
            })?;
            Value::Int((!number).into())
        }
        head::BYTES => {
            let len = head::read_argument(reader, info)?;
            Value::Bytes(reader.take(len)?.to_vec())
        }
        head::TEXT => {
            let len = head::read_argument(reader, info)?;
            Value::Text(reader.text(len)?.to_owned())
        }
        head::ARRAY => read_array(reader, info, floats)?,
        head::MAP => read_map(reader, info, floats)?,
        head::TAG => return Err(reader.fault("tags are not canonical")),
        _ => read_simple(reader, info, floats)?,
    })
}

fn read_simple(reader: &mut Reader<'_>, info: u8, floats: &mut Floats) -> Result<Value, Error> {
    let (float, width) = match info {
        20 => return Ok(Value::Bool(false)),
        21 => return Ok(Value::Bool(true)),
        22 => return Ok(Value::Nil),
        25 => (f16::from_be_bytes(reader.array()?).to_f64(), 2),
        26 => (f64::from(f32::from_be_bytes(reader.array()?)), 4),
        27 => (f64::from_be_bytes(reader.array()?), 8),
        _ => return Err(reader.fault("simple value is not canonical")),
    };
    if !float.is_finite() {
        return Err(Error::FloatInvalid);
    }
    floats.wide &= width == 8;
    floats.shortest &= width == shortest_width(float);
    Ok(Value::Float(float))
}

fn read_array(reader: &mut Reader<'_>, info: u8, floats: &mut Floats) -> Result<Value, Error> {
    let declared = head::read_argument(reader, info)?;
    let len = reader.count(declared, 1)?;
    reader.nested(|reader| {
        let mut items = room(len);
        for _ in 0..len {
            items.push(read(reader, floats)?);
        }
        Ok(Value::Array(items))
    })
}

fn read_map(reader: &mut Reader<'_>, info: u8, floats: &mut Floats) -> Result<Value, Error> {
    let declared = head::read_argument(reader, info)?;
    let len = reader.count(declared, 2)?;
    reader.nested(|reader| {
        let mut pairs: Vec<(String, Value)> = room(len);
        for _ in 0..len {
            let (head::TEXT, info) = head::read_first(reader)? else {
                return Err(reader.fault("map key is not text"));
            };
            let name_len = head::read_argument(reader, info)?;
            let name = reader.text(name_len)?;
            if let Some((last, _)) = pairs.last() {
                if last == name {
                    return Err(reader.fault("duplicate map key"));
                }
                if encoded_order(last) > encoded_order(name) {
                    return Err(reader.fault("map keys are not sorted"));
                }
            }
            if reader.peek() == Some(0xf6) {
                return Err(reader.fault("null members must be omitted"));
            }
            pairs.push((name.to_owned(), read(reader, floats)?));
        }
        let map = Map::from_pairs(pairs).map_err(|_| reader.fault("duplicate map key"))?;
        Ok(Value::Map(map))
    })
}

/// OMS 16.2: keys sort by their encoded bytes, which puts shorter keys first.
fn encoded_order(name: &str) -> (usize, &str) {
    (name.len(), name)
}

/// Writes a value whose text, floats and members are canonical already.
pub(super) fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Nil => out.push(0xf6),
        Value::Bool(flag) => out.push(if *flag { 0xf5 } else { 0xf4 }),
        Value::Int(int) => write_int(out, *int),
        Value::Float(float) => write_float(out, *float),
        Value::Text(text) => write_text(out, text),
        Value::Bytes(bytes) => {
            head::write_len(out, head::BYTES, bytes.len());
            out.extend_from_slice(bytes);
        }
        Value::Array(items) => {
            head::write_len(out, head::ARRAY, items.len());
            for item in items {
                write(out, item);
            }
        }
        Value::Map(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(name, _)| encoded_order(name));
            write_map_len(out, entries.len());
            for (name, value) in entries {
                write_text(out, name);
                write(out, value);
            }
        }
    }
}

pub(super) fn write_map_len(out: &mut Vec<u8>, len: usize) {
    head::write_len(out, head::MAP, len);
}

pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    head::write_len(out, head::TEXT, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn write_int(out: &mut Vec<u8>, int: Int) {
    match int.as_u64() {
        Some(number) => head::write(out, head::POSITIVE, number),
        None => head::write_int(out, int.as_i64().unwrap_or_default()),
    }
}

/// OMS 16.2: the shortest form that keeps the value; ruling F9 follows it on write.
fn write_float(out: &mut Vec<u8>, float: f64) {
    if let Some(half) = to_half(float) {
        out.push(0xf9);
        out.extend_from_slice(&half.to_be_bytes());
    } else if let Some(single) = to_single(float) {
        out.push(0xfa);
        out.extend_from_slice(&single.to_be_bytes());
    } else {
        out.push(0xfb);
        out.extend_from_slice(&float.to_be_bytes());
    }
}

fn shortest_width(float: f64) -> usize {
    if to_half(float).is_some() {
        2
    } else if to_single(float).is_some() {
        4
    } else {
        8
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the narrowing is undone and compared"
)]
fn to_single(float: f64) -> Option<f32> {
    let single = float as f32;
    (f64::from(single).to_bits() == float.to_bits()).then_some(single)
}

/// Returns the half that a double is exactly, if there is one.
fn to_half(float: f64) -> Option<f16> {
    let half = f16::from_f64(float);
    (half.to_f64().to_bits() == float.to_bits()).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            if half.is_finite() {
                assert_eq!(
                    to_half(half.to_f64()).map(f16::to_bits),
                    Some(bits),
                    "{bits:04x}"
                );
            }
        }
    }

    #[test]
    fn doubles_between_halves_are_not_halves() {
        assert_eq!(to_half(0.1), None);
        assert_eq!(to_half(65_520.0), None);
        assert_eq!(to_half(2f64.powi(-25)), None);
        assert_eq!(to_half(1.0 + 2f64.powi(-11)), None);
    }
}

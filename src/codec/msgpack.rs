//! Canonical MessagePack (OMS 4, 16.1): one encoding for each value, and no other is accepted.

use rmp::Marker;
use rmp::encode::{self, ByteBuf};

use super::reader::{Reader, room};
use super::value::{Map, Value};
use super::{Error, Profile};

/// Reads one value that must be the whole of `bytes`.
pub(super) fn decode(bytes: &[u8], profile: Profile) -> Result<Value, Error> {
    let mut reader = Reader::new(bytes, profile);
    let value = read(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Reads one value and returns how many bytes it took.
pub(super) fn decode_prefix(bytes: &[u8], profile: Profile) -> Result<(Value, usize), Error> {
    let mut reader = Reader::new(bytes, profile);
    let value = read(&mut reader)?;
    Ok((value, reader.offset()))
}

fn read(reader: &mut Reader<'_>) -> Result<Value, Error> {
    Ok(match Marker::from_u8(reader.byte()?) {
        Marker::FixPos(number) => Value::Int(u64::from(number).into()),
        Marker::FixNeg(number) => Value::Int(i64::from(number).into()),
        Marker::FixMap(len) => read_map(reader, u64::from(len))?,
        Marker::FixArray(len) => read_array(reader, u64::from(len))?,
        Marker::FixStr(len) => Value::Text(reader.text(u64::from(len))?.to_owned()),
        Marker::Null => Value::Nil,
        Marker::False => Value::Bool(false),
        Marker::True => Value::Bool(true),
        Marker::F32 => return Err(reader.fault("float32 is not canonical")),
        Marker::F64 => read_float(reader)?,
        marker @ (Marker::U8 | Marker::U16 | Marker::U32 | Marker::U64) => {
            read_unsigned(reader, marker)?
        }
        marker @ (Marker::I8 | Marker::I16 | Marker::I32 | Marker::I64) => {
            read_signed(reader, marker)?
        }
        marker @ (Marker::Bin8 | Marker::Bin16 | Marker::Bin32) => {
            let len = read_len(reader, marker)?;
            Value::Bytes(reader.take(len)?.to_vec())
        }
        marker @ (Marker::Str8 | Marker::Str16 | Marker::Str32) => {
            let len = read_len(reader, marker)?;
            Value::Text(reader.text(len)?.to_owned())
        }
        marker @ (Marker::Array16 | Marker::Array32) => {
            let len = read_len(reader, marker)?;
            read_array(reader, len)?
        }
        marker @ (Marker::Map16 | Marker::Map32) => {
            let len = read_len(reader, marker)?;
            read_map(reader, len)?
        }
        Marker::Reserved => return Err(reader.fault("byte 0xc1 is never used")),
        Marker::Ext8
        | Marker::Ext16
        | Marker::Ext32
        | Marker::FixExt1
        | Marker::FixExt2
        | Marker::FixExt4
        | Marker::FixExt8
        | Marker::FixExt16 => return Err(reader.fault("extension types are not canonical")),
    })
}

fn read_float(reader: &mut Reader<'_>) -> Result<Value, Error> {
    let float = f64::from_be_bytes(reader.array()?);
    if float.is_finite() {
        Ok(Value::Float(float))
    } else {
        // OMS 4.3: NaN has many bit patterns, so it would have many addresses.
        Err(Error::FloatInvalid)
    }
}

/// Reads a length of 8, 16 or 32 bits, and refuses one that a shorter form could hold.
fn read_len(reader: &mut Reader<'_>, marker: Marker) -> Result<u64, Error> {
    let (len, least) = match marker {
        Marker::Bin8 => (u64::from(reader.byte()?), 0),
        Marker::Str8 => (u64::from(reader.byte()?), 32),
        Marker::Array16 | Marker::Map16 => (u64::from(u16::from_be_bytes(reader.array()?)), 16),
        Marker::Bin16 | Marker::Str16 => (u64::from(u16::from_be_bytes(reader.array()?)), 1 << 8),
        _ => (u64::from(u32::from_be_bytes(reader.array()?)), 1 << 16),
    };
    shortest(reader, len, least)
}

fn read_unsigned(reader: &mut Reader<'_>, marker: Marker) -> Result<Value, Error> {
    let (number, least) = match marker {
        Marker::U8 => (u64::from(reader.byte()?), 1 << 7),
        Marker::U16 => (u64::from(u16::from_be_bytes(reader.array()?)), 1 << 8),
        Marker::U32 => (u64::from(u32::from_be_bytes(reader.array()?)), 1 << 16),
        _ => (u64::from_be_bytes(reader.array()?), 1 << 32),
    };
    Ok(Value::Int(shortest(reader, number, least)?.into()))
}

fn read_signed(reader: &mut Reader<'_>, marker: Marker) -> Result<Value, Error> {
    let (number, most) = match marker {
        Marker::I8 => (i64::from(i8::from_be_bytes(reader.array()?)), -33),
        Marker::I16 => (i64::from(i16::from_be_bytes(reader.array()?)), -129),
        Marker::I32 => (i64::from(i32::from_be_bytes(reader.array()?)), -32_769),
        _ => (i64::from_be_bytes(reader.array()?), -2_147_483_649),
    };
    if number > most {
        // Ruling F7: zero and above belong to the unsigned family, whatever their width.
        return Err(reader.fault("integer is not in its shortest form"));
    }
    Ok(Value::Int(number.into()))
}

fn shortest(reader: &Reader<'_>, number: u64, least: u64) -> Result<u64, Error> {
    if number < least {
        return Err(reader.fault("length or integer is not in its shortest form"));
    }
    Ok(number)
}

fn read_array(reader: &mut Reader<'_>, declared: u64) -> Result<Value, Error> {
    let len = reader.count(declared, 1)?;
    reader.nested(|reader| {
        let mut items = room(len);
        for _ in 0..len {
            items.push(read(reader)?);
        }
        Ok(Value::Array(items))
    })
}

fn read_map(reader: &mut Reader<'_>, declared: u64) -> Result<Value, Error> {
    let len = reader.count(declared, 2)?;
    reader.nested(|reader| {
        let mut pairs = room(len);
        let mut last: Option<&str> = None;
        for _ in 0..len {
            let name = read_name(reader)?;
            match last {
                Some(last) if last == name => return Err(reader.fault("duplicate map key")),
                Some(last) if last > name => return Err(reader.fault("map keys are not sorted")),
                _ => last = Some(name),
            }
            if reader.peek() == Some(Marker::Null.to_u8()) {
                return Err(reader.fault("null members must be omitted"));
            }
            pairs.push((name.to_owned(), read(reader)?));
        }
        Ok(Value::Map(Map::from_sorted(pairs)))
    })
}

fn read_name<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Error> {
    let len = match Marker::from_u8(reader.byte()?) {
        Marker::FixStr(len) => u64::from(len),
        marker @ (Marker::Str8 | Marker::Str16 | Marker::Str32) => read_len(reader, marker)?,
        _ => return Err(reader.fault("map key is not text")),
    };
    reader.text(len)
}

/// Appends a map of entries that are canonical and in order.
pub(super) fn write_map<'v>(
    out: &mut Vec<u8>,
    len: usize,
    entries: impl Iterator<Item = (&'v str, &'v Value)>,
) {
    let mut buffer = ByteBuf::from_vec(std::mem::take(out));
    write_entries(&mut buffer, len, entries);
    *out = buffer.into_vec();
}

/// Appends one canonical value.
pub(super) fn write_value(out: &mut Vec<u8>, value: &Value) {
    let mut buffer = ByteBuf::from_vec(std::mem::take(out));
    write(&mut buffer, value);
    *out = buffer.into_vec();
}

/// Writes a value whose text, floats and members are canonical already.
///
/// Each function of the encoder takes the shortest form, and the unsigned family for integers from
/// zero on (ruling F7).
fn write(out: &mut ByteBuf, value: &Value) {
    match value {
        Value::Nil => unfailing(encode::write_nil(out)),
        Value::Bool(flag) => unfailing(encode::write_bool(out, *flag)),
        Value::Int(int) => match int.as_u64() {
            Some(number) => unfailing(encode::write_uint(out, number)),
            None => unfailing(encode::write_sint(out, int.as_i64().unwrap_or_default())),
        },
        Value::Float(float) => unfailing(encode::write_f64(out, *float)),
        Value::Text(text) => write_text(out, text),
        Value::Bytes(bytes) => {
            unfailing(encode::write_bin_len(out, len_u32(bytes.len())));
            out.as_mut_vec().extend_from_slice(bytes);
        }
        Value::Array(items) => {
            unfailing(encode::write_array_len(out, len_u32(items.len())));
            for item in items {
                write(out, item);
            }
        }
        Value::Map(map) => write_entries(out, map.len(), map.iter()),
    }
}

fn write_entries<'v>(
    out: &mut ByteBuf,
    len: usize,
    entries: impl Iterator<Item = (&'v str, &'v Value)>,
) {
    unfailing(encode::write_map_len(out, len_u32(len)));
    for (name, value) in entries {
        write_text(out, name);
        write(out, value);
    }
}

fn write_text(out: &mut ByteBuf, text: &str) {
    unfailing(encode::write_str_len(out, len_u32(text.len())));
    out.as_mut_vec().extend_from_slice(text.as_bytes());
}

/// The outcome of a write to a buffer, whose error type has no values.
fn unfailing<T, E>(_: Result<T, E>) {}

/// OMS 3.3: a blob has at most 4 GiB, so no length exceeds 32 bits.
fn len_u32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

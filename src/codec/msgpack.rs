//! Canonical MessagePack (OMS 4, 16.1): one encoding for each value, and no other is accepted.

use super::reader::{Reader, room};
use super::value::{Int, Map, Value};
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
    let marker = reader.byte()?;
    Ok(match marker {
        0x00..=0x7f => Value::Int(u64::from(marker).into()),
        0x80..=0x8f => read_map(reader, u64::from(marker & 0x0f))?,
        0x90..=0x9f => read_array(reader, u64::from(marker & 0x0f))?,
        0xa0..=0xbf => Value::Text(reader.text(u64::from(marker & 0x1f))?.to_owned()),
        0xc0 => Value::Nil,
        0xc2 => Value::Bool(false),
        0xc3 => Value::Bool(true),
        0xc4..=0xc6 => {
            let len = read_len(reader, marker, 0xc4, 0)?;
            Value::Bytes(reader.take(len)?.to_vec())
        }
        0xca => return Err(reader.fault("float32 is not canonical")),
        0xcb => read_float(reader)?,
        0xcc..=0xcf => read_unsigned(reader, marker)?,
        0xd0..=0xd3 => read_signed(reader, marker)?,
        0xd9..=0xdb => {
            let len = read_len(reader, marker, 0xd9, 32)?;
            Value::Text(reader.text(len)?.to_owned())
        }
        0xdc | 0xdd => {
            let len = read_wide(reader, marker == 0xdc, 16)?;
            read_array(reader, len)?
        }
        0xde | 0xdf => {
            let len = read_wide(reader, marker == 0xde, 16)?;
            read_map(reader, len)?
        }
        0xe0..=0xff => Value::Int(i64::from(marker.cast_signed()).into()),
        0xc1 => return Err(reader.fault("byte 0xc1 is never used")),
        0xc7..=0xc9 | 0xd4..=0xd8 => return Err(reader.fault("extension types are not canonical")),
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

/// Reads an 8-, 16- or 32-bit length, refusing one that a shorter form could hold.
fn read_len(reader: &mut Reader<'_>, marker: u8, narrow: u8, short: u64) -> Result<u64, Error> {
    let (len, least) = match marker.wrapping_sub(narrow) {
        0 => (u64::from(reader.byte()?), short),
        1 => (u64::from(u16::from_be_bytes(reader.array()?)), 1 << 8),
        _ => (u64::from(u32::from_be_bytes(reader.array()?)), 1 << 16),
    };
    shortest(reader, len, least)
}

fn read_wide(reader: &mut Reader<'_>, is_16_bit: bool, short: u64) -> Result<u64, Error> {
    if is_16_bit {
        let len = u64::from(u16::from_be_bytes(reader.array()?));
        shortest(reader, len, short)
    } else {
        let len = u64::from(u32::from_be_bytes(reader.array()?));
        shortest(reader, len, 1 << 16)
    }
}

fn read_unsigned(reader: &mut Reader<'_>, marker: u8) -> Result<Value, Error> {
    let (number, least) = match marker {
        0xcc => (u64::from(reader.byte()?), 1 << 7),
        0xcd => (u64::from(u16::from_be_bytes(reader.array()?)), 1 << 8),
        0xce => (u64::from(u32::from_be_bytes(reader.array()?)), 1 << 16),
        _ => (u64::from_be_bytes(reader.array()?), 1 << 32),
    };
    Ok(Value::Int(shortest(reader, number, least)?.into()))
}

fn read_signed(reader: &mut Reader<'_>, marker: u8) -> Result<Value, Error> {
    let (number, most) = match marker {
        0xd0 => (i64::from(i8::from_be_bytes(reader.array()?)), -33),
        0xd1 => (i64::from(i16::from_be_bytes(reader.array()?)), -129),
        0xd2 => (i64::from(i32::from_be_bytes(reader.array()?)), -32_769),
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
            if reader.peek() == Some(0xc0) {
                return Err(reader.fault("null members must be omitted"));
            }
            pairs.push((name.to_owned(), read(reader)?));
        }
        Ok(Value::Map(Map::from_sorted(pairs)))
    })
}

fn read_name<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Error> {
    let marker = reader.byte()?;
    let len = match marker {
        0xa0..=0xbf => u64::from(marker & 0x1f),
        0xd9..=0xdb => read_len(reader, marker, 0xd9, 32)?,
        _ => return Err(reader.fault("map key is not text")),
    };
    reader.text(len)
}

/// Writes a value whose text, floats and members are canonical already.
pub(super) fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Nil => out.push(0xc0),
        Value::Bool(flag) => out.push(if *flag { 0xc3 } else { 0xc2 }),
        Value::Int(int) => write_int(out, *int),
        Value::Float(float) => {
            out.push(0xcb);
            out.extend_from_slice(&float.to_be_bytes());
        }
        Value::Text(text) => write_text(out, text),
        Value::Bytes(bytes) => {
            write_len(out, bytes.len(), 0, 0, [0xc4, 0xc5, 0xc6]);
            out.extend_from_slice(bytes);
        }
        Value::Array(items) => {
            write_len(out, items.len(), 0x90, 16, [0, 0xdc, 0xdd]);
            for item in items {
                write(out, item);
            }
        }
        Value::Map(map) => {
            write_map_len(out, map.len());
            for (name, value) in map.iter() {
                write_text(out, name);
                write(out, value);
            }
        }
    }
}

pub(super) fn write_map_len(out: &mut Vec<u8>, len: usize) {
    write_len(out, len, 0x80, 16, [0, 0xde, 0xdf]);
}

pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    write_len(out, text.len(), 0xa0, 32, [0xd9, 0xda, 0xdb]);
    out.extend_from_slice(text.as_bytes());
}

/// Writes a length in its shortest form; a marker of 0 stands for a width the family lacks.
fn write_len(out: &mut Vec<u8>, len: usize, fix: u8, fix_below: usize, markers: [u8; 3]) {
    let [narrow, medium, wide] = markers;
    if len < fix_below {
        out.push(fix | u8::try_from(len).unwrap_or(0));
    } else if let (Ok(len), true) = (u8::try_from(len), narrow != 0) {
        out.extend_from_slice(&[narrow, len]);
    } else if let Ok(len) = u16::try_from(len) {
        out.push(medium);
        out.extend_from_slice(&len.to_be_bytes());
    } else {
        // A blob is at most 4 GiB (OMS 3.3), so no length passes 32 bits.
        out.push(wide);
        out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
    }
}

fn write_int(out: &mut Vec<u8>, int: Int) {
    let Some(number) = int.as_u64() else {
        return write_negative(out, int.as_i64().unwrap_or_default());
    };
    if let Ok(byte) = u8::try_from(number) {
        if byte > 0x7f {
            out.push(0xcc);
        }
        out.push(byte);
    } else if let Ok(number) = u16::try_from(number) {
        out.push(0xcd);
        out.extend_from_slice(&number.to_be_bytes());
    } else if let Ok(number) = u32::try_from(number) {
        out.push(0xce);
        out.extend_from_slice(&number.to_be_bytes());
    } else {
        out.push(0xcf);
        out.extend_from_slice(&number.to_be_bytes());
    }
}

fn write_negative(out: &mut Vec<u8>, number: i64) {
    if let Ok(byte) = i8::try_from(number) {
        if byte < -32 {
            out.push(0xd0);
        }
        out.push(byte.cast_unsigned());
    } else if let Ok(number) = i16::try_from(number) {
        out.push(0xd1);
        out.extend_from_slice(&number.to_be_bytes());
    } else if let Ok(number) = i32::try_from(number) {
        out.push(0xd2);
        out.extend_from_slice(&number.to_be_bytes());
    } else {
        out.push(0xd3);
        out.extend_from_slice(&number.to_be_bytes());
    }
}

//! The head of a CBOR item (RFC 8949 section 3): its major type and its argument.
//!
//! The one reader and the one writer of heads, for payloads and for signature messages. Items are
//! not read here: what may follow a head differs between the two.

/// The bytes that heads are read from, with the errors of their reader.
pub(crate) trait Input {
    /// The error of the reader.
    type Error;

    /// Takes the next bytes.
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Self::Error>;

    /// Returns the error for what was taken last.
    fn fault(&self, reason: &'static str) -> Self::Error;
}

/// Reads the first byte of an item: its major type, and the information that decides what follows.
pub(crate) fn read_first<I: Input>(input: &mut I) -> Result<(u8, u8), I::Error> {
    let [head] = input.array()?;
    Ok((head >> 5, head & 0x1f))
}

/// Reads the argument of an item.
///
/// # Errors
/// Those of the input, also for indefinite lengths and for forms that are not the shortest: an item
/// with two spellings would have two addresses, or could be replaced under its signature.
pub(crate) fn read_argument<I: Input>(input: &mut I, info: u8) -> Result<u64, I::Error> {
    let argument = read_long_argument(input, info)?;
    let least = match info {
        24 => 24,
        25 => 1 << 8,
        26 => 1 << 16,
        27 => 1 << 32,
        _ => 0,
    };
    if argument < least {
        return Err(input.fault("length or integer is not in its shortest form"));
    }
    Ok(argument)
}

/// Reads the argument of an item in whatever definite form it has.
///
/// # Errors
/// Those of the input, also for indefinite lengths.
pub(crate) fn read_long_argument<I: Input>(input: &mut I, info: u8) -> Result<u64, I::Error> {
    Ok(match info {
        0..=23 => u64::from(info),
        24 => u64::from(u8::from_be_bytes(input.array()?)),
        25 => u64::from(u16::from_be_bytes(input.array()?)),
        26 => u64::from(u32::from_be_bytes(input.array()?)),
        27 => u64::from_be_bytes(input.array()?),
        31 => return Err(input.fault("indefinite lengths are not canonical")),
        _ => return Err(input.fault("reserved additional information")),
    })
}

/// Appends a head in its shortest form.
pub(crate) fn write(out: &mut Vec<u8>, major: u8, argument: u64) {
    let major = major << 5;
    if let Ok(byte) = u8::try_from(argument) {
        match byte {
            0..=23 => out.push(major | byte),
            _ => out.extend_from_slice(&[major | 24, byte]),
        }
    } else if let Ok(argument) = u16::try_from(argument) {
        out.push(major | 25);
        out.extend_from_slice(&argument.to_be_bytes());
    } else if let Ok(argument) = u32::try_from(argument) {
        out.push(major | 26);
        out.extend_from_slice(&argument.to_be_bytes());
    } else {
        out.push(major | 27);
        out.extend_from_slice(&argument.to_be_bytes());
    }
}

/// Appends a head whose argument is a length.
pub(crate) fn write_len(out: &mut Vec<u8>, major: u8, len: usize) {
    write(out, major, u64::try_from(len).unwrap_or(u64::MAX));
}

/// Appends an integer of 64 signed bits.
pub(crate) fn write_int(out: &mut Vec<u8>, int: i64) {
    match u64::try_from(int) {
        Ok(positive) => write(out, POSITIVE, positive),
        Err(_) => write(out, NEGATIVE, (!int).cast_unsigned()),
    }
}

pub(crate) const POSITIVE: u8 = 0;
pub(crate) const NEGATIVE: u8 = 1;
pub(crate) const BYTES: u8 = 2;
pub(crate) const TEXT: u8 = 3;
pub(crate) const ARRAY: u8 = 4;
pub(crate) const MAP: u8 = 5;
pub(crate) const TAG: u8 = 6;

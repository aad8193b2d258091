//! The encoding of entry locations, in about 6 bytes an entry: the distance from the entry before,
//! and the check of the header.

use crate::ledger::EntryLocation;

/// Entries in one block of locations.
pub(super) const BLOCK_ROWS: usize = 512;

/// The bytes of a location at least.
pub(super) const LOCATION_LEN_MIN: u64 = 5;

/// Writes the locations of up to [`BLOCK_ROWS`] entries.
pub(super) fn encode(locations: &[EntryLocation]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(locations.len() * 7);
    let (mut segment, mut offset) = (0, 0);
    for location in locations {
        let step = location.offset.saturating_sub(offset);
        if location.segment == segment && step > 0 {
            put(&mut bytes, step);
        } else {
            // No entry begins where another does, so 0 is free to mean another segment.
            put(&mut bytes, 0);
            put(&mut bytes, location.segment);
            put(&mut bytes, location.offset);
        }
        bytes.extend_from_slice(&location.check.to_be_bytes());
        (segment, offset) = (location.segment, location.offset);
    }
    bytes
}

/// Appends the locations that [`encode`] wrote to `locations`; `None` for other bytes.
pub(super) fn decode(mut bytes: &[u8], locations: &mut Vec<EntryLocation>) -> Option<()> {
    let (mut segment, mut offset) = (0, 0);
    while !bytes.is_empty() {
        match take(&mut bytes)? {
            0 => {
                segment = take(&mut bytes)?;
                offset = take(&mut bytes)?;
            }
            step => offset = u32::checked_add(offset, step)?,
        }
        let (check, rest) = bytes.split_first_chunk()?;
        bytes = rest;
        locations.push(EntryLocation {
            segment,
            offset,
            check: u32::from_be_bytes(*check),
        });
    }
    Some(())
}

/// Writes seven bits a byte, lowest first, the eighth set where more follow.
fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(0x80 | low_seven(number));
        number >>= 7;
    }
    bytes.push(low_seven(number));
}

fn low_seven(number: u32) -> u8 {
    let [.., low] = number.to_be_bytes();
    low & 0x7f
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_come_back_from_six_bytes_each() {
        let location = |n: u32| EntryLocation {
            segment: 1 + n / 300,
            offset: 96 + n % 300 * 421 + n % 3,
            check: n.wrapping_mul(0x9e37_79b9),
        };
        let mut locations: Vec<_> = (0..512).map(location).collect();
        locations.push(EntryLocation {
            segment: u32::MAX,
            offset: u32::MAX,
            check: 0,
        });
        let bytes = encode(&locations);
        assert!(bytes.len() < locations.len() * 7, "{} bytes", bytes.len());
        let mut read = Vec::new();
        decode(&bytes, &mut read).unwrap();
        assert_eq!(read, locations);
        assert!(decode(&bytes[..bytes.len() - 1], &mut Vec::new()).is_none());
        assert!(decode(&[0x80; 9], &mut Vec::new()).is_none());
    }
}

//! Blocks: the frame headers and entries of a part of a segment, in short form.
//!
//! A block states where its entries continue, so that it is read without those before it.

use std::ops::Range;

use crate::codec::EXPANSION_MAX;
use crate::ledger::EntryHeader;
use crate::ledger::segment::entry::{OVERHEAD, RawEntry, SALT_LEN};
use crate::ledger::segment::field::{take, take_slice};
use crate::ledger::segment::frame;

/// Where the entries of a block continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Before {
    /// The sequence of the next entry.
    sequence: u64,
    /// The time of the entry before, in milliseconds since 1970.
    time_ms: i64,
    /// The actor of the entry before, as a header has it.
    actor: u64,
}

/// A part of a segment in short form.
#[derive(Debug)]
pub(super) struct Record<'a> {
    /// Where it is in the segment.
    pub(super) bytes: Range<u64>,
    pub(super) content: Content<'a>,
}

/// The bytes that a record stands for.
#[derive(Debug)]
pub(super) enum Content<'a> {
    FrameHeader([u8; frame::HEADER_LEN]),
    Entry {
        header: [u8; EntryHeader::LEN],
        /// Salt and body; `None` for a blank entry, which has no room in the file.
        room: Option<Room<'a>>,
    },
}

/// The room of a salt and a body in the file: redaction overwrites it with zeros.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room<'a> {
    /// Where it is in the block.
    pub(super) place: usize,
    pub(super) salt: &'a [u8; SALT_LEN],
    /// The body as it is stored.
    pub(super) body: &'a [u8],
}

/// The records of a block, in order.
#[derive(Debug)]
pub(super) struct Records<'a> {
    block: &'a [u8],
    rest: &'a [u8],
    /// Where in the segment the next record is.
    pub(super) at: u64,
    before: Before,
}

impl<'a> Records<'a> {
    /// Reads a block that begins at `at` of a segment; `None` if it ends inside its begin.
    pub(super) fn of(block: &'a [u8], at: u64) -> Option<Self> {
        let mut rest = block;
        let before = Before {
            sequence: u64::from_be_bytes(take(&mut rest)?),
            time_ms: i64::from_be_bytes(take(&mut rest)?),
            actor: u64::from_be_bytes(take(&mut rest)?),
        };
        Some(Self {
            block,
            rest,
            at,
            before,
        })
    }

    /// Takes the next record; `None` at the end, or where no record is.
    pub(super) fn take(&mut self) -> Option<Record<'a>> {
        let mut rest = self.rest;
        let [tag] = take(&mut rest)?;
        let (content, len) = match tag {
            FRAME => (self.frame_header(&mut rest)?, frame::HEADER_LEN as u64),
            _ => self.entry(tag, &mut rest)?,
        };
        let end = self.at.checked_add(len)?;
        let bytes = std::mem::replace(&mut self.at, end)..end;
        self.rest = rest;
        Some(Record { bytes, content })
    }

    fn frame_header(&self, rest: &mut &'a [u8]) -> Option<Content<'a>> {
        let count = u32::try_from(take_number(rest)?).ok()?;
        let len = take_number(rest)?;
        let synced = self.before.sequence.checked_sub(take_number(rest)?)?;
        let check: [u8; 8] = take(rest)?;
        let mut header = [0; frame::HEADER_LEN];
        header[0..4].copy_from_slice(&frame::MAGIC);
        header[4..8].copy_from_slice(&count.to_be_bytes());
        header[8..16].copy_from_slice(&len.to_be_bytes());
        header[16..24].copy_from_slice(&synced.to_be_bytes());
        header[24..32].copy_from_slice(&check);
        Some(Content::FrameHeader(header))
    }

    fn entry(&mut self, tag: u8, rest: &mut &'a [u8]) -> Option<(Content<'a>, u64)> {
        let body_len = u32::try_from(take_number(rest)?).ok()?;
        let time = self.before.time_ms;
        let time = time.wrapping_add(from_zigzag(take_number(rest)?));
        let actor = match tag & HAS_ACTOR {
            0 => self.before.actor,
            _ => u64::from_be_bytes(take(rest)?),
        };
        let commitment: [u8; 32] = take(rest)?;
        let mut header = [0; EntryHeader::LEN];
        header[0..8].copy_from_slice(&self.before.sequence.to_be_bytes());
        header[8..16].copy_from_slice(&time.to_be_bytes());
        header[16..24].copy_from_slice(&actor.to_be_bytes());
        header[24..28].copy_from_slice(&body_len.to_be_bytes());
        header[28] = tag & KINDS;
        header[32..64].copy_from_slice(&commitment);
        let room = match tag & IS_BLANK {
            0 => Some(self.room(body_len, rest)?),
            _ => None,
        };
        self.before = Before {
            sequence: self.before.sequence.checked_add(1)?,
            time_ms: time,
            actor,
        };
        let content = Content::Entry { header, room };
        Some((content, OVERHEAD as u64 + u64::from(body_len)))
    }

    fn room(&self, body_len: u32, rest: &mut &'a [u8]) -> Option<Room<'a>> {
        let stored = usize::try_from(take_number(rest)?).ok()?;
        let place = self.block.len().checked_sub(rest.len())?;
        let (salt, mut after) = rest.split_first_chunk()?;
        let body = take_slice(&mut after, stored)?;
        *rest = after;
        // A declared length allocates no more than this many times what the file holds.
        let longest = stored.saturating_mul(EXPANSION_MAX) as u64;
        let is_bounded = u64::from(body_len) <= longest;
        is_bounded.then_some(Room { place, salt, body })
    }
}

/// A block that is being written.
#[derive(Debug)]
pub(super) struct BlockWriter {
    pub(super) bytes: Vec<u8>,
    before: Before,
}

impl BlockWriter {
    /// Begins the first block of a segment whose first entry has this sequence.
    pub(super) fn new(first: u64) -> Self {
        Self {
            bytes: Vec::new(),
            before: Before {
                sequence: first,
                time_ms: 0,
                actor: u64::MAX,
            },
        }
    }

    /// Begins the next block.
    pub(super) fn begin(&mut self) {
        let Before {
            sequence,
            time_ms,
            actor,
        } = self.before;
        self.bytes.extend_from_slice(&sequence.to_be_bytes());
        self.bytes.extend_from_slice(&time_ms.to_be_bytes());
        self.bytes.extend_from_slice(&actor.to_be_bytes());
    }

    /// Adds the header of a frame; `None` unless it continues the entries before.
    pub(super) fn frame_header(&mut self, header: &[u8; frame::HEADER_LEN]) -> Option<()> {
        let mut rest = header.get(frame::MAGIC.len()..)?;
        let count = u32::from_be_bytes(take(&mut rest)?);
        let len = u64::from_be_bytes(take(&mut rest)?);
        let synced = u64::from_be_bytes(take(&mut rest)?);
        let behind = self.before.sequence.checked_sub(synced)?;
        self.bytes.push(FRAME);
        for number in [u64::from(count), len, behind] {
            put_number(&mut self.bytes, number);
        }
        self.bytes.extend_from_slice(rest);
        Some(())
    }

    /// Adds an entry with its body as it is to be stored; without one it is blank. `None` for an entry
    /// that has no short form.
    pub(super) fn entry(&mut self, raw: &RawEntry<'_>, stored: Option<&[u8]>) -> Option<()> {
        let header = EntryHeader::decode(raw.header).ok()?;
        let mut fields = raw.header.get(8..)?;
        let time_ms = i64::from_be_bytes(take(&mut fields)?);
        let actor = u64::from_be_bytes(take(&mut fields)?);
        let kind = header.kind.to_byte();
        let mut tag = kind;
        tag |= if actor == self.before.actor {
            0
        } else {
            HAS_ACTOR
        };
        tag |= if stored.is_some() { 0 } else { IS_BLANK };
        if kind > KINDS || kind == FRAME || header.sequence.get() != self.before.sequence {
            return None;
        }
        self.bytes.push(tag);
        put_number(&mut self.bytes, u64::from(header.body_len));
        let later = time_ms.wrapping_sub(self.before.time_ms);
        put_number(&mut self.bytes, to_zigzag(later));
        if tag & HAS_ACTOR != 0 {
            self.bytes.extend_from_slice(&actor.to_be_bytes());
        }
        self.bytes.extend_from_slice(&header.commitment);
        if let Some(stored) = stored {
            put_number(&mut self.bytes, stored.len() as u64);
            self.bytes.extend_from_slice(raw.salt);
            self.bytes.extend_from_slice(stored);
        }
        self.before = Before {
            sequence: self.before.sequence.checked_add(1)?,
            time_ms,
            actor,
        };
        Some(())
    }
}

/// Seven bits a byte, the lowest first; the highest bit of a byte says that another follows.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        let [.., low] = number.to_be_bytes();
        bytes.push(low | 0x80);
        number >>= 7;
    }
    let [.., low] = number.to_be_bytes();
    bytes.push(low);
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let [byte] = take(rest)?;
        let part = u64::from(byte & 0x7f);
        if part << shift >> shift != part {
            return None;
        }
        number |= part << shift;
        if byte < 0x80 {
            // Each number has one form, so that each bit of a file counts.
            return (byte != 0 || shift == 0).then_some(number);
        }
    }
    None
}

/// Small numbers of either sign as small ones without.
const fn to_zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

const fn from_zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// The first byte of the header of a frame; that of an entry has its kind.
const FRAME: u8 = 0;
const KINDS: u8 = 0x1f;
const HAS_ACTOR: u8 = 0x20;
const IS_BLANK: u8 = 0x40;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_records_up_to_some_place(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let Some(mut records) = Records::of(&bytes, 32) else {
                prop_assert!(bytes.len() < 24);
                return Ok(());
            };
            let mut at = 32;
            while let Some(record) = records.take() {
                prop_assert!(record.bytes.start == at && record.bytes.end > at);
                at = record.bytes.end;
            }
        }

        #[test]
        fn a_number_is_read_as_it_was_written_and_has_one_form(number: u64, signed: i64, extra: u8) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            prop_assert_eq!(take_number(&mut bytes.as_slice()), Some(number));
            prop_assert_eq!(from_zigzag(to_zigzag(signed)), signed);
            // Nothing follows the highest bits but what says more.
            if let Some(last) = bytes.last_mut() {
                *last |= 0x80;
            }
            bytes.push(extra & 0x7f);
            let longer = take_number(&mut bytes.as_slice());
            prop_assert!(longer != Some(number));
        }
    }
}

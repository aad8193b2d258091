//! The table of a packed segment: where its blocks are, and the dictionary of its bodies.

use std::fmt;
use std::ops::Range;

use crate::ledger::EntryId;
use crate::ledger::segment::field::take;
use crate::ledger::segment::segment_header::{HEADER_LEN, PACKED_VERSION};
use crate::ledger::segment::stated_twice::{self, CHECK_LEN, StatedTwice};

/// Where the parts of a packed segment are.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Table {
    /// The header of the segment before it was packed.
    pub(super) header: [u8; HEADER_LEN],
    /// The length of the segment.
    pub(super) len: u64,
    /// The length of the blank salts and bodies that have no room in the file.
    pub(super) left_out: u64,
    /// The length of all blocks in the file.
    pub(super) blocks_len: u32,
    /// Where each block begins in the segment, and behind the first block of the file.
    pub(super) blocks: Vec<(u32, u32)>,
    /// The grains that the dictionary was made of, counted from the first of the segment.
    pub(super) samples: Vec<u32>,
    pub(super) dictionary: Vec<u8>,
}

impl Table {
    /// Returns the length of a table in bytes.
    pub(super) const fn len_of(blocks: usize, samples: usize, dictionary: usize) -> u64 {
        (FIXED_LEN + blocks * 8 + samples * 4 + dictionary + CHECK_LEN) as u64
    }

    /// Returns whether the blocks are in order and inside, and begin behind the header.
    pub(super) fn is_sound(&self) -> bool {
        let begins = match self.blocks.first() {
            Some((start, place)) => *start as usize == HEADER_LEN && *place == 0,
            None => self.len == HEADER_LEN as u64,
        };
        let is_ordered = |pair: &[(u32, u32)]| match pair {
            [(start, place), (next, behind)] => start < next && place < behind,
            _ => true,
        };
        let last = self.blocks.last();
        let ends = last
            .is_none_or(|(start, place)| u64::from(*start) < self.len && *place < self.blocks_len);
        begins && ends && u32::try_from(self.len).is_ok() && self.blocks.windows(2).all(is_ordered)
    }

    /// Returns the bytes of the table in a file with this header.
    pub(super) fn to_bytes(&self, packed: &[u8; HEADER_LEN]) -> Vec<u8> {
        // Invariant: no segment reaches past 4 GiB, see `is_sound`.
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes();
        let mut bytes = number(self.bytes()).to_vec();
        bytes.extend_from_slice(&self.len.to_be_bytes());
        bytes.extend_from_slice(&self.header);
        bytes.extend_from_slice(&self.left_out.to_be_bytes());
        bytes.extend_from_slice(&self.blocks_len.to_be_bytes());
        bytes.extend_from_slice(&number(self.blocks.len() as u64));
        for (start, place) in &self.blocks {
            bytes.extend_from_slice(&start.to_be_bytes());
            bytes.extend_from_slice(&place.to_be_bytes());
        }
        bytes.extend_from_slice(&number(self.samples.len() as u64));
        for sample in &self.samples {
            bytes.extend_from_slice(&sample.to_be_bytes());
        }
        bytes.extend_from_slice(&self.dictionary);
        let check = stated_twice::check::<Self>(packed, &bytes);
        bytes.extend_from_slice(&check);
        bytes
    }

    /// Returns the length of the table in bytes.
    pub(super) fn bytes(&self) -> u64 {
        Self::len_of(self.blocks.len(), self.samples.len(), self.dictionary.len())
    }

    /// Returns where the blocks begin in the file.
    pub(super) fn blocks_at(&self) -> u64 {
        HEADER_LEN as u64 + self.bytes()
    }

    /// Returns the blocks that a range of the segment touches.
    pub(super) fn touched(&self, range: &Range<u64>) -> Range<usize> {
        let begins_before = |at: u64| move |(start, _): &(u32, u32)| u64::from(*start) < at;
        let first = self
            .blocks
            .partition_point(begins_before(range.start.saturating_add(1)));
        let end = self.blocks.partition_point(begins_before(range.end));
        first.saturating_sub(1)..end
    }

    /// Returns where a block is in the segment, and where behind the first block of the file. That
    /// behind the last begins where the last ends.
    pub(super) fn block(&self, nth: usize) -> (Range<u64>, Range<u64>) {
        let end = (self.len, u64::from(self.blocks_len));
        let begin = |nth| {
            let block = self.blocks.get(nth);
            block.map_or(end, |(start, place)| (u64::from(*start), u64::from(*place)))
        };
        let ((start, place), (next, behind)) = (begin(nth), begin(nth.saturating_add(1)));
        (start..next, place..behind)
    }

    /// Returns the grains that the dictionary was made of.
    pub(super) fn sampled(&self) -> Vec<EntryId> {
        let first = self
            .header
            .get(16..24)
            .and_then(|bytes| bytes.first_chunk());
        let first = first.map_or(0, |bytes| u64::from_be_bytes(*bytes));
        let samples = self.samples.iter();
        let ids = samples.map(|nth| first.saturating_add(u64::from(*nth)));
        ids.map(EntryId::new).collect()
    }
}

impl StatedTwice for Table {
    const VERSION: u16 = PACKED_VERSION;
    const DOMAIN: u8 = 0x0a;

    fn len_by(begin: u32) -> u64 {
        u64::from(begin)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let table_len = u32::from_be_bytes(take(&mut rest)?);
        let len = u64::from_be_bytes(take(&mut rest)?);
        let header = take(&mut rest)?;
        let left_out = u64::from_be_bytes(take(&mut rest)?);
        let blocks_len = u32::from_be_bytes(take(&mut rest)?);
        let count = u32::from_be_bytes(take(&mut rest)?);
        let mut blocks = Vec::new();
        for _ in 0..count {
            let start = u32::from_be_bytes(take(&mut rest)?);
            blocks.push((start, u32::from_be_bytes(take(&mut rest)?)));
        }
        let count = u32::from_be_bytes(take(&mut rest)?);
        let mut samples = Vec::new();
        for _ in 0..count {
            samples.push(u32::from_be_bytes(take(&mut rest)?));
        }
        let table = Self {
            header,
            len,
            left_out,
            blocks_len,
            blocks,
            samples,
            dictionary: rest.to_vec(),
        };
        (table.is_sound() && u64::from(table_len) == table.bytes()).then_some(table)
    }

    fn file_len(&self) -> u64 {
        self.blocks_at() + u64::from(self.blocks_len) + self.bytes() + LEN_LEN as u64
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The dictionary has words of grains.
        let mut table = f.debug_struct("Table");
        table.field("len", &self.len);
        table
            .field("blocks", &self.blocks.len())
            .finish_non_exhaustive()
    }
}

/// The length of the length of a table.
const LEN_LEN: usize = 4;
/// A table without blocks, samples, dictionary and check.
const FIXED_LEN: usize = LEN_LEN + 8 + HEADER_LEN + 8 + 4 + 4 + 4;

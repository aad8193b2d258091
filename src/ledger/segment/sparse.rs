//! Sparse segments, which earlier versions wrote: the file of a closed segment without the room of its
//! blank bodies (docs/format.md, "Packed segments").
//!
//! A reader sees the bytes of the segment at the offsets that they always had: a hole reads as
//! zeros, which is how redaction left it. So frames, leaves, offsets and proofs do not change.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::field::take;
use super::segment_header::{HEADER_LEN, SPARSE_VERSION};
use super::stated_twice::{self, CHECK_LEN, StatedTwice};
use crate::ledger::DiskFile;

/// A sparse segment, read as the segment that it stands for.
#[derive(Debug)]
pub(super) struct SparseFile {
    file: Arc<dyn DiskFile>,
    table: HoleTable,
}

/// The holes of a segment, as its file states them twice.
#[derive(Debug, PartialEq, Eq)]
struct HoleTable {
    /// The header of the segment before it was sparse.
    header: [u8; HEADER_LEN],
    /// The length of the segment.
    len: u64,
    holes: Vec<Hole>,
}

/// Bytes of a segment that are zeros and have no room in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hole {
    start: u64,
    end: u64,
    /// The length of all holes before it.
    before: u64,
}

/// A part of a range of bytes: in a hole, or in the file.
struct Part {
    bytes: Range<u64>,
    is_hole: bool,
}

impl SparseFile {
    /// Opens a sparse segment; `None` for another file, or for one whose tables are both damaged.
    pub(super) fn open(file: &Arc<dyn DiskFile>) -> io::Result<Option<Self>> {
        let table: Option<HoleTable> = stated_twice::read(&**file)?;
        let file = Arc::clone(file);
        Ok(table.map(|table| Self { file, table }))
    }

    /// Returns whether a file is a sparse segment of which one of the two tables is damaged.
    pub(super) fn is_damaged(file: &dyn DiskFile) -> io::Result<bool> {
        stated_twice::is_damaged::<HoleTable>(file)
    }

    /// Returns the length of all holes.
    pub(super) fn left_out(&self) -> u64 {
        self.table
            .holes
            .last()
            .map_or(0, |last| last.before + last.end - last.start)
    }
}

impl HoleTable {
    /// Returns the table of these holes; `None` unless they are in order, apart and inside.
    fn new(
        header: [u8; HEADER_LEN],
        len: u64,
        ranges: impl Iterator<Item = Range<u64>>,
    ) -> Option<Self> {
        let (mut floor, mut before) = (HEADER_LEN as u64, 0_u64);
        let mut holes = Vec::new();
        for Range { start, end } in ranges {
            if start < floor || start >= end || end > len || u32::try_from(end).is_err() {
                return None;
            }
            holes.push(Hole { start, end, before });
            before += end - start;
            floor = end;
        }
        (len >= floor).then_some(Self { header, len, holes })
    }

    /// Returns the length of a table in bytes.
    fn bytes(&self) -> u64 {
        table_len(u32::try_from(self.holes.len()).unwrap_or(u32::MAX))
    }

    /// Returns where in the file the byte at `offset` of the segment is, or the first one behind the
    /// hole that it lies in.
    fn place(&self, offset: u64) -> u64 {
        let after = self.holes.partition_point(|hole| hole.start < offset);
        let last = after.checked_sub(1).and_then(|last| self.holes.get(last));
        let removed = last.map_or(0, |hole| hole.before + offset.min(hole.end) - hole.start);
        // Header and table stand before what begins behind the header of the segment.
        offset + self.bytes() - removed
    }

    /// Returns the parts of a range of the segment, in order.
    fn parts(&self, range: Range<u64>) -> impl Iterator<Item = Part> + '_ {
        let mut at = range.start;
        let mut next = self.holes.partition_point(|hole| hole.end <= at);
        std::iter::from_fn(move || {
            if at >= range.end {
                return None;
            }
            let hole = self.holes.get(next).copied();
            let hole = hole.filter(|hole| hole.start < range.end);
            let (end, is_hole) = match hole {
                Some(hole) if hole.start <= at => (hole.end.min(range.end), true),
                Some(hole) => (hole.start, false),
                None => (range.end, false),
            };
            next += usize::from(is_hole);
            let bytes = at..end;
            at = end;
            Some(Part { bytes, is_hole })
        })
    }
}

impl StatedTwice for HoleTable {
    const VERSION: u16 = SPARSE_VERSION;
    const DOMAIN: u8 = 0x09;

    fn len_by(begin: u32) -> u64 {
        table_len(begin)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let count = u32::from_be_bytes(take(&mut rest)?);
        let len = u64::from_be_bytes(take(&mut rest)?);
        let header = take(&mut rest)?;
        let mut ranges = Vec::new();
        for _ in 0..count {
            let start = u64::from(u32::from_be_bytes(take(&mut rest)?));
            let len = u64::from(u32::from_be_bytes(take(&mut rest)?));
            ranges.push(start..start + len);
        }
        Self::new(header, len, ranges.into_iter()).filter(|_| rest.is_empty())
    }

    fn file_len(&self) -> u64 {
        self.place(self.len) + self.bytes() + COUNT_LEN as u64
    }
}

impl DiskFile for SparseFile {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.table.len)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        let Some(end) = end.filter(|end| *end <= self.table.len) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let head = self
            .table
            .header
            .iter()
            .skip(usize::try_from(offset).unwrap_or(HEADER_LEN));
        let (begin, rest) = buffer.split_at_mut(head.len().min(buffer.len()));
        begin
            .iter_mut()
            .zip(head)
            .for_each(|(to, from)| *to = *from);
        let offset = offset + begin.len() as u64;
        // One read of the file for all parts, which lie one behind the other in it.
        let stored = self.table.place(end.max(HEADER_LEN as u64))
            - self.table.place(offset.max(HEADER_LEN as u64));
        let mut bytes = vec![0; usize::try_from(stored).unwrap_or(usize::MAX)];
        self.file
            .read_at(&mut bytes, self.table.place(offset.max(HEADER_LEN as u64)))?;
        let (mut rest, mut bytes) = (rest, bytes.as_slice());
        for part in self.table.parts(offset..end) {
            let len = usize::try_from(part.bytes.end - part.bytes.start).unwrap_or(usize::MAX);
            let Some((to, behind)) = std::mem::take(&mut rest).split_at_mut_checked(len) else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            if part.is_hole {
                to.fill(0);
            } else {
                let Some((from, left)) = bytes.split_at_checked(len) else {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                };
                to.copy_from_slice(from);
                bytes = left;
            }
            rest = behind;
        }
        Ok(())
    }

    /// Writes what lies outside of the holes; inside them only zeros can be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(bytes.len() as u64);
        let head = self
            .table
            .header
            .get(usize::try_from(offset).unwrap_or(HEADER_LEN)..);
        let head = head.unwrap_or_default();
        let (begin, mut rest) = bytes.split_at(head.len().min(bytes.len()));
        if !head.starts_with(begin) || end > self.table.len {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let offset = offset + begin.len() as u64;
        for part in self.table.parts(offset..end) {
            let len = usize::try_from(part.bytes.end - part.bytes.start).unwrap_or(usize::MAX);
            let (from, left) = rest
                .split_at_checked(len)
                .ok_or(io::ErrorKind::InvalidInput)?;
            if !part.is_hole {
                self.file
                    .write_at(from, self.table.place(part.bytes.start))?;
            } else if from.iter().any(|byte| *byte != 0) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            rest = left;
        }
        Ok(())
    }

    /// A closed segment keeps its length.
    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn is_in_place(&self) -> bool {
        self.file.is_in_place()
    }
}

/// Returns the length of a table of so many holes, in bytes.
fn table_len(count: u32) -> u64 {
    (FIXED_LEN + CHECK_LEN) as u64 + u64::from(count) * 8
}

const COUNT_LEN: usize = 4;
/// The number of holes, the length of the segment, and its header.
const FIXED_LEN: usize = COUNT_LEN + 8 + HEADER_LEN;

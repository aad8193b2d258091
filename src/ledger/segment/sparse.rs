//! Sparse segments: the file of a closed segment without the room of its blank bodies
//! (docs/format.md, "Sparse segments").
//!
//! A reader sees the bytes of the segment at the offsets that they always had: a hole reads as
//! zeros, which is how redaction left it. So frames, leaves, offsets and proofs do not change.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::field::take;
use super::segment_file::{HEADER_LEN, SegmentHeader, is_sparse_header};
use crate::ledger::{DiskFile, StoreId};

/// A sparse segment, read as the segment that it stands for.
#[derive(Debug)]
struct SparseFile {
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

/// Returns the segment that `file` stands for, if it is a sparse one, and else the file. One whose
/// tables are both damaged is returned as it is: its header is refused.
pub(in crate::ledger) fn expand(file: Arc<dyn DiskFile>) -> io::Result<Arc<dyn DiskFile>> {
    let Some(header) = header_of(&*file)? else {
        return Ok(file);
    };
    let table = match HoleTable::first(&*file, &header)? {
        None => HoleTable::second(&*file, &header)?,
        found => found,
    };
    Ok(match table {
        Some(table) => Arc::new(SparseFile { file, table }),
        None => file,
    })
}

/// Returns whether a file is a sparse segment of which one of the two tables is damaged.
pub(in crate::ledger) fn is_damaged(file: &dyn DiskFile) -> io::Result<bool> {
    let Some(header) = header_of(file)? else {
        return Ok(false);
    };
    let first = HoleTable::first(file, &header)?;
    let second = HoleTable::second(file, &header)?;
    Ok(first.is_none() || first != second)
}

/// Returns whether a file is a sparse segment.
pub(in crate::ledger) fn is_sparse(file: &dyn DiskFile) -> io::Result<bool> {
    Ok(header_of(file)?.is_some())
}

/// Returns the header of a sparse segment; `None` for another file.
fn header_of(file: &dyn DiskFile) -> io::Result<Option<[u8; HEADER_LEN]>> {
    let mut header = [0; HEADER_LEN];
    match file.read_at(&mut header, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    Ok(is_sparse_header(&header).then_some(header))
}

/// Writes the first `len` bytes of `segment` to a new file, without its holes, and syncs it. The
/// holes are in order, apart, and behind the header.
pub(in crate::ledger) fn write(
    file: &dyn DiskFile,
    segment: &dyn DiskFile,
    len: u64,
    holes: &[Range<u64>],
    store_id: &StoreId,
) -> io::Result<()> {
    let mut header = [0; HEADER_LEN];
    segment.read_at(&mut header, 0)?;
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let table = HoleTable::new(header, len, holes.iter().cloned()).ok_or_else(invalid)?;
    let sparse = SegmentHeader::read(segment, len, store_id)?;
    let sparse = sparse.map_err(|_| invalid())?.sparse(store_id);
    let bytes = table.to_bytes(&sparse);
    file.write_at(&sparse, 0)?;
    file.write_at(&bytes, HEADER_LEN as u64)?;
    let mut at = (HEADER_LEN + bytes.len()) as u64;
    let mut chunk = Vec::new();
    for part in table.parts(HEADER_LEN as u64..len) {
        let mut offset = part.bytes.start;
        while !part.is_hole && offset < part.bytes.end {
            let left = usize::try_from(part.bytes.end - offset).unwrap_or(usize::MAX);
            chunk.resize(left.min(CHUNK_BYTES), 0);
            segment.read_at(&mut chunk, offset)?;
            file.write_at(&chunk, at)?;
            offset += chunk.len() as u64;
            at += chunk.len() as u64;
        }
    }
    file.write_at(&bytes, at)?;
    let count = u32::try_from(holes.len()).map_err(|_| invalid())?;
    file.write_at(&count.to_be_bytes(), at + bytes.len() as u64)?;
    file.sync()
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

    /// Reads the table behind the header; `None` if it is damaged.
    fn first(file: &dyn DiskFile, header: &[u8; HEADER_LEN]) -> io::Result<Option<Self>> {
        let mut begin = [0; COUNT_LEN];
        let end = file.len_bytes()?;
        if end < (HEADER_LEN + COUNT_LEN) as u64 {
            return Ok(None);
        }
        file.read_at(&mut begin, HEADER_LEN as u64)?;
        Self::read(
            file,
            header,
            HEADER_LEN as u64,
            u32::from_be_bytes(begin),
            end,
        )
    }

    /// Reads the table at the end; `None` if it is damaged.
    fn second(file: &dyn DiskFile, header: &[u8; HEADER_LEN]) -> io::Result<Option<Self>> {
        let mut count = [0; COUNT_LEN];
        let end = file.len_bytes()?;
        let Some(at) = end.checked_sub(COUNT_LEN as u64) else {
            return Ok(None);
        };
        file.read_at(&mut count, at)?;
        let count = u32::from_be_bytes(count);
        let Some(at) = at.checked_sub(table_len(count)) else {
            return Ok(None);
        };
        Self::read(file, header, at, count, end)
    }

    fn read(
        file: &dyn DiskFile,
        header: &[u8; HEADER_LEN],
        at: u64,
        count: u32,
        end: u64,
    ) -> io::Result<Option<Self>> {
        // A declared length never allocates more than the file holds.
        let len = table_len(count);
        if at.checked_add(len).is_none_or(|behind| behind > end) {
            return Ok(None);
        }
        let Ok(len) = usize::try_from(len) else {
            return Ok(None);
        };
        let mut bytes = vec![0; len];
        file.read_at(&mut bytes, at)?;
        Ok(Self::decode(header, &bytes).filter(|table| table.file_len() == end))
    }

    fn decode(sparse: &[u8; HEADER_LEN], bytes: &[u8]) -> Option<Self> {
        let (covered, found) = bytes.split_last_chunk::<CHECK_LEN>()?;
        if *found != check(sparse, covered) {
            return None;
        }
        let mut rest = covered;
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

    fn to_bytes(&self, sparse: &[u8; HEADER_LEN]) -> Vec<u8> {
        let count = u32::try_from(self.holes.len()).unwrap_or(u32::MAX);
        let mut bytes = count.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.len.to_be_bytes());
        bytes.extend_from_slice(&self.header);
        for hole in &self.holes {
            for number in [hole.start, hole.end - hole.start] {
                // Invariant: no segment reaches past 4 GiB, see `new`.
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                bytes.extend_from_slice(&number.to_be_bytes());
            }
        }
        let check = check(sparse, &bytes);
        bytes.extend_from_slice(&check);
        bytes
    }

    /// Returns the length of a table in bytes.
    fn bytes(&self) -> u64 {
        table_len(u32::try_from(self.holes.len()).unwrap_or(u32::MAX))
    }

    /// Returns the length of the file.
    fn file_len(&self) -> u64 {
        self.place(self.len) + self.bytes() + COUNT_LEN as u64
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

fn check(sparse: &[u8; HEADER_LEN], covered: &[u8]) -> [u8; CHECK_LEN] {
    let hash = Sha256::new().chain_update([0x09]);
    let digest: [u8; 32] = hash
        .chain_update(sparse)
        .chain_update(covered)
        .finalize()
        .into();
    let mut head = [0; CHECK_LEN];
    head.copy_from_slice(&digest[..CHECK_LEN]);
    head
}

const COUNT_LEN: usize = 4;
const CHECK_LEN: usize = 8;
/// The number of holes, the length of the segment, and its header.
const FIXED_LEN: usize = COUNT_LEN + 8 + HEADER_LEN;
const CHUNK_BYTES: usize = 1 << 20;

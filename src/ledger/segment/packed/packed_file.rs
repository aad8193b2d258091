//! The file of a packed segment, read as the segment that it stands for.
//!
//! Damage inside a block reads as bytes that no check holds for, as it would in the segment itself.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::block::{Content, Record, Records, Room};
use super::table::Table;
use crate::codec::{BodyReader, UNREADABLE};
use crate::ledger::segment::entry::{OVERHEAD, SALT_LEN};
use crate::ledger::segment::segment_header::HEADER_LEN;
use crate::ledger::segment::stated_twice;
use crate::ledger::{DiskFile, EntryHeader, EntryId};

/// A packed segment.
#[derive(Debug)]
pub(in crate::ledger::segment) struct PackedFile {
    file: Arc<dyn DiskFile>,
    table: Table,
    bodies: BodyReader,
}

impl PackedFile {
    /// Opens a packed segment; `None` for another file, or for one whose tables are both damaged.
    pub(in crate::ledger::segment) fn open(file: &Arc<dyn DiskFile>) -> io::Result<Option<Self>> {
        let table: Option<Table> = stated_twice::read(&**file)?;
        Ok(table.map(|table| Self {
            file: Arc::clone(file),
            bodies: BodyReader::new(&table.dictionary),
            table,
        }))
    }

    /// Returns whether a file is a packed segment of which one of the two tables is damaged.
    pub(in crate::ledger::segment) fn is_damaged(file: &dyn DiskFile) -> io::Result<bool> {
        stated_twice::is_damaged::<Table>(file)
    }

    /// Returns the grains that the dictionary was made of: it has words of them.
    pub(in crate::ledger::segment) fn sampled(&self) -> Vec<EntryId> {
        self.table.sampled()
    }

    /// Returns the length of the blank salts and bodies that have no room in the file.
    pub(in crate::ledger::segment) const fn left_out(&self) -> u64 {
        self.table.left_out
    }

    /// Calls `each` with the records that a range of the segment touches, and where in the file the
    /// block of each begins. Returns the parts of the touched blocks in which no record is.
    fn visit(
        &self,
        range: &Range<u64>,
        each: &mut dyn FnMut(&Record<'_>, u64) -> io::Result<()>,
    ) -> io::Result<Vec<Range<u64>>> {
        let touched = self.table.touched(range);
        let mut unreadable = Vec::new();
        if touched.is_empty() {
            return Ok(unreadable);
        }
        // One read of the file for all blocks, which lie one behind the other in it.
        let (_, Range { start: begin, .. }) = self.table.block(touched.start);
        let (_, Range { start: end, .. }) = self.table.block(touched.end);
        let mut bytes = Vec::new();
        let len = usize::try_from(end.saturating_sub(begin)).unwrap_or(usize::MAX);
        let at = self.table.blocks_at().saturating_add(begin);
        self.file.read_onto(&mut bytes, len, at)?;
        let mut rest = bytes.as_slice();
        for nth in touched {
            let (inside, places) = self.table.block(nth);
            let len = usize::try_from(places.end - places.start).unwrap_or(usize::MAX);
            let Some((block, behind)) = rest.split_at_checked(len) else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            rest = behind;
            let mut at = inside.start;
            let mut records = Records::of(block, inside.start);
            while at < range.end
                && let Some(record) = records.as_mut().and_then(Records::take)
                && record.bytes.end <= inside.end
            {
                at = record.bytes.end;
                if at > range.start {
                    each(&record, self.table.blocks_at() + places.start)?;
                }
            }
            if at < inside.end && at < range.end {
                unreadable.push(at..inside.end);
            }
        }
        Ok(unreadable)
    }

    /// Writes what a record stands for, as far as it is asked for.
    fn expand(&self, record: &Record<'_>, to: &mut Window<'_>) {
        let at = record.bytes.start;
        let (header, room) = match &record.content {
            Content::FrameHeader(header) => return to.put(at, header),
            Content::Entry { header, room } => (header, room),
        };
        let salt_at = at + EntryHeader::LEN as u64;
        let body = at + OVERHEAD as u64..record.bytes.end;
        to.put(at, header);
        let Some(Room {
            salt, body: stored, ..
        }) = room
        else {
            return to.fill(salt_at..body.end, 0);
        };
        to.put(salt_at, &salt[..]);
        if let Some(whole) = to.whole(&body) {
            self.bodies.read(stored, whole);
        } else if to.touches(&body) {
            let len = usize::try_from(body.end - body.start).unwrap_or(usize::MAX);
            let mut bytes = vec![0; len];
            self.bodies.read(stored, &mut bytes);
            to.put(body.start, &bytes);
        }
    }
}

/// A range of the segment that is being read.
struct Window<'a> {
    bytes: &'a mut [u8],
    start: u64,
}

impl Window<'_> {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }

    fn touches(&self, range: &Range<u64>) -> bool {
        range.start < self.end() && self.start < range.end
    }

    /// Returns the part of the window that a range has.
    fn part(&mut self, range: &Range<u64>) -> &mut [u8] {
        let place = |at: u64| usize::try_from(at.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let (from, to) = (place(range.start), place(range.end).min(self.bytes.len()));
        self.bytes.get_mut(from..to).unwrap_or_default()
    }

    /// Returns the bytes of a range, if all of it is asked for.
    fn whole(&mut self, range: &Range<u64>) -> Option<&mut [u8]> {
        let is_whole = self.start <= range.start && range.end <= self.end();
        is_whole.then(|| self.part(range))
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        let skipped = usize::try_from(self.start.saturating_sub(at)).unwrap_or(usize::MAX);
        let to = self.part(&(at..at.saturating_add(bytes.len() as u64)));
        let from = bytes.get(skipped..).unwrap_or_default();
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }

    fn fill(&mut self, range: Range<u64>, byte: u8) {
        self.part(&range).fill(byte);
    }
}

impl DiskFile for PackedFile {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.table.len)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        let Some(end) = end.filter(|end| *end <= self.table.len) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let mut to = Window {
            bytes: buffer,
            start: offset,
        };
        to.put(0, &self.table.header);
        let behind = offset.max(HEADER_LEN as u64)..end;
        let unreadable = self.visit(&behind, &mut |record, _| {
            self.expand(record, &mut to);
            Ok(())
        })?;
        for range in unreadable {
            to.fill(range, UNREADABLE);
        }
        Ok(())
    }

    /// Writes the bytes that are there, which changes nothing, or zeros over salt and body of an
    /// entry.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let range = offset..offset.saturating_add(bytes.len() as u64);
        let mut after = vec![0; bytes.len()];
        self.read_at(&mut after, offset)?;
        let mut blanked = Vec::new();
        let mut now = Window {
            bytes: &mut after,
            start: offset,
        };
        self.visit(&range, &mut |record, block_at| {
            let Content::Entry { room, .. } = &record.content else {
                return Ok(());
            };
            let inside = record.bytes.start + EntryHeader::LEN as u64..record.bytes.end;
            let place = |at: u64| usize::try_from(at.saturating_sub(offset)).unwrap_or(usize::MAX);
            let written = bytes.get(place(inside.start)..place(inside.end));
            let is_zero = written.is_some_and(|written| written.iter().all(|byte| *byte == 0));
            if let (true, Some(Room { place, body, .. })) = (is_zero, room)
                && let Some(whole) = now.whole(&inside)
            {
                whole.fill(0);
                blanked.push((block_at + *place as u64, SALT_LEN + body.len()));
            }
            Ok(())
        })?;
        if after != bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (at, len) in blanked {
            self.file.write_at(&vec![0; len], at)?;
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

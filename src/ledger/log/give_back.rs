//! Giving the room of blank bodies back: segments of which much is blank are written again as sparse
//! ones (docs/format.md, "Sparse segments").
//!
//! A sparse segment reads as the one that it replaces, so nothing but its file changes.

use std::collections::BTreeMap;
use std::ops::Range;

use super::copy::same;
use super::ledger::Ledger;
use super::watched_segments::WatchedSegments;
use crate::ledger::offsets::entry_offsets::SegmentExtent;
use crate::ledger::segment::frame::Frame;
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::segment_file::{self, FOLDER, HEADER_LEN};
use crate::ledger::segment::{replacement, sparse};
use crate::ledger::{DiskFile, EntryHeader, EntryId, Error, OpenMode};

impl Ledger {
    /// Writes each segment again without its blank bodies where that gives back a quarter of its file
    /// or more, and returns how many bytes it gave back. If the last segment is one of them, the next
    /// is begun first. Headers stay, so everything is proven as before.
    ///
    /// The caller holds the right to append, and blanks no entry meanwhile.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`, after which each segment is the old one or the new one.
    pub fn give_back_blanked(&self) -> Result<u64, Error> {
        replacement::discard(&*self.disk)?;
        let blank = self.blank_bytes();
        let extents = self.offsets.read().extents();
        let mut given_back = 0;
        for extent in extents {
            let Some(blank) = blank.get(&extent.number) else {
                continue;
            };
            let stored = self.stored(extent.number)?;
            if !stored.is_worth(extent.end, *blank) {
                continue;
            }
            if extent.number == self.position().segment {
                let tail = &mut *self.tail.lock();
                if tail.halted {
                    return Err(Error::Halted);
                }
                self.begin_segment(tail, self.position())?;
            }
            if self.make_sparse(&extent)? {
                let now = self.stored(extent.number)?;
                given_back += stored.len.saturating_sub(now.len);
            }
        }
        Ok(given_back)
    }

    /// Returns the length of the files of all segments, in bytes.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub(crate) fn stored_bytes(&self) -> Result<u64, Error> {
        let extents = self.offsets.read().extents();
        let lengths = extents.iter().map(|extent| {
            let name = segment_file::name_of(extent.number);
            self.disk.open(&name, OpenMode::Read)?.len_bytes()
        });
        let sum: std::io::Result<u64> = lengths.sum();
        sum.map_err(|source| Error::io("measure", FOLDER, source))
    }

    /// Returns how many bytes of each segment erasures have blanked, headers of frames included.
    fn blank_bytes(&self) -> BTreeMap<u32, u64> {
        let offsets = self.offsets.read();
        let mut blank = BTreeMap::new();
        let extents = offsets.erased().iter().filter_map(|id| offsets.locate(*id));
        for extent in extents {
            let bytes = extent.bytes_to_next.saturating_sub(EntryHeader::LEN) as u64;
            *blank.entry(extent.segment).or_default() += bytes;
        }
        blank
    }

    fn stored(&self, number: u32) -> Result<Stored, Error> {
        let name = segment_file::name_of(number);
        let failed = |source| Error::io("read", &name, source);
        let file = self.disk.open(&name, OpenMode::Read).map_err(failed)?;
        Ok(Stored {
            len: file.len_bytes().map_err(failed)?,
            is_damaged: sparse::is_damaged(&*file).map_err(failed)?,
        })
    }

    /// Puts a sparse segment in the place of a closed one; returns whether it did. One with damage
    /// stays as it is.
    fn make_sparse(&self, extent: &SegmentExtent) -> Result<bool, Error> {
        let name = segment_file::name_of(extent.number);
        let failed = |source| Error::io("give back room in", &name, source);
        let segment = segment_file::open(&*self.disk, &name, OpenMode::Read).map_err(failed)?;
        let Some(holes) = self.holes(&*segment, extent.end).map_err(failed)? else {
            return Ok(false);
        };
        let beside = replacement::beside(&name);
        let file = self.disk.create(&beside).map_err(failed)?;
        sparse::write(&*file, &*segment, extent.end, &holes, &self.store_id).map_err(failed)?;
        let written = segment_file::open(&*self.disk, &beside, OpenMode::Read).map_err(failed)?;
        if !same(&*segment, 0, &*written, 0, extent.end).map_err(failed)? {
            replacement::discard(&*self.disk)?;
            return Ok(false);
        }
        let tail = &mut *self.tail.lock();
        self.disk.rename(&beside, &name).map_err(failed)?;
        self.disk.sync_folder(FOLDER).map_err(failed)?;
        self.open_segments.forget();
        tail.watched = WatchedSegments::watch(&self.disk, self.store_id, &self.offsets.read())?;
        Ok(true)
    }

    /// Returns where the blank bodies of a segment are; `None` if a frame in it does not hold.
    fn holes(&self, segment: &dyn DiskFile, end: u64) -> std::io::Result<Option<Vec<Range<u64>>>> {
        let offsets = self.offsets.read();
        let mut reader = ReadAhead::new(segment, end, SEQUENTIAL);
        let mut holes = Vec::new();
        let mut offset = HEADER_LEN as u64;
        while offset < end {
            let Ok(frame) = Frame::at(&mut reader, offset, &self.store_id)? else {
                return Ok(None);
            };
            for (place, raw) in frame.entries() {
                let sequence = raw.sequence().map(EntryId::new);
                // Invariant: a hole reads as zeros, so only zeros become one.
                let is_listed = sequence.is_some_and(|id| offsets.erased().contains(&id));
                if is_listed && raw.is_zero() {
                    let begin = offset + place;
                    holes.push(begin + EntryHeader::LEN as u64..begin + raw.len() as u64);
                }
            }
            offset += frame.len;
        }
        Ok(Some(holes))
    }
}

/// The file of a segment.
struct Stored {
    /// Its length in bytes.
    len: u64,
    /// Whether a table of a sparse segment is damaged.
    is_damaged: bool,
}

impl Stored {
    /// Returns whether a segment that ends at `end`, with so many blank bytes, is worth being written
    /// again.
    fn is_worth(&self, end: u64, blank: u64) -> bool {
        let left_out = end.saturating_sub(self.len);
        let gain = blank.saturating_sub(left_out);
        self.is_damaged || (gain >= GAIN_MIN && gain >= self.len / 4)
    }
}

/// The least that is given back of a segment, in bytes: a block of most file systems.
const GAIN_MIN: u64 = 4096;

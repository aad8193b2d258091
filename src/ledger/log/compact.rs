//! Compaction: closed segments are written again as packed ones, without the room of blank bodies
//! (docs/format.md, "Packed segments").
//!
//! A packed segment reads as the one that it replaces, so nothing but its file changes.

use std::collections::BTreeMap;
use std::io;

use super::copy::same;
use super::ledger::Ledger;
use super::tail::Tail;
use super::watched_segments::WatchedSegments;
use crate::ledger::offsets::entry_offsets::SegmentExtent;
use crate::ledger::segment::compacted::{self, Form, Opened};
use crate::ledger::segment::entry::RawEntry;
use crate::ledger::segment::packed::Packing;
use crate::ledger::segment::replacement;
use crate::ledger::segment::segment_file::{self, FOLDER};
use crate::ledger::{DiskFile, EntryHeader, EntryId, Error, OpenMode};

impl Ledger {
    /// Packs each segment where that gives back a quarter of its file or more, and returns how many
    /// bytes it gave back. If the last segment is one of them, the next is begun first. Headers stay,
    /// so everything is proven as before.
    ///
    /// Bodies of a segment of a 64th of the full size or more are compressed with `compress`, and stay
    /// so; a compressed one takes about a microsecond more to read.
    ///
    /// `right` takes the right to append and follows others: it is held while a file takes the place of
    /// another, not while it is written. A segment in which an entry is blanked meanwhile stays as it
    /// is.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`, after which each segment is the old one or the new one; as
    /// `right`.
    pub fn compact<G, E: From<Error>>(
        &self,
        compress: bool,
        right: impl Fn() -> Result<G, E>,
    ) -> Result<u64, E> {
        let _one = self.compacting.lock();
        let blank = self.blank_bytes();
        let extents = self.offsets.read().extents();
        let mut given_back = 0;
        for mut extent in extents {
            let blank = blank.get(&extent.number).copied().unwrap_or(0);
            let stored = self.stored(&extent)?;
            let compresses = self.is_cold(&extent) && (compress || stored.is_compressed());
            if !stored.may_gain(blank, compresses) {
                continue;
            }
            let is_worth = |expected| stored.is_worth(expected);
            if extent.number == self.position().segment {
                if !self.is_worth_packing(&extent, compresses, is_worth)? {
                    continue;
                }
                let _right = right()?;
                extent = self.close_segment(extent)?;
            }
            let Some(packed) = self.write_packed(&extent, compresses, is_worth)? else {
                continue;
            };
            let _right = right()?;
            if self.put_packed(&packed, &extent)? {
                let now = self.stored(&extent)?;
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
            let file = self.disk.open(&name, OpenMode::Read)?;
            stored_len(&*file, extent)
        });
        let sum: io::Result<u64> = lengths.sum();
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

    fn stored(&self, extent: &SegmentExtent) -> Result<Stored, Error> {
        let name = segment_file::name_of(extent.number);
        let failed = |source| Error::io("read", &name, source);
        let file = self.disk.open(&name, OpenMode::Read).map_err(failed)?;
        Ok(Stored {
            end: extent.end,
            len: stored_len(&*file, extent).map_err(failed)?,
            is_damaged: compacted::is_damaged(&*file).map_err(failed)?,
            gain_min: GAIN_MIN.min(self.segment_bytes / GAIN_PARTS),
            form: compacted::open(file).map_err(failed)?.form,
        })
    }

    /// Returns whether a segment is long enough to be compressed.
    const fn is_cold(&self, extent: &SegmentExtent) -> bool {
        extent.end >= self.segment_bytes / COLD_PARTS
    }

    /// Begins the next segment, if this is the last, and returns where this one ends.
    fn close_segment(&self, extent: SegmentExtent) -> Result<SegmentExtent, Error> {
        let tail = &mut *self.tail.lock();
        let position = self.position();
        if extent.number == position.segment {
            if tail.halted {
                return Err(Error::Halted);
            }
            self.begin_segment(tail, position)?;
        }
        let extents = self.offsets.read().extents().into_iter();
        let mut same = extents.filter(|other| other.number == extent.number);
        Ok(same.next().unwrap_or(extent))
    }

    fn is_worth_packing(
        &self,
        extent: &SegmentExtent,
        compresses: bool,
        is_worth: impl Fn(u64) -> bool,
    ) -> Result<bool, Error> {
        let name = segment_file::name_of(extent.number);
        let segment = segment_file::open(&*self.disk, &name, OpenMode::Read);
        let segment = segment.map_err(|source| Error::io("pack", &name, source))?;
        let is_listed = |id| self.is_erased(id);
        let packing = self.packing(&*segment, extent, compresses, &is_listed)?;
        Ok(packing.is_some_and(|packing| is_worth(packing.expected())))
    }

    /// Writes the packed form of a closed segment beside it, if the length that it will have is worth
    /// it. One with damage stays as it is.
    fn write_packed(
        &self,
        extent: &SegmentExtent,
        compresses: bool,
        is_worth: impl Fn(u64) -> bool,
    ) -> Result<Option<Opened>, Error> {
        let name = segment_file::name_of(extent.number);
        let failed = |source| Error::io("pack", &name, source);
        let segment = segment_file::open(&*self.disk, &name, OpenMode::Read).map_err(failed)?;
        let is_listed = |id| self.is_erased(id);
        let packing = self.packing(&*segment, extent, compresses, &is_listed)?;
        let Some(packing) = packing.filter(|packing| is_worth(packing.expected())) else {
            return Ok(None);
        };
        self.write_beside(
            packing,
            &*segment,
            extent,
            &replacement::packed_beside(&name),
        )
    }

    /// Writes the packed form of `segment` beside its file; `None` if it does not read as the segment
    /// does.
    fn write_beside(
        &self,
        packing: Packing<'_>,
        segment: &dyn DiskFile,
        extent: &SegmentExtent,
        beside: &str,
    ) -> Result<Option<Opened>, Error> {
        let failed = |source| Error::io("pack", beside, source);
        self.discard_packed(beside)?;
        let file = self.disk.create(beside).map_err(failed)?;
        let write = || {
            if !packing.write(&*file)? {
                return Ok(None);
            }
            let written = compacted::open(file)?;
            let len = written.file.len_bytes()?;
            let is_same = len == extent.end && same(segment, 0, &*written.file, 0, len)?;
            Ok(is_same.then_some(written))
        };
        let written = write().map_err(failed)?;
        if written.is_none() {
            self.discard_packed(beside)?;
        }
        Ok(written)
    }

    /// Puts what was written in the place of the segment, unless an entry was blanked meanwhile or the
    /// file is gone; returns whether it did. The caller holds the right to append.
    fn put_packed(&self, packed: &Opened, extent: &SegmentExtent) -> Result<bool, Error> {
        let name = segment_file::name_of(extent.number);
        let failed = |source| Error::io("pack", &name, source);
        let beside = replacement::packed_beside(&name);
        if !self.is_blanked(packed, extent)? {
            self.discard_packed(&beside)?;
            return Ok(false);
        }
        let tail = &mut *self.tail.lock();
        match self.disk.rename(&beside, &name) {
            // An erasure removes all that may hold what it erases.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            renamed => renamed.map_err(failed)?,
        }
        self.replaced(tail, extent.number)?;
        Ok(true)
    }

    fn discard_packed(&self, beside: &str) -> Result<(), Error> {
        match self.disk.remove(beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("remove", beside, error))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether all entries of a segment that an erasure lists are blank in its packed form, and
    /// in no dictionary.
    fn is_blanked(&self, packed: &Opened, extent: &SegmentExtent) -> Result<bool, Error> {
        let offsets = self.offsets.read();
        let sampled = match &packed.form {
            Form::Packed { sampled, .. } => sampled.as_slice(),
            _ => &[],
        };
        for id in offsets.erased() {
            let Some(entry) = offsets.locate(*id) else {
                continue;
            };
            if entry.segment != extent.number {
                continue;
            }
            let mut bytes = Vec::new();
            let read = packed
                .file
                .read_onto(&mut bytes, entry.bytes_to_next, entry.offset);
            read.map_err(|source| Error::io("read", FOLDER, source))?;
            let raw = RawEntry::take(&mut bytes.as_slice());
            if sampled.contains(id) || !raw.is_some_and(|raw| raw.is_zero()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes a new name of a segment durable, and reads the file that has it now.
    fn replaced(&self, tail: &mut Tail, number: u32) -> Result<(), Error> {
        let synced = self.disk.sync_folder(FOLDER);
        synced.map_err(|source| Error::io("sync", FOLDER, source))?;
        self.open_segments.forget();
        if tail.segment == number {
            let name = segment_file::name_of(number);
            let last = segment_file::open_last(&*self.disk, &name);
            let last = last.map_err(|source| Error::io("open", &name, source))?;
            (tail.file, tail.is_compacted) = last;
        }
        tail.watched = WatchedSegments::watch(&self.disk, self.store_id, &self.offsets.read())?;
        Ok(())
    }

    /// Surveys a segment as `segment` reads it; `None` if a frame in it does not hold.
    pub(super) fn packing<'a>(
        &'a self,
        segment: &'a dyn DiskFile,
        extent: &SegmentExtent,
        compresses: bool,
        is_listed: &'a dyn Fn(EntryId) -> bool,
    ) -> Result<Option<Packing<'a>>, Error> {
        let name = segment_file::name_of(extent.number);
        let entries = self.offsets.read().entries_in(extent.number);
        let extent = (extent.end, entries);
        Packing::survey(segment, extent, compresses, &self.store_id, is_listed)
            .map_err(|source| Error::io("pack", &name, source))
    }

    /// Puts the packed form of `segment` in the place of its file; returns whether it did. The caller
    /// holds the right to append.
    pub(super) fn replace_packed(
        &self,
        packing: Packing<'_>,
        segment: &dyn DiskFile,
        extent: &SegmentExtent,
    ) -> Result<bool, Error> {
        let name = segment_file::name_of(extent.number);
        let failed = |source| Error::io("pack", &name, source);
        // A compaction of another process may have written what is erased now.
        replacement::discard(&*self.disk)?;
        let beside = replacement::beside(&name);
        let written = self.write_beside(packing, segment, extent, &beside)?;
        if written.is_none() {
            return Ok(false);
        }
        let tail = &mut *self.tail.lock();
        self.disk.rename(&beside, &name).map_err(failed)?;
        self.replaced(tail, extent.number)?;
        Ok(true)
    }
}

/// Returns the length of the file of a segment without room, which is no part of it.
fn stored_len(file: &dyn DiskFile, extent: &SegmentExtent) -> io::Result<u64> {
    match compacted::is_compacted(file)? {
        true => file.len_bytes(),
        false => Ok(extent.end),
    }
}

/// The file of a segment.
struct Stored {
    /// The length of the segment.
    end: u64,
    /// The length of the file without room.
    len: u64,
    /// Whether a table of a compacted segment is damaged.
    is_damaged: bool,
    /// The least that is worth being given back.
    gain_min: u64,
    form: Form,
}

impl Stored {
    /// Returns whether its bodies are compressed.
    fn is_compressed(&self) -> bool {
        matches!(&self.form, Form::Packed { sampled, .. } if !sampled.is_empty())
    }

    /// Returns whether a segment with so many blank bytes is worth a survey.
    fn may_gain(&self, blank: u64, compresses: bool) -> bool {
        let left_out = match &self.form {
            Form::Plain => 0,
            Form::Sparse { left_out } | Form::Packed { left_out, .. } => *left_out,
        };
        let blanked = blank.saturating_sub(left_out);
        let kept = self.end.saturating_sub(left_out).max(1);
        // Of a packed segment the room of a body is about that much smaller.
        let room = u128::from(blanked) * u128::from(self.len) / u128::from(kept);
        let room = u64::try_from(room).unwrap_or(u64::MAX);
        let is_blank = room >= self.gain_min && room >= self.len / 4;
        self.is_damaged || is_blank || (compresses && !self.is_compressed())
    }

    /// Returns whether a file of the expected length is worth being written.
    fn is_worth(&self, expected: u64) -> bool {
        let gain = self.len.saturating_sub(expected);
        self.is_damaged || (gain >= self.gain_min && gain >= self.len / 4)
    }
}

/// The least that is given back of a segment, in bytes: a block of most file systems, and no more than
/// this part of a full segment.
const GAIN_MIN: u64 = 4096;
const GAIN_PARTS: u64 = 1024;
/// A segment of this part of a full one is compressed: 4 MiB by default.
const COLD_PARTS: u64 = 64;

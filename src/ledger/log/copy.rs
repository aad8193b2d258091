//! Incremental copies of a ledger to another disk, while appends go on.
//!
//! Segments that the copy has already are compared, not written again; of one that has grown since, what
//! is new is added. A copy that has diverged is
//! refused and left unchanged, and so is every copy if a byte of this ledger has rotted: a copy of
//! rot over the last good bytes would be the end of them. A copy that may be damaged is made where
//! none is yet.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::ledger::Ledger;
use super::published_end::END;
use crate::ledger::offsets::entry_offsets::SegmentExtent;
use crate::ledger::recovery::recover::end_of;
use crate::ledger::segment::compacted;
use crate::ledger::segment::frame::Frame;
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::replacement::{self, CHUNK_BYTES};
use crate::ledger::segment::room::{ROOM_BYTES, is_room};
use crate::ledger::segment::segment_file::{self, FOLDER, HEADER_LEN, HeaderFault, SegmentHeader};
use crate::ledger::{Disk, DiskFile, EntryHeader, Error, LedgerPosition, OpenMode, verify_ledger};

/// The result of [`Ledger::copy_to`].
///
/// ```
/// # use std::sync::Arc;
/// use grainstore::ledger::{Ledger, SEGMENT_BYTES, MemoryDisk, StoreId};
///
/// let disk = Arc::new(MemoryDisk::default());
/// let ledger = Ledger::create(disk, StoreId::new([7; 16]), SEGMENT_BYTES)?;
/// let copied = ledger.copy_to(&MemoryDisk::default())?;
/// assert_eq!((copied.position, copied.segments, copied.kept), (ledger.position(), 1, 0));
/// # Ok::<(), grainstore::ledger::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyReport {
    /// Where the copy ends.
    pub position: LedgerPosition,
    /// The number of segments that were written.
    pub segments: u32,
    /// The number of segments that the copy already had.
    pub kept: u32,
    /// The number of bytes that were written.
    pub bytes: u64,
    /// The number of parts of this ledger that are not what was written, and are copied as they are.
    pub damaged: u64,
}

/// The answer of a copy to a ledger with bytes that are not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDamage {
    Refuse,
    /// Copies them as they are, if the target has no earlier copy.
    Copy,
}

impl Ledger {
    /// Copies the durable ledger into the `ledger/` of another disk, while appends go on. Segments
    /// of an earlier copy are written again only if an entry in them was erased since, or if their
    /// bytes have changed; to one that has grown since, what is new is added.
    ///
    /// Every byte of this ledger is proven first, what is written is read again, and what is kept is
    /// compared with it.
    ///
    /// All of it is written and synced beside the old segments, and replaces or follows them at once: whatever
    /// interrupts this leaves the earlier copy or the new one.
    ///
    /// # Errors
    /// `ERR_BACKUP_DIVERGED` if the target is not a prefix of this ledger; `ERR_STORAGE_DAMAGED` if
    /// a byte of this ledger is not what was written, or the end of a segment of the target, so that
    /// it cannot be told which history it is of; `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`. The earlier
    /// copy is there after each of them, or the new one.
    pub fn copy_to(&self, target: &dyn Disk) -> Result<CopyReport, Error> {
        self.copy_following(target, OnDamage::Refuse, &|| ())
    }

    /// Copies as [`Ledger::copy_to`] does, and calls `follow` for what other processes appended
    /// meanwhile: their erasures count, too.
    ///
    /// # Errors
    /// As [`Ledger::copy_to`].
    pub(crate) fn copy_following(
        &self,
        target: &dyn Disk,
        on_damage: OnDamage,
        follow: &dyn Fn(),
    ) -> Result<CopyReport, Error> {
        let failed = |source| Error::io("copy to", FOLDER, source);
        let faults = verify_ledger(self)?.findings;
        let refuse = || match faults.first() {
            None => Ok(()),
            Some(fault) => Err(Error::Damaged {
                segment: fault.segment,
                offset: fault.offset,
                sequence: fault.sequence,
                reason: fault.reason,
            }),
        };
        if on_damage == OnDamage::Refuse {
            refuse()?;
        }
        target.create_folder(FOLDER).map_err(failed)?;
        target.sync_folder("").map_err(failed)?;
        replacement::complete(target)?;
        if on_damage == OnDamage::Copy && !segment_file::numbers(target)?.is_empty() {
            refuse()?;
        }
        loop {
            replacement::discard(target)?;
            // An erasure that begins meanwhile could leave blank bodies in the copy whose listing
            // entry lies behind its end.
            let erased = self.offsets.read().erased().len();
            let mut copied = self.prepare(target)?;
            copied.damaged = faults.len() as u64;
            follow();
            if self.offsets.read().erased().len() != erased {
                continue;
            }
            if copied.segments > 0 {
                // A process that opened the copy to write said where it ended.
                match target.remove(END) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(Error::io("remove", END, error));
                    }
                    _ => {}
                }
                replacement::replace(target)?;
            }
            return Ok(copied);
        }
    }

    /// Writes the new segments, and what is new of old ones, beside the old ones.
    fn prepare(&self, target: &dyn Disk) -> Result<CopyReport, Error> {
        let position = self.sync()?;
        let mut extents = self.offsets.read().extents();
        extents.retain(|extent| extent.number <= position.segment);
        if let Some(last) = extents.last_mut() {
            last.end = position.offset;
        }
        let newest = segment_file::numbers(target)?.last().copied().unwrap_or(0);
        if newest > position.segment {
            return Err(Error::Diverged { segment: newest });
        }
        let mut found = Vec::with_capacity(extents.len());
        for extent in &extents {
            found.push((extent, self.compare(target, extent)?));
        }
        let mut copied = CopyReport {
            position,
            segments: 0,
            kept: 0,
            bytes: 0,
            damaged: 0,
        };
        for (extent, there) in found {
            let name = segment_file::name_of(extent.number);
            copied.bytes += match there {
                There::Same => {
                    copied.kept += 1;
                    continue;
                }
                There::Beginning(len) => {
                    self.copy_rest(&name, len..extent.end, target)?;
                    extent.end - len
                }
                There::Other => {
                    let beside = replacement::beside(&name);
                    self.copy_segment(extent.number, extent.end, target, &beside)?
                }
            };
            copied.segments += 1;
        }
        Ok(copied)
    }

    /// Writes the first `end` bytes of a segment to a new file of another disk, and syncs it; returns
    /// the length of the file. A whole compacted segment stays one.
    pub(super) fn copy_segment(
        &self,
        number: u32,
        end: u64,
        target: &dyn Disk,
        name: &str,
    ) -> Result<u64, Error> {
        let from = segment_file::name_of(number);
        let (source, end) = self.file_of(&from, end)?;
        let failed = |source| Error::io("copy to", name, source);
        match target.remove(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let write = || {
            let file = target.create(name)?;
            replacement::copy(&*source, 0, end, &*file, 0)?;
            file.sync()?;
            let written = target.open(name, OpenMode::Read)?;
            proven(same(&*source, 0, &*written, 0, end)?)
        };
        write().map_err(failed)?;
        Ok(end)
    }

    /// Writes a part of a segment beside the beginning of it that another disk has, and syncs it.
    fn copy_rest(&self, name: &str, part: Range<u64>, target: &dyn Disk) -> Result<(), Error> {
        let beside = replacement::rest_beside(name);
        let write = || {
            let source = segment_file::open(&*self.disk, name, OpenMode::Read)?;
            let file = target.create(&beside)?;
            file.write_at(&part.start.to_be_bytes(), 0)?;
            let at = replacement::REST_HEADER_LEN;
            replacement::copy(&*source, part.start, part.end, &*file, at)?;
            file.sync()?;
            let written = target.open(&beside, OpenMode::Read)?;
            proven(same(
                &*source,
                part.start,
                &*written,
                at,
                part.end - part.start,
            )?)
        };
        write().map_err(|source| Error::io("copy to", &beside, source))
    }

    /// Returns the file to copy of the first `end` bytes of a segment, and how much of it.
    fn file_of(&self, name: &str, end: u64) -> Result<(Arc<dyn DiskFile>, u64), Error> {
        let failed = |source| Error::io("read", name, source);
        let segment = segment_file::open(&*self.disk, name, OpenMode::Read).map_err(failed)?;
        let file = self.disk.open(name, OpenMode::Read).map_err(failed)?;
        let is_whole = segment.len_bytes().map_err(failed)? == end;
        match is_whole && compacted::is_compacted(&*file).map_err(failed)? {
            true => {
                let len = file.len_bytes().map_err(failed)?;
                Ok((file, len))
            }
            false => Ok((segment, end)),
        }
    }

    /// Returns how much of a segment a copy has: of one that is missing, rotten, or not blanked
    /// everywhere that this one is, nothing that is kept.
    fn compare(&self, target: &dyn Disk, extent: &SegmentExtent) -> Result<There, Error> {
        let name = segment_file::name_of(extent.number);
        let failed = |source| Error::io("read", &name, source);
        let there = match segment_file::open(target, &name, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(There::Other),
            Err(error) => return Err(failed(error)),
        };
        let whole = there.len_bytes().map_err(failed)?;
        let len = self.end_of_frames(&*there, whole).map_err(failed)?;
        let here = segment_file::open(&*self.disk, &name, OpenMode::Read).map_err(failed)?;
        // Headers commit to random salts, so two segments with the same last header are equal up to
        // there.
        let last = self.offsets.read().last_before(extent.number, len);
        let at = last.map_or(0, |last| u64::from(last.offset));
        let bytes = if last.is_some() {
            EntryHeader::LEN as u64
        } else {
            HEADER_LEN as u64
        };
        let is_prefix = len <= extent.end
            && end_of(&*here, extent.number, last.as_ref())? == Some(len)
            && same(&*here, at, &*there, at, bytes).map_err(failed)?;
        if !is_prefix {
            return Err(self.foreign(extent.number, &*there, len).map_err(failed)?);
        }
        // Both have the same history, and this ledger was proven: other bytes there are rot.
        if len < whole || !same(&*here, 0, &*there, 0, len).map_err(failed)? {
            return Ok(There::Other);
        }
        let raw = |disk: &dyn Disk| disk.open(&name, OpenMode::Read);
        let (ours, theirs) = (raw(&*self.disk), raw(target));
        let (ours, theirs) = (ours.map_err(failed)?, theirs.map_err(failed)?);
        let stored = |file: &dyn DiskFile| file.len_bytes().map_err(failed);
        let is_compacted = |file: &dyn DiskFile| compacted::is_compacted(file).map_err(failed);
        Ok(if len == extent.end {
            match stored(&*theirs)? <= stored(&*ours)? {
                true => There::Same,
                false => There::Other,
            }
        } else if is_compacted(&*ours)? || is_compacted(&*theirs)? {
            // Offsets of a compacted file are not those of the segment.
            There::Other
        } else {
            There::Beginning(len)
        })
    }

    /// Returns where the frames of a segment end, if room follows; else its length. A file that was
    /// copied from an open store may have some.
    fn end_of_frames(&self, there: &dyn DiskFile, len: u64) -> io::Result<u64> {
        if !len.is_multiple_of(ROOM_BYTES) {
            return Ok(len);
        }
        let mut reader = ReadAhead::new(there, len, SEQUENTIAL);
        let (offset, _) = self.whole_frames(&mut reader)?;
        let is_room = is_room(&mut reader, offset)?;
        Ok(if is_room { offset } else { len })
    }

    /// Returns where the whole frames of a segment end, and why no further one does if it goes on.
    fn whole_frames(&self, reader: &mut ReadAhead<'_>) -> io::Result<(u64, Option<&'static str>)> {
        let mut offset = HEADER_LEN as u64;
        while offset < reader.end() {
            match Frame::at(reader, offset, &self.store_id)? {
                Ok(frame) => offset = offset.saturating_add(frame.len),
                Err(reason) => return Ok((offset, Some(reason))),
            }
        }
        Ok((offset, None))
    }

    /// Returns the error for a segment that is not a prefix of this one: the copy is of another
    /// history if its frames hold, else it is damaged.
    fn foreign(&self, number: u32, there: &dyn DiskFile, len: u64) -> io::Result<Error> {
        let damaged = |offset, reason| Error::CopyDamaged {
            name: segment_file::name_of(number),
            offset,
            reason,
        };
        if let Err(HeaderFault::Broken(reason)) = SegmentHeader::read(there, len, &self.store_id)? {
            return Ok(damaged(0, reason));
        }
        let mut reader = ReadAhead::new(there, len, SEQUENTIAL);
        Ok(match self.whole_frames(&mut reader)? {
            (offset, Some(reason)) => damaged(offset, reason),
            (_, None) => Error::Diverged { segment: number },
        })
    }
}

/// How much of a segment a copy has.
#[derive(Clone, Copy)]
enum There {
    Same,
    /// These first bytes of it, which are whole frames.
    Beginning(u64),
    Other,
}

/// Returns whether parts of two files, of one length, are the same.
pub(super) fn same(
    here: &dyn DiskFile,
    at: u64,
    there: &dyn DiskFile,
    from: u64,
    len: u64,
) -> io::Result<bool> {
    let (mut one, mut other) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let mut done = 0;
    while done < len {
        let left = usize::try_from(len - done).unwrap_or(usize::MAX);
        one.truncate(left);
        other.truncate(left);
        here.read_at(&mut one, at.saturating_add(done))?;
        there.read_at(&mut other, from.saturating_add(done))?;
        if one != other {
            return Ok(false);
        }
        done += one.len() as u64;
    }
    Ok(true)
}

/// Returns an error if what was written is not what is read again.
fn proven(is_same: bool) -> io::Result<()> {
    let reason = "what was written is not what is read again";
    match is_same {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, reason)),
    }
}

//! Incremental copies of a ledger to another disk, while appends go on.
//!
//! Segments that the copy has already are compared, not written again. A copy that has diverged is
//! refused and left unchanged, and so is every copy if a byte of this ledger has rotted: a copy of
//! rot over the last good bytes would be the end of them. A copy that may be damaged is made where
//! none is yet.

use std::io;
use std::sync::Arc;

use super::ledger::Ledger;
use crate::ledger::offsets::entry_offsets::SegmentExtent;
use crate::ledger::recovery::recover::end_of;
use crate::ledger::segment::frame::Frame;
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::replacement;
use crate::ledger::segment::segment_file::{self, FOLDER, HEADER_LEN, HeaderFault, SegmentHeader};
use crate::ledger::segment::sparse;
use crate::ledger::{Disk, DiskFile, EntryHeader, Error, LedgerPosition, OpenMode, verify_ledger};

/// The result of [`Ledger::copy_to`].
///
/// ```
/// # use std::sync::Arc;
/// use grainstore::ledger::{Ledger, LedgerOptions, MemoryDisk, StoreId};
///
/// let disk = Arc::new(MemoryDisk::default());
/// let ledger = Ledger::create(disk, StoreId::new([7; 16]), LedgerOptions::default())?;
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
    /// bytes have changed.
    ///
    /// Every byte of this ledger is proven first, what is written is read again, and what is kept is
    /// compared with it.
    ///
    /// New segments are written and synced beside the old ones, and replace them at once: whatever
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
                replacement::replace(target)?;
            }
            return Ok(copied);
        }
    }

    /// Writes the new segments beside the old ones.
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
        for (extent, is_same) in found {
            if is_same {
                copied.kept += 1;
                continue;
            }
            let name = replacement::beside(&segment_file::name_of(extent.number));
            copied.bytes += self.copy_segment(extent.number, extent.end, target, &name)?;
            copied.segments += 1;
        }
        Ok(copied)
    }

    /// Writes the first `end` bytes of a segment to a new file of another disk, and syncs it; returns
    /// the length of the file. A whole sparse segment stays one.
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
        let file = target.create(name).map_err(failed)?;
        let mut part = vec![0; CHUNK_BYTES];
        let mut offset = 0;
        while offset < end {
            let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
            part.truncate(left);
            let read = source.read_at(&mut part, offset);
            read.map_err(|source| Error::io("read", &from, source))?;
            file.write_at(&part, offset).map_err(failed)?;
            offset += part.len() as u64;
        }
        file.sync().map_err(failed)?;
        let written = target.open(name, OpenMode::Read).map_err(failed)?;
        if !same(&*source, &*written, 0, end).map_err(failed)? {
            let reason = "what was written is not what is read again";
            return Err(failed(io::Error::new(io::ErrorKind::InvalidData, reason)));
        }
        Ok(end)
    }

    /// Returns the file to copy of the first `end` bytes of a segment, and how much of it.
    fn file_of(&self, name: &str, end: u64) -> Result<(Arc<dyn DiskFile>, u64), Error> {
        let failed = |source| Error::io("read", name, source);
        let segment = segment_file::open(&*self.disk, name, OpenMode::Read).map_err(failed)?;
        let file = self.disk.open(name, OpenMode::Read).map_err(failed)?;
        let is_whole = segment.len_bytes().map_err(failed)? == end;
        match is_whole && sparse::is_sparse(&*file).map_err(failed)? {
            true => {
                let len = file.len_bytes().map_err(failed)?;
                Ok((file, len))
            }
            false => Ok((segment, end)),
        }
    }

    /// Returns whether a copy has a segment as it is here: not if it is missing, a prefix, not
    /// blanked everywhere that this one is, or rotten.
    fn compare(&self, target: &dyn Disk, extent: &SegmentExtent) -> Result<bool, Error> {
        let name = segment_file::name_of(extent.number);
        let failed = |source| Error::io("read", &name, source);
        let there = match segment_file::open(target, &name, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        let len = there.len_bytes().map_err(failed)?;
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
            && same(&*here, &*there, at, bytes).map_err(failed)?;
        if !is_prefix {
            return Err(self.foreign(extent.number, &*there, len).map_err(failed)?);
        }
        // Both have the same history, and this ledger was proven: other bytes there are rot.
        let is_same = len == extent.end && same(&*here, &*there, 0, len).map_err(failed)?;
        let stored = |disk: &dyn Disk| disk.open(&name, OpenMode::Read)?.len_bytes();
        let is_as_short = || Ok(stored(target)? <= stored(&*self.disk)?);
        Ok(is_same && is_as_short().map_err(failed)?)
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
        let mut offset = HEADER_LEN as u64;
        while offset < len {
            match Frame::at(&mut reader, offset, &self.store_id)? {
                Ok(frame) => offset = offset.saturating_add(frame.len),
                Err(reason) => return Ok(damaged(offset, reason)),
            }
        }
        Ok(Error::Diverged { segment: number })
    }
}

/// Returns whether a part of two files is the same.
pub(super) fn same(
    here: &dyn DiskFile,
    there: &dyn DiskFile,
    at: u64,
    len: u64,
) -> io::Result<bool> {
    let (mut one, mut other) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let (mut at, end) = (at, at.saturating_add(len));
    while at < end {
        let left = usize::try_from(end - at).unwrap_or(usize::MAX);
        one.truncate(left);
        other.truncate(left);
        here.read_at(&mut one, at)?;
        there.read_at(&mut other, at)?;
        if one != other {
            return Ok(false);
        }
        at += one.len() as u64;
    }
    Ok(true)
}

/// The length of one read of a copy, in bytes.
const CHUNK_BYTES: usize = 1 << 20;

//! Point-in-time copies: the frames of a ledger up to a moment, as a new ledger.
//!
//! Restore uses it. It also opens a ledger for reading only, to copy from.

use std::io;
use std::sync::Arc;

use super::ledger::{Ledger, SEGMENT_BYTES};
use super::tail::Tail;
use crate::ledger::offsets::entry_offsets::origin;
use crate::ledger::recovery::recover::{Admitted, Recovered, Recovery};
use crate::ledger::recovery::redaction_audit::{ErasureDecoder, RedactionAudit};
use crate::ledger::segment::entry::{OVERHEAD, declared_extent, leaf};
use crate::ledger::segment::frame::Frame;
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::replacement;
use crate::ledger::segment::segment_file::{self, FOLDER, HEADER_LEN};
use crate::ledger::{Disk, EntryHeader, EntryId, Error, LedgerPosition, OpenMode, StoreId};

impl Ledger {
    /// Opens a ledger for reading only: proves every byte and changes none, but for completing a
    /// copy into it that was interrupted. A torn tail is ignored.
    /// Appends are `ERR_STORAGE_HALTED`.
    ///
    /// Also returns the entries whose bodies are damaged; they read as erased.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORE_VERSION`, `ERR_STORAGE_IO`.
    pub fn open_to_read(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        erases: ErasureDecoder,
    ) -> Result<(Self, Vec<EntryId>), Error> {
        replacement::complete(&*disk)?;
        let recovery = Recovery {
            disk: &*disk,
            store_id: &store_id,
            watermark: 0,
            erases,
            audit: RedactionAudit::default(),
            admitted: Admitted::All,
            proven: 0,
            until: None,
        };
        let (found, _) = recovery.prove(None)?;
        let Recovered {
            mut offsets,
            erased,
            damaged,
            ..
        } = found;
        offsets.mark_durable();
        offsets.erase(erased.into_iter().chain(damaged.iter().copied()));
        let name = segment_file::name_of(offsets.end().segment);
        let file = disk.open(&name, OpenMode::Read);
        let mut tail = Tail::new(file.map_err(|source| Error::io("read", &name, source))?, 0);
        tail.halted = true;
        let segment_bytes = SEGMENT_BYTES;
        let ledger = Self::new(disk, store_id, segment_bytes, offsets, tail);
        Ok((ledger, damaged))
    }

    /// Copies the frames up to the last one that `is_kept` accepts to a disk without a ledger, and
    /// returns the ledger there, ready for appends. `is_kept` is given the number of entries up to
    /// the end of a frame, and its time in milliseconds since 1970.
    ///
    /// The copy may hold blank entries that only later entries list: before it is opened again, the
    /// caller appends an entry that lists them.
    ///
    /// # Errors
    /// `ERR_STORE_EXISTS`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn point_in_time_copy(
        &self,
        disk: Arc<dyn Disk>,
        segment_bytes: u64,
        is_kept: &dyn Fn(u64, i64) -> bool,
    ) -> Result<Self, Error> {
        let cut = self.cut_at(is_kept)?;
        let failed = |source| Error::io("create", FOLDER, source);
        disk.create_folder(FOLDER).map_err(failed)?;
        disk.sync_folder("").map_err(failed)?;
        if !segment_file::numbers(&*disk)?.is_empty() {
            return Err(Error::Exists);
        }
        let mut offsets = self.offsets.read().clone();
        offsets.cut(&cut);
        for extent in offsets.extents() {
            let name = segment_file::name_of(extent.number);
            self.copy_segment(extent.number, extent.end, &*disk, &name)?;
        }
        disk.sync_folder(FOLDER).map_err(failed)?;
        let name = segment_file::name_of(cut.segment);
        let (file, is_compacted) = segment_file::open_last(&*disk, &name).map_err(failed)?;
        let mut tail = Tail::new(file, cut.segment);
        tail.is_compacted = is_compacted;
        Ok(Self::new(disk, self.store_id, segment_bytes, offsets, tail))
    }

    /// Returns whether the folder of a ledger has no file but segments.
    pub(crate) fn holds_segments_only(disk: &dyn Disk) -> Result<bool, Error> {
        let files = disk.list(FOLDER);
        let files = files.map_err(|source| Error::io("list", FOLDER, source))?;
        Ok(files.len() == segment_file::numbers(disk)?.len())
    }

    /// Removes the segments of a copy that was interrupted, if there are any.
    pub(crate) fn remove_segments(disk: &dyn Disk) -> Result<(), Error> {
        match disk.list(FOLDER) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            listed => drop(listed.map_err(|source| Error::io("list", FOLDER, source))?),
        }
        for number in segment_file::numbers(disk)? {
            let name = segment_file::name_of(number);
            disk.remove(&name)
                .map_err(|source| Error::io("remove", &name, source))?;
        }
        Ok(())
    }

    /// Returns whether an entry is the first of its frame.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, `ERR_STORAGE_IO`.
    pub fn begins_frame(&self, sequence: EntryId) -> Result<bool, Error> {
        let entry = self.locate(sequence)?;
        let Some(before) = sequence.before() else {
            return Ok(true);
        };
        let before = self.locate(before)?;
        if before.segment != entry.segment {
            return Ok(true);
        }
        let name = segment_file::name_of(before.segment);
        let mut header = [0; EntryHeader::LEN];
        let file = self.open_segments.get(before.segment)?;
        let read = file.read_at(&mut header, before.offset);
        read.map_err(|source| Error::io("read", &name, source))?;
        let body_len = declared_extent(&header).map_or(0, |(_, len)| len);
        // Between two frames lies the header of the second.
        Ok(before.offset + OVERHEAD as u64 + u64::from(body_len) != entry.offset)
    }

    /// Returns the end of the last frame that is kept.
    fn cut_at(&self, is_kept: &dyn Fn(u64, i64) -> bool) -> Result<LedgerPosition, Error> {
        let mut end = LedgerPosition {
            entries: 0,
            head: origin(&self.store_id),
            segment: 1,
            offset: HEADER_LEN as u64,
        };
        let mut cut = end;
        let extents = self.offsets.read().extents();
        for extent in extents {
            let name = segment_file::name_of(extent.number);
            let failed = |source| Error::io("read", &name, source);
            let file = segment_file::open(&*self.disk, &name, OpenMode::Read).map_err(failed)?;
            let mut reader = ReadAhead::new(&*file, extent.end, SEQUENTIAL);
            let mut offset = HEADER_LEN as u64;
            while offset < extent.end {
                let frame = Frame::at(&mut reader, offset, &self.store_id).map_err(failed)?;
                let changed = || io::Error::other("it changed while it was read");
                let frame = frame.map_err(|_| failed(changed()))?;
                let (mut entries, mut head, mut time_ms) = (end.entries, end.head, i64::MIN);
                for (_, raw) in frame.entries() {
                    entries += 1;
                    head = leaf(&head, raw.header);
                    time_ms = time_ms.max(raw.time_ms().unwrap_or(i64::MAX));
                }
                offset += frame.len;
                end = LedgerPosition {
                    entries,
                    head,
                    segment: extent.number,
                    offset,
                };
                // A frame that a wrong clock dated ahead is kept for the sake of one behind it.
                if is_kept(entries, time_ms) {
                    cut = end;
                }
            }
        }
        Ok(cut)
    }
}

use std::io;
use std::sync::Arc;

use super::ledger::{Ledger, Options};
use super::tail::Tail;
use crate::ledger::offsets::entry_offsets::origin;
use crate::ledger::recovery::recover::{Found, Opening};
use crate::ledger::recovery::redaction_audit::{Blanks, Erases};
use crate::ledger::segment::entry::{OVERHEAD, extent, leaf};
use crate::ledger::segment::frame::Frame;
use crate::ledger::segment::read_ahead::{SEQUENTIAL, Window};
use crate::ledger::segment::segment_file::{self, FOLDER, HEADER_LEN};
use crate::ledger::{Access, Disk, Error, Header, Mark, StoreId};

impl Ledger {
    /// Opens a ledger for reading only: proves every byte, and changes none. What a crash left
    /// behind the last whole frame is passed over. Appends are `ERR_STORAGE_HALTED`.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORE_VERSION`, `ERR_STORAGE_IO`.
    pub fn open_to_read(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        erases: Erases,
    ) -> Result<Self, Error> {
        let opening = Opening {
            disk: &*disk,
            store_id: &store_id,
            watermark: 0,
            erases,
            blanks: Blanks::default(),
            proven: 0,
        };
        let (found, _) = opening.prove(None)?;
        let Found {
            mut table, erased, ..
        } = found;
        table.settle();
        table.erase(erased);
        let name = segment_file::name_of(table.end().segment);
        let file = disk.open(&name, Access::Read);
        let mut tail = Tail::new(file.map_err(|source| Error::io("read", &name, source))?);
        tail.halted = true;
        Ok(Self::new(disk, store_id, Options::default(), table, tail))
    }

    /// Copies the first frames, as many as `is_kept` accepts by the number of entries up to the
    /// frame's end and its time in milliseconds since 1970, to a disk that has no ledger, and
    /// returns the ledger there, ready for appends.
    ///
    /// Entries in it may be blank that only later entries list: the caller appends one that does
    /// before the new ledger is opened.
    ///
    /// # Errors
    /// `ERR_STORE_EXISTS`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn copy_prefix(
        &self,
        disk: Arc<dyn Disk>,
        options: Options,
        is_kept: &dyn Fn(u64, i64) -> bool,
    ) -> Result<Self, Error> {
        let cut = self.cut_at(is_kept)?;
        let failed = |source| Error::io("create", FOLDER, source);
        disk.create_folder(FOLDER).map_err(failed)?;
        disk.sync_folder("").map_err(failed)?;
        if !segment_file::numbers(&*disk)?.is_empty() {
            return Err(Error::Exists);
        }
        let mut table = self.table.read().clone();
        table.cut(&cut);
        for extent in table.extents() {
            let name = segment_file::name_of(extent.number);
            self.copy_segment(extent.number, extent.end, &*disk, &name)?;
        }
        disk.sync_folder(FOLDER).map_err(failed)?;
        let name = segment_file::name_of(cut.segment);
        let file = disk.open(&name, Access::Write).map_err(failed)?;
        let tail = Tail::new(file);
        Ok(Self::new(disk, self.store_id, options, table, tail))
    }

    /// Returns whether an entry is the first of its frame.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, `ERR_STORAGE_IO`.
    pub fn begins_frame(&self, sequence: u64) -> Result<bool, Error> {
        let place = self.locate(sequence)?;
        let Some(before) = sequence.checked_sub(1) else {
            return Ok(true);
        };
        let before = self.locate(before)?;
        if before.segment != place.segment {
            return Ok(true);
        }
        let name = segment_file::name_of(before.segment);
        let mut header = [0; Header::LEN];
        let file = self.handles.get(before.segment)?;
        let read = file.read_at(&mut header, before.offset);
        read.map_err(|source| Error::io("read", &name, source))?;
        let body_len = extent(&header).map_or(0, |(_, len)| len);
        // Between two frames lies the header of the second.
        Ok(before.offset + OVERHEAD as u64 + u64::from(body_len) != place.offset)
    }

    /// Returns the end of the last frame that is kept.
    fn cut_at(&self, is_kept: &dyn Fn(u64, i64) -> bool) -> Result<Mark, Error> {
        let mut cut = Mark {
            entries: 0,
            head: origin(&self.store_id),
            segment: 1,
            offset: HEADER_LEN as u64,
        };
        let extents = self.table.read().extents();
        for extent in extents {
            let name = segment_file::name_of(extent.number);
            let failed = |source| Error::io("read", &name, source);
            let file = self.disk.open(&name, Access::Read).map_err(failed)?;
            let mut window = Window::new(&*file, extent.end, SEQUENTIAL);
            let mut offset = HEADER_LEN as u64;
            while offset < extent.end {
                let frame = Frame::at(&mut window, offset, &self.store_id).map_err(failed)?;
                let changed = || io::Error::other("it changed while it was read");
                let frame = frame.map_err(|_| failed(changed()))?;
                let (mut entries, mut head, mut time_ms) = (cut.entries, cut.head, i64::MIN);
                for (_, raw) in frame.entries() {
                    entries += 1;
                    head = leaf(&head, raw.header);
                    time_ms = time_ms.max(raw.time_ms().unwrap_or(i64::MAX));
                }
                if !is_kept(entries, time_ms) {
                    return Ok(cut);
                }
                offset += frame.len;
                cut = Mark {
                    entries,
                    head,
                    segment: extent.number,
                    offset,
                };
            }
        }
        Ok(cut)
    }
}

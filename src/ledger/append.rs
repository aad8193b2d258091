use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::entry::leaf;
use super::error::is_full;
use super::frame::{self, Plan};
use super::log::Ledger;
use super::segment::{self, FOLDER, SegmentHeader};
use super::table::Place;
use super::{Disk, DiskFile, Error, NewEntry};

/// The writer's side of a ledger: the last segment, held by one append at a time.
#[derive(Debug)]
pub(super) struct Tail {
    file: Arc<dyn DiskFile>,
    frame: Vec<u8>,
    halted: bool,
}

impl Tail {
    pub(super) fn new(file: Arc<dyn DiskFile>) -> Self {
        Self {
            file,
            frame: Vec::new(),
            halted: false,
        }
    }
}

impl Ledger {
    /// Appends entries as one atomic batch, and returns their sequences once they are durable:
    /// one write, one `fdatasync`. Nothing is written for no entries.
    ///
    /// `salts` fills a slice with random bytes that nobody can guess; it is called once for each
    /// entry. `time_ms` is milliseconds since 1970.
    ///
    /// # Errors
    /// `ERR_RANGE` for a body over 64 MiB or a frame over 1 GiB; `ERR_STORAGE_FULL`, after which
    /// appends may go on; `ERR_STORAGE_IO`, whose outcome is unknown; `ERR_STORAGE_HALTED` for
    /// every append after an unknown outcome, until the ledger is opened again.
    pub fn append(
        &self,
        time_ms: i64,
        entries: &[NewEntry<'_>],
        salts: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Range<u64>, Error> {
        let tail = &mut *self.tail.lock();
        if tail.halted {
            return Err(Error::Halted);
        }
        let len = frame::len_of(entries)?;
        let before = self.table.read().end();
        if entries.is_empty() {
            return Ok(before.len..before.len);
        }
        self.roll(tail, len as u64)?;
        let end = self.table.read().end();
        let plan = Plan {
            store_id: &self.store_id,
            first: end.len,
            time_ms,
            entries,
            len,
        };
        let mut head = end.head;
        let mut places = Vec::with_capacity(entries.len());
        plan.build(salts, &mut tail.frame, &mut |offset, header| {
            head = leaf(&head, header);
            places.extend(Place::new(end.offset + offset as u64, header));
        })?;
        write(tail, end.offset).map_err(|source| {
            let name = segment::name_of(end.segment);
            Error::io("append to", &name, source)
        })?;
        // Readers see the frame from here on, and never before it is durable.
        let mut table = self.table.write();
        table.add_frame(&places, head, end.offset + len as u64);
        tail.frame.shrink_to(FRAME_KEPT);
        Ok(end.len..table.end().len)
    }

    /// Closes the last segment if a frame of `len` bytes would take it past its size.
    fn roll(&self, tail: &mut Tail, len: u64) -> Result<(), Error> {
        let end = self.table.read().end();
        let max = self.options.segment_bytes.min(u64::from(u32::MAX));
        if end.offset == segment::HEADER_LEN as u64 || end.offset + len <= max {
            return Ok(());
        }
        let name = segment::name_of(end.segment);
        // That a later segment exists says that this one is durable.
        if let Err(source) = tail.file.sync() {
            tail.halted = true;
            return Err(Error::io("sync", &name, source));
        }
        let number = end.segment.checked_add(1).ok_or(Error::TooLarge {
            what: "number of segments",
            len: usize::MAX,
            max: usize::MAX,
        })?;
        let header = SegmentHeader {
            number,
            first: end.len,
        };
        match segment::create(&*self.disk, header, &self.store_id) {
            Ok(file) => tail.file = file,
            Err(error) => {
                let full = matches!(error, Error::Full { .. });
                tail.halted = !(full && uncreate(&*self.disk, number));
                return Err(error);
            }
        }
        self.table.write().begin_segment(number);
        Ok(())
    }
}

/// Removes what is left of a segment that could not be created; returns whether it is gone.
fn uncreate(disk: &dyn Disk, number: u32) -> bool {
    let gone = match disk.remove(&segment::name_of(number)) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    gone && disk.sync_folder(FOLDER).is_ok()
}

/// Writes the frame at `offset`, the end of the last whole one, and makes it durable.
fn write(tail: &mut Tail, offset: u64) -> io::Result<()> {
    if let Err(error) = tail.file.write_at(&tail.frame, offset) {
        // Nothing of this frame was synced, so cutting it off leaves the ledger as it was.
        let undone =
            is_full(&error) && tail.file.set_len(offset).is_ok() && tail.file.sync().is_ok();
        tail.halted = !undone;
        return Err(error);
    }
    // After a failed sync the system may call pages clean that never reached the disk: no retry
    // of it proves anything.
    tail.file.sync().inspect_err(|_| tail.halted = true)
}

/// How much memory is kept between appends, in bytes.
const FRAME_KEPT: usize = 4 << 20;

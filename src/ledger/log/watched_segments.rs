//! The segments of an open ledger: nothing is acknowledged after one of them was removed or replaced,
//! since no later open would find what this one counts as stored.
//!
//! The disk says how it looks: a file system by one look at the folder for all of them, as long as no
//! name in it changes. Another process may put a compacted segment in the place of a closed one that
//! it stands for.

use std::fmt;
use std::sync::Arc;

use crate::ledger::disk::Watch;
use crate::ledger::offsets::entry_offsets::{EntryOffsets, SegmentExtent};
use crate::ledger::recovery::recover::end_of;
use crate::ledger::recovery::torn_tail::damage;
use crate::ledger::segment::compacted;
use crate::ledger::segment::segment_file::{self, FOLDER, SegmentHeader, name_of};
use crate::ledger::{Disk, DiskFile, Error, OpenMode, StoreId};

/// The test whether the segments are still those that were opened.
#[derive(Default)]
pub(super) struct WatchedSegments {
    /// All but the last.
    closed: Vec<SegmentExtent>,
    /// `None` before the first turn to write, and where no other program writes.
    watch: Option<Watched>,
}

struct Watched {
    disk: Arc<dyn Disk>,
    store_id: StoreId,
    watch: Watch,
    /// Whether the file that the watch began with as the last segment is the one that is open.
    is_of_last: bool,
}

/// The outcome of a look at the segments.
enum Seen {
    InPlace,
    LastIsGone,
    ClosedIsGone(SegmentExtent),
}

impl WatchedSegments {
    /// Watches every segment. The last one is the caller's to have opened: its handle is compared at
    /// the next [`WatchedSegments::check`].
    pub(super) fn watch(
        disk: &Arc<dyn Disk>,
        store_id: StoreId,
        offsets: &EntryOffsets,
    ) -> Result<Self, Error> {
        let mut closed = offsets.extents();
        closed.pop();
        let watch = watch(&**disk, &closed, offsets.end().segment)?.map(|watch| Watched {
            disk: Arc::clone(disk),
            store_id,
            watch,
            is_of_last: false,
        });
        Ok(Self { closed, watch })
    }

    /// Returns whether the last segment, which is open as `last`, is in place.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` if a closed one was removed or replaced.
    pub(super) fn check(&mut self, number: u32, last: &dyn DiskFile) -> Result<bool, Error> {
        let Some(watched) = &mut self.watch else {
            return Ok(last.is_in_place());
        };
        match watched.look(&self.closed, last) {
            Seen::InPlace => return Ok(true),
            Seen::LastIsGone => return Ok(false),
            Seen::ClosedIsGone(gone) if !watched.is_compacted(&gone)? => {
                return Err(replaced(&gone));
            }
            Seen::ClosedIsGone(_) => {}
        }
        // Others may have been replaced since the first was looked at, and the next test begins with
        // the files that are there now: each has to be the segment that it was.
        let next = watch(&*watched.disk, &self.closed, number)?;
        for segment in &self.closed {
            if !watched.is_same(segment)? {
                return Err(replaced(segment));
            }
        }
        if let Some(next) = next {
            watched.watch = next;
        }
        watched.is_of_last = last.is_in_place();
        Ok(watched.is_of_last)
    }
}

fn replaced(segment: &SegmentExtent) -> Error {
    let reason = "its file was removed or replaced while the ledger was open";
    damage(segment.number, 0, segment.first, reason)
}

impl Watched {
    fn look(&mut self, closed: &[SegmentExtent], last: &dyn DiskFile) -> Seen {
        let Some(gone) = (self.watch)() else {
            // The handle may be of a file that another had replaced before the watch began.
            self.is_of_last = self.is_of_last || last.is_in_place();
            return match self.is_of_last {
                true => Seen::InPlace,
                false => Seen::LastIsGone,
            };
        };
        match closed.get(gone) {
            Some(segment) => Seen::ClosedIsGone(*segment),
            None => Seen::LastIsGone,
        }
    }

    fn is_compacted(&self, segment: &SegmentExtent) -> Result<bool, Error> {
        let name = name_of(segment.number);
        let failed = |source| Error::io("read", &name, source);
        // A name that is gone, or a link, is not the file that was watched.
        let Ok(file) = self.disk.open(&name, OpenMode::Read) else {
            return Ok(false);
        };
        compacted::is_compacted(&*file).map_err(failed)
    }

    /// Returns whether the file of a segment has its header, and ends with its last entry.
    fn is_same(&self, segment: &SegmentExtent) -> Result<bool, Error> {
        let name = name_of(segment.number);
        let failed = |source| Error::io("read", &name, source);
        let file = segment_file::open(&*self.disk, &name, OpenMode::Read).map_err(failed)?;
        let len = file.len_bytes().map_err(failed)?;
        let header = SegmentHeader::read(&*file, len, &self.store_id).map_err(failed)?;
        let expected = SegmentHeader {
            number: segment.number,
            first: segment.first,
        };
        let end = end_of(&*file, segment.number, segment.last.as_ref())?;
        Ok(header == Ok(expected) && len == segment.end && end == Some(len))
    }
}

fn watch(disk: &dyn Disk, closed: &[SegmentExtent], last: u32) -> Result<Option<Watch>, Error> {
    let numbers = closed.iter().map(|segment| segment.number).chain([last]);
    disk.watch(FOLDER, numbers.map(name_of).collect())
        .map_err(|source| Error::io("look at", FOLDER, source))
}

impl fmt::Debug for WatchedSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.closed.fmt(f)
    }
}

//! The closed segments of an open ledger: nothing is acknowledged after one of them was removed or
//! replaced, since no later open would find what this one counts as stored.
//!
//! The disk says how it looks: a file system by one look at the folder, as long as no name in it
//! changes. Another process may put a sparse segment in the place of one that it stands for.

use std::fmt;
use std::sync::Arc;

use crate::ledger::disk::Watch;
use crate::ledger::offsets::entry_offsets::{EntryOffsets, SegmentExtent};
use crate::ledger::recovery::recover::end_of;
use crate::ledger::recovery::torn_tail::damage;
use crate::ledger::segment::segment_file::{self, FOLDER, SegmentHeader, name_of};
use crate::ledger::segment::sparse;
use crate::ledger::{Disk, Error, OpenMode, StoreId};

/// The test whether the closed segments are still those that were opened.
#[derive(Default)]
pub(super) struct ClosedSegments {
    segments: Vec<SegmentExtent>,
    /// `None` without any, and where no other program writes.
    watch: Option<Watched>,
}

struct Watched {
    disk: Arc<dyn Disk>,
    store_id: StoreId,
    watch: Watch,
}

impl ClosedSegments {
    /// Watches every segment but the last.
    pub(super) fn watch(
        disk: &Arc<dyn Disk>,
        store_id: StoreId,
        offsets: &EntryOffsets,
    ) -> Result<Self, Error> {
        let mut segments = offsets.extents();
        segments.pop();
        let watch = watch(&**disk, &segments)?.map(|watch| Watched {
            disk: Arc::clone(disk),
            store_id,
            watch,
        });
        Ok(Self { segments, watch })
    }

    /// # Errors
    /// `ERR_STORAGE_DAMAGED` if one was removed or replaced.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        let Some(watched) = &mut self.watch else {
            return Ok(());
        };
        let Some(gone) = (watched.watch)().and_then(|gone| self.segments.get(gone)) else {
            return Ok(());
        };
        let replaced = |segment: &SegmentExtent| {
            let reason = "its file was removed or replaced while the ledger was open";
            damage(segment.number, 0, segment.first, reason)
        };
        if !watched.is_sparse(gone)? {
            return Err(replaced(gone));
        }
        // Others may have been replaced since the first was looked at, and the next test begins with
        // the files that are there now: each has to be the segment that it was.
        let next = watch(&*watched.disk, &self.segments)?;
        for segment in &self.segments {
            if !watched.is_same(segment)? {
                return Err(replaced(segment));
            }
        }
        if let Some(next) = next {
            watched.watch = next;
        }
        Ok(())
    }
}

impl Watched {
    fn is_sparse(&self, segment: &SegmentExtent) -> Result<bool, Error> {
        let name = name_of(segment.number);
        let failed = |source| Error::io("read", &name, source);
        // A name that is gone, or a link, is not the file that was watched.
        let Ok(file) = self.disk.open(&name, OpenMode::Read) else {
            return Ok(false);
        };
        sparse::is_sparse(&*file).map_err(failed)
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

fn watch(disk: &dyn Disk, segments: &[SegmentExtent]) -> Result<Option<Watch>, Error> {
    let names: Vec<String> = segments.iter().map(|one| name_of(one.number)).collect();
    match names.is_empty() {
        true => Ok(None),
        false => disk
            .watch(FOLDER, names)
            .map_err(|source| Error::io("look at", FOLDER, source)),
    }
}

impl fmt::Debug for ClosedSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.segments.fmt(f)
    }
}

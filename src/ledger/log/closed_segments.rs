//! The closed segments of an open ledger: nothing is acknowledged after one of them was removed or
//! replaced, since no later open would find what this one counts as stored.
//!
//! The disk says how it looks: a file system by one look at the folder, as long as no name in it
//! changes.

use std::fmt;

use crate::ledger::disk::Watch;
use crate::ledger::offsets::entry_offsets::EntryOffsets;
use crate::ledger::recovery::torn_tail::damage;
use crate::ledger::segment::segment_file::{FOLDER, name_of};
use crate::ledger::{Disk, Error};

/// The test whether the closed segments are still those that were opened.
#[derive(Default)]
pub(super) struct ClosedSegments {
    /// The number of each, and its first entry.
    segments: Vec<(u32, u64)>,
    /// `None` without any, and where no other program writes.
    watch: Option<Watch>,
}

impl ClosedSegments {
    /// Watches every segment but the last.
    pub(super) fn watch(disk: &dyn Disk, offsets: &EntryOffsets) -> Result<Self, Error> {
        let extents = offsets.extents();
        let closed = extents.split_last().map_or(&[][..], |(_, closed)| closed);
        let names: Vec<String> = closed.iter().map(|one| name_of(one.number)).collect();
        let watch = match names.is_empty() {
            true => None,
            false => disk
                .watch(FOLDER, names)
                .map_err(|source| Error::io("look at", FOLDER, source))?,
        };
        Ok(Self {
            segments: closed.iter().map(|one| (one.number, one.first)).collect(),
            watch,
        })
    }

    /// # Errors
    /// `ERR_STORAGE_DAMAGED` if one was removed or replaced.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        let gone = self.watch.as_mut().and_then(|watch| watch());
        let Some((number, first)) = gone.and_then(|gone| self.segments.get(gone)) else {
            return Ok(());
        };
        let reason = "its file was removed or replaced while the ledger was open";
        Err(damage(*number, 0, *first, reason))
    }
}

impl fmt::Debug for ClosedSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.segments.fmt(f)
    }
}

//! The state that only the writer changes: the last segment, and the buffers of the next frame.
//!
//! It is behind one lock, so appends run one after the other.

use std::sync::Arc;

use super::watched_segments::WatchedSegments;
use crate::ledger::offsets::entry_offsets::CheckedOffset;
use crate::ledger::segment::segment_file;
use crate::ledger::{Disk, DiskFile};

/// The last segment and the writer's buffers.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) file: Arc<dyn DiskFile>,
    /// The segment that `file` is, opened for writing; 0 before the first turn to write.
    pub(super) segment: u32,
    /// Whether it is a sparse segment, which takes no appends: the next frame begins another.
    pub(super) is_sparse: bool,
    pub(super) frame: Vec<u8>,
    pub(super) entry_offsets: Vec<CheckedOffset>,
    /// The number of bytes that were written and not synced.
    pub(super) unsynced: u64,
    pub(super) halted: bool,
    pub(super) watched: WatchedSegments,
    /// A segment's number and the name of the next one, for each turn to look for it.
    next: Option<(u32, String)>,
}

impl Tail {
    pub(super) fn new(file: Arc<dyn DiskFile>, segment: u32) -> Self {
        Self {
            file,
            segment,
            is_sparse: false,
            frame: Vec::new(),
            entry_offsets: Vec::new(),
            unsynced: 0,
            halted: false,
            watched: WatchedSegments::default(),
            next: None,
        }
    }

    /// Returns whether the disk has the segment after `segment`.
    pub(super) fn has_segment_after(&mut self, disk: &dyn Disk, segment: u32) -> bool {
        if self.next.as_ref().is_none_or(|(of, _)| *of != segment) {
            let next = segment.checked_add(1).map(segment_file::name_of);
            self.next = next.map(|name| (segment, name));
        }
        let next = self.next.as_ref().map(|(_, name)| disk.exists(name));
        // Any other outcome than "there is none" is looked into.
        !matches!(next, Some(Ok(false)))
    }
}

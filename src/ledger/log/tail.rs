//! The state that only the writer changes: the last segment, and the buffers of the next frame.
//!
//! It is behind one lock, so appends run one after the other.

use std::sync::Arc;

use super::closed_segments::ClosedSegments;
use crate::ledger::DiskFile;
use crate::ledger::offsets::entry_offsets::CheckedOffset;

/// The last segment and the writer's buffers.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) file: Arc<dyn DiskFile>,
    /// The segment that `file` is, opened for writing; 0 before the first turn to write.
    pub(super) segment: u32,
    pub(super) frame: Vec<u8>,
    pub(super) entry_offsets: Vec<CheckedOffset>,
    /// The number of bytes that were written and not synced.
    pub(super) unsynced: u64,
    pub(super) halted: bool,
    pub(super) closed: ClosedSegments,
}

impl Tail {
    pub(super) fn new(file: Arc<dyn DiskFile>, segment: u32) -> Self {
        Self {
            file,
            segment,
            frame: Vec::new(),
            entry_offsets: Vec::new(),
            unsynced: 0,
            halted: false,
            closed: ClosedSegments::default(),
        }
    }
}

use std::sync::Arc;

use crate::ledger::DiskFile;
use crate::ledger::offsets::entry_offsets::CheckedOffset;

/// The writer's side of a ledger: the last segment, held by one append at a time.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) frame: Vec<u8>,
    pub(super) places: Vec<CheckedOffset>,
    /// The bytes that were written and not synced.
    pub(super) unsynced: u64,
    pub(super) halted: bool,
}

impl Tail {
    pub(super) fn new(file: Arc<dyn DiskFile>) -> Self {
        Self {
            file,
            frame: Vec::new(),
            places: Vec::new(),
            unsynced: 0,
            halted: false,
        }
    }
}

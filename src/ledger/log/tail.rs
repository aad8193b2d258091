//! The state that only the writer changes: the last segment, and the buffers of the next frame.
//!
//! It is behind one lock, so appends run one after the other.

use std::io;
use std::sync::Arc;

use super::watched_segments::WatchedSegments;
use crate::ledger::error::is_full;
use crate::ledger::offsets::entry_offsets::CheckedOffset;
use crate::ledger::segment::room::{ROOM_BYTES, with_room};
use crate::ledger::segment::segment_file;
use crate::ledger::{Disk, DiskFile};

/// The last segment and the writer's buffers.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) file: Arc<dyn DiskFile>,
    /// The segment that `file` is, opened for writing; 0 before the first turn to write.
    pub(super) segment: u32,
    /// Whether it is a compacted segment, which takes no appends: the next frame begins another.
    pub(super) is_compacted: bool,
    pub(super) frame: Vec<u8>,
    pub(super) entry_offsets: Vec<CheckedOffset>,
    /// The length that the file was given ahead of the frames; 0 if it has no room.
    pub(super) room_end: u64,
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
            is_compacted: false,
            frame: Vec::new(),
            entry_offsets: Vec::new(),
            room_end: 0,
            unsynced: 0,
            halted: false,
            watched: WatchedSegments::default(),
            next: None,
        }
    }

    /// Makes room for a small frame behind `end`, if there is too little, and returns whether it did.
    /// Without room the frame makes the file longer.
    pub(super) fn make_room(&mut self, end: u64) -> io::Result<bool> {
        let len = self.frame.len() as u64;
        let behind = end.saturating_add(len);
        if len >= ROOM_BYTES || behind <= self.room_end {
            return Ok(false);
        }
        let room_end = with_room(behind);
        let is_made = match self.file.make_room(end, room_end) {
            Err(error) if is_full(&error) => {
                self.cut(end)?;
                return Ok(false);
            }
            made => made?,
        };
        if is_made {
            self.room_end = room_end;
        }
        Ok(is_made)
    }

    /// Cuts the room behind the last frame, which ends at `end`.
    pub(super) fn cut_room(&mut self, end: u64) -> io::Result<()> {
        match self.room_end > end {
            true => self.cut(end),
            false => Ok(()),
        }
    }

    /// Cuts a segment that is to be closed behind its last frame: also where it seems to end there. Room
    /// may have been cut before a sync that failed, and no later one would make that durable.
    pub(super) fn cut(&mut self, end: u64) -> io::Result<()> {
        if !self.is_compacted {
            self.file.set_len(end)?;
        }
        self.room_end = 0;
        Ok(())
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

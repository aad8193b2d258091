//! Search for whole frames behind bytes that are not a frame.
//!
//! Recovery needs it as evidence of durability, verification to go on behind damage. The effort is
//! bounded, because a hostile body can nest look-alikes.

use std::io;

use super::frame::{Frame, HEADER_LEN, MAGIC, claimed};
use super::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::{DiskFile, StoreId};

/// Searches for whole frames between two offsets. The check of a frame tells it from look-alikes.
#[derive(Debug)]
pub(in crate::ledger) struct FrameSearch<'a> {
    store_id: &'a StoreId,
    magics: ReadAhead<'a>,
    frames: ReadAhead<'a>,
    at: u64,
    end: u64,
    effort: u64,
}

/// A frame whose check is valid. Its bodies are not proven.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct FoundFrame {
    pub(in crate::ledger) offset: u64,
    pub(in crate::ledger) first: u64,
    pub(in crate::ledger) synced: u64,
}

impl<'a> FrameSearch<'a> {
    /// Returns a search of `file` between two offsets.
    pub(in crate::ledger) fn new(
        file: &'a dyn DiskFile,
        from: u64,
        end: u64,
        store_id: &'a StoreId,
    ) -> Self {
        Self {
            store_id,
            magics: ReadAhead::new(file, end, SEQUENTIAL),
            frames: ReadAhead::new(file, end, HEADER_LEN),
            at: from,
            end,
            // Frames do not overlap. Look-alikes nested in a hostile body do and could make the
            // search quadratic, so past this effort it ends as if nothing more were found.
            effort: end.saturating_sub(from).saturating_mul(4),
        }
    }

    /// Returns the next frame, or `None`.
    pub(in crate::ledger) fn next(&mut self) -> io::Result<Option<FoundFrame>> {
        while let Some(offset) = self.next_magic()? {
            let header = self.frames.get(offset, HEADER_LEN)?;
            let claimed = header.map_or(0, |header| claimed(header).1);
            // A claim past the end costs nothing: it is refused by its header.
            if claimed <= self.end.saturating_sub(offset) {
                self.effort = self.effort.saturating_sub(claimed);
            }
            let found = Frame::at(&mut self.frames, offset, self.store_id)?;
            if let Ok(frame) = found {
                self.at = offset.saturating_add(frame.len);
                return Ok(Some(FoundFrame {
                    offset,
                    first: frame.first,
                    synced: frame.synced,
                }));
            }
            self.at = offset.saturating_add(1);
        }
        Ok(None)
    }

    fn next_magic(&mut self) -> io::Result<Option<u64>> {
        while self.at < self.end && self.effort > 0 {
            let bytes = self.magics.ahead(self.at, MAGIC.len())?;
            let hit = bytes.windows(MAGIC.len()).position(|four| four == MAGIC);
            let step = hit.unwrap_or(bytes.len().saturating_sub(MAGIC.len() - 1).max(1));
            self.at = self.at.saturating_add(step as u64);
            if hit.is_some() {
                return Ok(Some(self.at));
            }
        }
        Ok(None)
    }
}

//! The pass of recovery over the frames of one segment: proves each and collects the offsets.
//!
//! It reports where the whole frames end. Whether that is a torn tail or damage, `torn_tail`
//! decides.

use std::io;

use super::recover::Recovery;
use super::redaction_audit::Unproven;
use super::torn_tail::damage;
use crate::ledger::offsets::entry_offsets::{CheckedOffset, EntryOffsets};
use crate::ledger::segment::entry::{Fault, leaf};
use crate::ledger::segment::frame::Frame;
use crate::ledger::segment::frame_search::FrameSearch;
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::{DiskFile, EntryId, Error, LedgerPosition};

/// The pass over the frames of one segment.
pub(super) struct SegmentPass<'a, 'o> {
    pub(super) recovery: &'a mut Recovery<'o>,
    pub(super) file: &'a dyn DiskFile,
    pub(super) number: u32,
    pub(super) end: u64,
    /// The number of entries that this segment proves to have been durable; `None` until it was
    /// searched.
    pub(super) witness: Option<u64>,
}

impl SegmentPass<'_, '_> {
    /// Adds whole frames to `offsets`, up to the end of the segment or to the first fault, which it
    /// returns.
    pub(super) fn frames(
        &mut self,
        offsets: &mut EntryOffsets,
    ) -> io::Result<Result<Option<&'static str>, Error>> {
        let mut reader = ReadAhead::new(self.file, self.end, SEQUENTIAL);
        let mut frame_offsets = Vec::new();
        loop {
            let at = offsets.end();
            if at.offset == self.end {
                return Ok(Ok(None));
            }
            let frame = match Frame::at(&mut reader, at.offset, self.recovery.store_id)? {
                Ok(frame) if frame.first == at.entries => frame,
                Ok(_) => return Ok(Ok(Some("frame does not continue the sequence"))),
                Err(reason) => return Ok(Ok(Some(reason))),
            };
            self.recovery.proven = self.recovery.proven.max(frame.synced);
            frame_offsets.clear();
            let head = match self.entries(&frame, &at, &mut frame_offsets)? {
                Ok(head) => head,
                Err(Stop::Torn(reason)) => return Ok(Ok(Some(reason))),
                Err(Stop::Refused(error)) => return Ok(Err(error)),
            };
            offsets.add_frame(&frame_offsets, head, at.offset.saturating_add(frame.len));
        }
    }

    /// Proves the bodies of a frame, and returns the leaf of its last entry.
    fn entries(
        &mut self,
        frame: &Frame<'_>,
        at: &LedgerPosition,
        frame_offsets: &mut Vec<CheckedOffset>,
    ) -> io::Result<Result<[u8; 32], Stop>> {
        let mut head = at.head;
        for (offset, raw) in frame.entries() {
            let offset = at.offset.saturating_add(offset);
            match raw.open() {
                Ok(entry) => self.recovery.audit.record(&entry, self.recovery.erases),
                Err(Fault::Broken(reason)) => return Ok(Err(Stop::Torn(reason))),
                Err(Fault::NewerKind { kind, sequence }) => {
                    let error = Error::UnknownKind { sequence, kind };
                    return Ok(Err(Stop::Refused(error)));
                }
                Err(Fault::Body { blank }) => {
                    let sequence = EntryId::new(raw.sequence().unwrap_or(at.entries));
                    let unproven = Unproven::new(sequence, self.number, offset, &raw, blank);
                    if !self.was_durable(frame, at)? {
                        return Ok(Err(Stop::Torn(unproven.reason)));
                    }
                    self.recovery.audit.add_unproven(unproven);
                }
            }
            let Some(checked) = CheckedOffset::new(offset, raw.header) else {
                let reason = "the segment is longer than 4 GiB";
                let error = damage(self.number, offset, at.entries, reason);
                return Ok(Err(Stop::Refused(error)));
            };
            frame_offsets.push(checked);
            head = leaf(&head, raw.header);
        }
        Ok(Ok(head))
    }

    /// Returns whether a frame was durable. If it was, a body that is not proven was blanked or
    /// damaged later, and is not a torn write.
    fn was_durable(&mut self, frame: &Frame<'_>, at: &LedgerPosition) -> io::Result<bool> {
        if self.recovery.watermark > frame.first {
            return Ok(true);
        }
        let durable = match self.witness {
            Some(durable) => durable,
            None => {
                let from = at.offset.saturating_add(frame.len);
                let mut search =
                    FrameSearch::new(self.file, from, self.end, self.recovery.store_id);
                let mut durable = 0;
                while let Some(found) = search.next()? {
                    durable = found.synced.max(durable);
                }
                *self.witness.insert(durable)
            }
        };
        Ok(durable > frame.first)
    }
}

/// The reason why the entries of a frame are not added.
enum Stop {
    Torn(&'static str),
    Refused(Error),
}

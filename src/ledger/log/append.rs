//! Appending: one frame, one durable write, and the roll to the next segment.
//!
//! After a failed sync nothing is retried: the outcome is unknown and the ledger halts until it is
//! opened again.

use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;

use grainstore_shared::Head;

use super::ledger::Ledger;
use super::tail::Tail;
use super::watched_segments::WatchedSegments;
use crate::ledger::error::is_full;
use crate::ledger::offsets::entry_offsets::CheckedOffset;
use crate::ledger::recovery::torn_tail::damage;
use crate::ledger::segment::entry::leaf;
use crate::ledger::segment::frame::{self, FrameBuilder};
use crate::ledger::segment::segment_file::{self, FOLDER, SegmentHeader};
use crate::ledger::{Disk, EntryId, Error, Kind, LedgerPosition, NewEntry, Stretch};

impl Ledger {
    /// Appends entries as one atomic batch, and returns their sequences once they are durable: one
    /// write, one `fdatasync`. Without entries nothing is written.
    ///
    /// `time_ms` is milliseconds since 1970.
    ///
    /// # Errors
    /// `ERR_RANGE` for a body over 64 MiB or a frame over 1 GiB; `ERR_STORAGE_FULL`, after which
    /// appends may go on; `ERR_STORAGE_IO`, whose outcome is unknown; `ERR_STORAGE_HALTED` for
    /// every append after an unknown outcome, until the ledger is opened again, and
    /// `ERR_STORAGE_DAMAGED` before that if the segment was removed or replaced.
    pub fn append(&self, time_ms: i64, entries: &[NewEntry<'_>]) -> Result<Range<EntryId>, Error> {
        self.append_up_to(time_ms, entries, 0, &mut |_, _, _| Ok(()))
    }

    /// Appends as [`Ledger::append`] does a frame to which `agree` agrees: it is given the head before
    /// the frame, its bytes and the head behind it, while nothing is written here. After its error the
    /// ledger is as it was.
    ///
    /// # Errors
    /// As [`Ledger::append`], and as `agree`.
    pub(crate) fn append_agreed(
        &self,
        time_ms: i64,
        entries: &[NewEntry<'_>],
        agree: &mut Agree<'_>,
    ) -> Result<Range<EntryId>, Error> {
        self.append_up_to(time_ms, entries, 0, agree)
    }

    /// Appends as [`Ledger::append`] does, and returns before the entries are durable. A crash
    /// loses a suffix of whole batches at most.
    ///
    /// They are durable after [`Ledger::sync`], a new segment, or 8 MiB more.
    ///
    /// # Errors
    /// As [`Ledger::append`].
    pub fn append_unsynced(
        &self,
        time_ms: i64,
        entries: &[NewEntry<'_>],
    ) -> Result<Range<EntryId>, Error> {
        self.append_up_to(time_ms, entries, UNSYNCED_MAX, &mut |_, _, _| Ok(()))
    }

    /// Returns where frames of `len` bytes that come from elsewhere are to lie, for
    /// [`Ledger::append_stretch`].
    pub(crate) fn place_for(&self, len: u64) -> LedgerPosition {
        let end = self.offsets.read().end();
        let is_compacted = self.tail.lock().is_compacted;
        match self.has_room(end, len) && !is_compacted {
            true => end,
            false => LedgerPosition {
                segment: end.segment.saturating_add(1),
                offset: segment_file::HEADER_LEN as u64,
                ..end
            },
        }
    }

    /// Appends the frames of another copy of this ledger, as they stand there, and makes them durable.
    /// They are not published: other processes see them after [`Ledger::publish`].
    ///
    /// # Errors
    /// `ERR_BACKUP_DIVERGED` if they do not begin where this ledger ends; as [`Ledger::append`].
    pub fn append_stretch(&self, stretch: &Stretch) -> Result<(), Error> {
        let tail = &mut *self.tail.lock();
        if tail.halted {
            return Err(Error::Halted);
        }
        let mut end = self.offsets.read().end();
        if end.segment.checked_add(1) == Some(stretch.from.segment) {
            self.begin_segment(tail, end)?;
            end = self.offsets.read().end();
        }
        if stretch.from != end || tail.is_compacted {
            return Err(Error::Diverged {
                segment: stretch.from.segment,
            });
        }
        tail.frame.clear();
        tail.frame.extend_from_slice(stretch.bytes());
        write(tail, end, true, false)?;
        let mut offsets = self.offsets.write();
        offsets.add_frame(&stretch.offsets, stretch.to.head, stretch.to.offset);
        offsets.mark_durable();
        tail.frame.shrink_to(FRAME_KEPT);
        Ok(())
    }

    /// Makes everything appended durable, and returns the position that derived files may now
    /// claim.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, after which the ledger takes no appends until it is opened again;
    /// `ERR_STORAGE_HALTED`.
    pub fn sync(&self) -> Result<LedgerPosition, Error> {
        {
            let offsets = self.offsets.read();
            if offsets.durable().entries == offsets.end().entries {
                return Ok(offsets.durable());
            }
        }
        let tail = &mut *self.tail.lock();
        if tail.halted {
            return Err(Error::Halted);
        }
        self.sync_tail(tail)?;
        Ok(self.offsets.read().durable())
    }

    /// Returns the number of entries that are known durable: all, except after
    /// [`Ledger::append_unsynced`].
    pub fn durable(&self) -> u64 {
        self.offsets.read().durable().entries
    }

    fn append_up_to(
        &self,
        time_ms: i64,
        entries: &[NewEntry<'_>],
        unsynced_max: u64,
        agree: &mut Agree<'_>,
    ) -> Result<Range<EntryId>, Error> {
        let tail = &mut *self.tail.lock();
        if tail.halted {
            return Err(Error::Halted);
        }
        let len = frame::len_of(entries)?;
        if entries.is_empty() {
            let end = self.offsets.read().end().entries;
            return Ok(EntryId::new(end)..EntryId::new(end));
        }
        // Recovery relies on it: bodies are blanked only below a frame whose `synced` covers them.
        if entries.iter().any(|entry| entry.kind == Kind::Erasing) {
            self.sync_tail(tail)?;
        }
        self.roll(tail, len as u64)?;
        let (end, synced) = {
            let offsets = self.offsets.read();
            (offsets.end(), offsets.durable().entries)
        };
        let builder = FrameBuilder {
            store_id: &self.store_id,
            first: end.entries,
            synced,
            time_ms,
            entries,
            len,
        };
        let mut head = end.head;
        tail.entry_offsets.clear();
        let entry_offsets = &mut tail.entry_offsets;
        builder.build(&mut tail.frame, &mut |offset, header| {
            head = leaf(&head, header);
            entry_offsets.extend(CheckedOffset::new(end.offset + offset as u64, header));
        })?;
        let behind = Head {
            entries: end.entries + entries.len() as u64,
            leaf: head,
        };
        agree(head_at(&end), &tail.frame, behind)?;
        let is_synced = tail.unsynced + len as u64 > unsynced_max;
        let makes_room = self.makes_room.load(Ordering::Relaxed);
        write(tail, end, is_synced, makes_room)?;
        // Readers see the frame from here on; under `append`, only once it is durable.
        let mut offsets = self.offsets.write();
        offsets.add_frame(&tail.entry_offsets, head, end.offset + len as u64);
        if is_synced {
            offsets.mark_durable();
            tail.unsynced = 0;
        } else {
            tail.unsynced += len as u64;
        }
        let end_entries = offsets.end().entries;
        drop(offsets);
        if is_synced {
            self.publish();
        }
        tail.frame.shrink_to(FRAME_KEPT);
        tail.entry_offsets
            .shrink_to(FRAME_KEPT / size_of::<CheckedOffset>());
        Ok(EntryId::new(end.entries)..EntryId::new(end_entries))
    }

    pub(super) fn sync_tail(&self, tail: &mut Tail) -> Result<(), Error> {
        let (end, durable) = {
            let offsets = self.offsets.read();
            (offsets.end(), offsets.durable())
        };
        if durable.entries < end.entries {
            // After a failed sync the system may mark pages clean that never reached the disk, so a
            // retry that succeeds proves nothing.
            tail.halted = true;
            let failed = |source| Error::io("sync", &segment_file::name_of(end.segment), source);
            tail.file.sync().map_err(failed)?;
            check_in_place(tail, end)?;
            tail.halted = false;
            tail.unsynced = 0;
            self.offsets.write().mark_durable();
            self.publish();
        }
        Ok(())
    }

    /// Closes the last segment if a frame of `len` bytes would take it past its size.
    fn roll(&self, tail: &mut Tail, len: u64) -> Result<(), Error> {
        let end = self.offsets.read().end();
        match self.has_room(end, len) && !tail.is_compacted {
            true => Ok(()),
            false => self.begin_segment(tail, end),
        }
    }

    fn has_room(&self, end: LedgerPosition, len: u64) -> bool {
        let max = self.segment_bytes.min(u64::from(u32::MAX));
        end.offset == segment_file::HEADER_LEN as u64 || end.offset.saturating_add(len) <= max
    }

    /// Closes the last segment, which ends at `end`, and begins the next.
    pub(super) fn begin_segment(&self, tail: &mut Tail, end: LedgerPosition) -> Result<(), Error> {
        let name = segment_file::name_of(end.segment);
        // Invariant: a segment is durable, and its file ends with it, before the next exists.
        tail.halted = true;
        let synced = tail.cut(end.offset).and_then(|()| tail.file.sync());
        synced.map_err(|source| Error::io("sync", &name, source))?;
        check_in_place(tail, end)?;
        tail.unsynced = 0;
        self.offsets.write().mark_durable();
        let number = end.segment.checked_add(1).ok_or(Error::TooLarge {
            what: "number of segments",
            len: usize::MAX,
            max: usize::MAX,
        })?;
        let header = SegmentHeader {
            number,
            first: end.entries,
        };
        match segment_file::create(&*self.disk, header, &self.store_id) {
            Ok(file) => {
                tail.file = file;
                tail.is_compacted = false;
                tail.segment = number;
            }
            Err(error) => {
                let full = matches!(error, Error::Full { .. });
                tail.halted = !(full && uncreate(&*self.disk, number));
                return Err(error);
            }
        }
        self.offsets.write().begin_segment(number);
        tail.watched = WatchedSegments::watch(&self.disk, self.store_id, &self.offsets.read())?;
        tail.halted = false;
        Ok(())
    }
}

/// Returns a position as a sequence that several machines share has it: without the segment, which
/// each of them begins where it will.
pub(crate) const fn head_at(position: &LedgerPosition) -> Head {
    Head {
        entries: position.entries,
        leaf: position.head,
    }
}

/// Agrees to a frame, or not: the head before it, its bytes, the head behind it.
pub(crate) type Agree<'a> = dyn FnMut(Head, &[u8], Head) -> Result<(), Error> + 'a;

/// Removes a segment that was created in part; returns whether it is gone.
fn uncreate(disk: &dyn Disk, number: u32) -> bool {
    let gone = match disk.remove(&segment_file::name_of(number)) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    gone && disk.sync_folder(FOLDER).is_ok()
}

/// Writes the frame at `end`, behind the last whole one, and makes it durable if asked.
fn write(
    tail: &mut Tail,
    end: LedgerPosition,
    is_synced: bool,
    makes_room: bool,
) -> Result<(), Error> {
    // Halted until the outcome is known, even if the disk panics.
    tail.halted = true;
    let failed = |source| Error::io("append to", &segment_file::name_of(end.segment), source);
    let has_made_room = makes_room
        && is_synced
        && tail.unsynced == 0
        && tail.make_room(end.offset).map_err(failed)?;
    let file = &*tail.file;
    let written = match (is_synced, tail.unsynced) {
        (true, 0) if !has_made_room => file.write_durably(&tail.frame, end.offset),
        // Bytes that were written before and not synced, or room, become durable with it.
        (true, _) => {
            let written = file.write_at(&tail.frame, end.offset);
            written.map(|()| file.sync())
        }
        (false, _) => file.write_at(&tail.frame, end.offset).map(Ok),
    };
    match written {
        // After a failed sync the system may mark pages clean that never reached the disk, so a
        // retry that succeeds proves nothing.
        Ok(synced) => synced.map_err(failed)?,
        Err(error) => {
            // Nothing of this frame was synced, so cutting it off leaves the ledger as it was.
            let undone = is_full(&error)
                && tail.file.set_len(end.offset).is_ok()
                && tail.file.sync().is_ok();
            tail.room_end = 0;
            tail.halted = !undone;
            return Err(failed(error));
        }
    }
    check_in_place(tail, end)?;
    tail.halted = false;
    Ok(())
}

/// Refuses to acknowledge entries in a file that no later open would find, or behind one. The files
/// are looked at after the write, so that nothing is acknowledged between the two.
fn check_in_place(tail: &mut Tail, end: LedgerPosition) -> Result<(), Error> {
    if tail.watched.check(end.segment, &*tail.file)? {
        return Ok(());
    }
    let reason = "its file was removed or replaced while the ledger was open";
    Err(damage(end.segment, end.offset, end.entries, reason))
}

/// The buffer that is kept between appends, in bytes.
const FRAME_KEPT: usize = 4 << 20;

/// The most that a crash may take from a caller who does not wait for the disk, in bytes.
const UNSYNCED_MAX: u64 = 8 << 20;

//! Turns: several processes have one ledger open, and one at a time appends to it. A turn begins at
//! the end that the others left, and with what a process that died in its turn left behind it.

use std::sync::atomic::Ordering;

use super::follow::end_of;
use super::ledger::Ledger;
use super::published_end::PublishedEnd;
use super::tail::Tail;
use super::watched_segments::WatchedSegments;
use crate::ledger::recovery::recover::{Admitted, Recovered, Recovery, rewrite_unproven};
use crate::ledger::recovery::redaction_audit::{ErasureDecoder, RedactionAudit};
use crate::ledger::segment::segment_file;
use crate::ledger::{Error, LedgerPosition};

impl Ledger {
    /// Lets a ledger that was opened to follow append in the turns that it is given.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub(crate) fn taking_turns(mut self) -> Result<Self, Error> {
        let published = PublishedEnd::for_writing(&*self.disk, self.store_id);
        let published = published.map_err(|source| Error::io("open", super::END, source))?;
        self.published = Some(published);
        self.tail.get_mut().halted = false;
        Ok(self)
    }

    /// Begins the turn of this process, whose caller holds the right to append: adds what other
    /// processes appended, and sets aside what one that died in its turn left. Returns whether it
    /// found anything. `is_behind` is what the ledger says of itself since the caller holds that
    /// right: nothing is published meanwhile, and to ask costs a system call. With `makes_room` appends
    /// make room ahead of the frames, until [`Ledger::give_room_back`].
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORE_VERSION`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub(crate) fn begin_turn(
        &self,
        is_behind: bool,
        makes_room: bool,
        erases: ErasureDecoder,
    ) -> Result<bool, Error> {
        let tail = &mut *self.tail.lock();
        self.has_turn.store(true, Ordering::Release);
        // Each append is refused by itself, and reading goes on.
        if tail.halted {
            return Ok(false);
        }
        // That of an earlier turn was given back, or is found below.
        tail.room_end = 0;
        self.makes_room.store(makes_room, Ordering::Relaxed);
        let end = self.offsets.read().end();
        let published = match is_behind {
            true => end_of(self.published.as_ref())?,
            false => None,
        };
        let published = published.filter(|published| published.entries > end.entries);
        if published.is_none() && tail.segment == end.segment {
            let name = || segment_file::name_of(end.segment);
            let len = tail.file.len_bytes();
            let len = len.map_err(|source| Error::io("read", &name(), source))?;
            // A process that died in its turn may have begun the next segment: entries appended to
            // this one would lie before those in the next.
            if len == end.offset && !tail.has_segment_after(&*self.disk, end.segment) {
                return Ok(false);
            }
        }
        self.take_over(tail, published, erases)?;
        Ok(true)
    }

    /// Begins a turn of this process that has kept the right to append since its last one: nothing is
    /// behind the end that it knows. Appends make room ahead, as in [`Ledger::begin_turn`].
    pub(crate) fn resume_turn(&self) {
        self.makes_room.store(true, Ordering::Relaxed);
        self.has_turn.store(true, Ordering::Release);
    }

    /// Gives back the room ahead of the frames. The caller holds the right to append, and others may
    /// have it afterwards: they find the segment as long as its frames.
    pub(crate) fn give_room_back(&self) {
        if !self.makes_room.swap(false, Ordering::Relaxed) {
            return;
        }
        let tail = &mut *self.tail.lock();
        // Of a file whose last bytes may not be durable nothing is changed.
        if tail.halted {
            return;
        }
        let end = self.offsets.read().end();
        if let Err(error) = tail.cut_room(end.offset) {
            tracing::debug!(%error, "the next process to write cuts the room of the last segment");
        }
    }

    /// Returns whether appends are refused until the ledger is opened again.
    pub(crate) fn is_halted(&self) -> bool {
        self.tail.lock().halted
    }

    /// Ends the turn of this process.
    pub(crate) fn end_turn(&self) {
        self.has_turn.store(false, Ordering::Release);
    }

    /// Adds the entries behind the end of this ledger, and opens the last segment for writing.
    fn take_over(
        &self,
        tail: &mut Tail,
        published: Option<LedgerPosition>,
        erases: ErasureDecoder,
    ) -> Result<(), Error> {
        let (continued, known) = {
            let offsets = self.offsets.read();
            let durable = offsets.durable().entries;
            let known = published.map_or(durable, |published| published.entries.max(durable));
            (offsets.continuation(), known)
        };
        let recovery = Recovery {
            disk: &*self.disk,
            store_id: &self.store_id,
            watermark: known,
            erases,
            audit: RedactionAudit::default(),
            admitted: Admitted::Grains,
            proven: known,
            until: None,
        };
        let found = recovery.run_from(continued)?;
        // Until the last segment is open and durable.
        tail.halted = true;
        let (is_remains, proven) = (found.torn.is_some(), found.proven.max(known));
        let Recovered {
            offsets: more,
            erased,
            ..
        } = found;
        let mut offsets = self.offsets.write();
        offsets.extend(more);
        offsets.erase(erased);
        drop(offsets);
        let offsets = self.offsets.read();
        let end = offsets.end();
        let name = segment_file::name_of(end.segment);
        let failed = |source| Error::io("append to", &name, source);
        (tail.file, tail.is_compacted) =
            segment_file::open_last(&*self.disk, &name).map_err(failed)?;
        // One that died may have begun a segment whose name is not durable, though it holds no entry.
        let is_other_segment = tail.segment != end.segment;
        if is_remains || is_other_segment || proven < end.entries {
            // The process that wrote these bytes did not say that they are durable.
            rewrite_unproven(&*tail.file, &offsets, proven).map_err(failed)?;
            tail.file.sync().map_err(failed)?;
            let synced = self.disk.sync_folder(segment_file::FOLDER);
            synced.map_err(failed)?;
        }
        if tail.segment != end.segment {
            tail.watched = WatchedSegments::watch(&self.disk, self.store_id, &offsets)?;
            tail.segment = end.segment;
        }
        drop(offsets);
        self.offsets.write().mark_durable();
        tail.unsynced = 0;
        tail.halted = false;
        if published.is_none_or(|published| published != end) {
            self.publish();
        }
        Ok(())
    }
}

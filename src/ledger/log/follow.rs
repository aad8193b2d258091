//! Following: a ledger that another process writes, opened for reading and brought to the published
//! end again and again.
//!
//! Nothing beyond that end is looked at: it is not durable yet, or not acknowledged. Nothing is
//! written.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::ledger::Ledger;
use super::published_end::PublishedEnd;
use super::tail::Tail;
use crate::ledger::recovery::recover::{Admitted, Recovered, Recovery};
use crate::ledger::recovery::redaction_audit::{ErasureDecoder, RedactionAudit};
use crate::ledger::segment::segment_file;
use crate::ledger::{Disk, Error, LedgerPosition, OpenMode, RecoveryHint, StoreId, TornTail};

impl Ledger {
    /// Opens a ledger that another process may be writing, for reading: up to the published end,
    /// or, where no writer has published one, up to the last whole frame. Changes nothing. Appends
    /// are `ERR_STORAGE_HALTED`.
    ///
    /// `watermark` and `hint` are as for [`Ledger::open`].
    ///
    /// # Errors
    /// As [`Ledger::open`].
    #[expect(
        clippy::needless_pass_by_value,
        reason = "called in the place of `Ledger::open`"
    )]
    pub(crate) fn open_to_follow(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        segment_bytes: u64,
        watermark: u64,
        hint: Option<RecoveryHint>,
        erases: ErasureDecoder,
    ) -> Result<(Self, Option<TornTail>), Error> {
        let published = PublishedEnd::for_reading(&*disk, store_id);
        let published = published.map_err(|source| Error::io("read", super::END, source))?;
        let mut until = end_of(published.as_ref())?;
        let mut admitted = Admitted::Nothing;
        let found = loop {
            // An index that was written after the last publication knows a later end.
            let known = hint.as_ref().map(|hint| hint.position);
            let end = known.filter(|known| until.is_some_and(|end| end.entries < known.entries));
            let end = end.or(until);
            let recovery = Recovery {
                disk: &*disk,
                store_id: &store_id,
                watermark: end.map_or(watermark, |end| end.entries),
                erases,
                audit: RedactionAudit::default(),
                admitted,
                proven: watermark,
                until: end,
            };
            match recovery.prove(hint.clone()) {
                Ok((found, _torn)) => break found,
                Err(error) => match later_end(published.as_ref(), until)? {
                    Some(later) => until = Some(later),
                    None if admitted == Admitted::Grains => return Err(error),
                    None => admitted = Admitted::Grains,
                },
            }
        };
        let Recovered {
            mut offsets,
            erased,
            ..
        } = found;
        offsets.mark_durable();
        offsets.erase(erased);
        let name = segment_file::name_of(offsets.end().segment);
        let file = disk.open(&name, OpenMode::Read);
        let mut tail = Tail::new(file.map_err(|source| Error::io("read", &name, source))?, 0);
        tail.halted = true;
        let mut ledger = Self::new(disk, store_id, segment_bytes, offsets, tail);
        ledger.published = published;
        *ledger.has_turn.get_mut() = false;
        // A torn tail stays where it is: nothing in it was acknowledged.
        Ok((ledger, None))
    }

    /// Proves what was published since, and adds it. One thread at a time.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORE_VERSION`, `ERR_STORAGE_IO`.
    pub(crate) fn follow(&self, erases: ErasureDecoder) -> Result<(), Error> {
        let Some(mut until) = self.news()? else {
            return Ok(());
        };
        let published = self.published.as_ref();
        let mut admitted = Admitted::Nothing;
        let found = loop {
            let continued = self.offsets.read().continuation();
            let recovery = Recovery {
                disk: &*self.disk,
                store_id: &self.store_id,
                watermark: until.entries,
                erases,
                audit: RedactionAudit::default(),
                admitted,
                proven: continued.end().entries,
                until: Some(until),
            };
            match recovery.prove_from(continued) {
                Ok((found, _torn)) => break found,
                Err(error) => match later_end(published, Some(until))? {
                    Some(later) => until = later,
                    None if admitted == Admitted::Grains => return Err(error),
                    None => admitted = Admitted::Grains,
                },
            }
        };
        let mut offsets = self.offsets.write();
        offsets.extend(found.offsets);
        offsets.erase(found.erased);
        offsets.mark_durable();
        Ok(())
    }

    /// Returns whether another process has published more than this ledger holds.
    pub(crate) fn is_behind(&self) -> bool {
        // In the turn of this process no other one appends.
        if self.has_turn.load(Ordering::Acquire) {
            return false;
        }
        let published = self.published.as_ref();
        published.is_some_and(|end| end.may_be_past(self.len()))
    }

    /// Returns the published end if it is past that of this ledger. A file that holds none for the
    /// moment is no news.
    fn news(&self) -> Result<Option<LedgerPosition>, Error> {
        let end = end_of(self.published.as_ref())?;
        Ok(end.filter(|end| end.entries > self.len()))
    }

    /// Publishes the durable end in the turn of this process: outside it, another may have appended
    /// more. A failure delays what other processes see, and nothing else.
    pub fn publish(&self) {
        let Some(published) = self.published.as_ref().filter(|end| end.is_writer()) else {
            return;
        };
        if !self.has_turn.load(Ordering::Acquire) {
            return;
        }
        let end = self.offsets.read().durable();
        if let Err(error) = published.write(&end) {
            tracing::warn!(%error, "other processes do not see the last entries yet");
        }
    }
}

pub(in crate::ledger) fn end_of(
    published: Option<&PublishedEnd>,
) -> Result<Option<LedgerPosition>, Error> {
    let end = published.map(PublishedEnd::read).transpose();
    let end = end.map_err(|source| Error::io("read", super::END, source))?;
    Ok(end.flatten())
}

/// Returns the end that was published since. A body can be blanked while it is read, by an erasure
/// that is published by then: without a later end the fault is damage.
fn later_end(
    published: Option<&PublishedEnd>,
    before: Option<LedgerPosition>,
) -> Result<Option<LedgerPosition>, Error> {
    let later = end_of(published)?;
    let is_later = later.map(|end| end.entries) > before.map(|end| end.entries);
    Ok(later.filter(|_| is_later))
}

//! Writing a frame: the only path by which entries are appended to the ledger.

use std::ops::Range;

use crate::grain::Time;
use crate::ledger::{self, EntryId};
use crate::store::instance::{Inner, Writer};
use crate::store::records::{Frame, PolicyRecord, Reading, Record};
use crate::store::{Durability, Error};

impl Inner {
    /// Appends a frame, makes it durable as the options require, and applies it.
    ///
    /// # Errors
    /// `ERR_STORAGE_HALTED`, `ERR_STORE_LOCKED`, `ERR_STORAGE_FULL`, `ERR_STORAGE_IO`;
    /// `ERR_STORAGE_DAMAGED` if a file of the store was removed or replaced.
    pub(crate) fn commit(
        &self,
        writer: &mut Writer,
        frame: &Frame,
    ) -> Result<Range<EntryId>, Error> {
        self.authorize_changes()?;
        if writer.is_halted {
            return Err(ledger::Error::Halted.into());
        }
        if frame.is_empty() {
            let end = EntryId::new(self.ledger().len());
            return Ok(end..end);
        }
        let now = self.read_clock();
        let told = now.told;
        // Before anything that was written by it. Each record is the answer to what it observes,
        // so at most one of each kind is written.
        while let Some(record) = self.observe_clock(now) {
            if let PolicyRecord::ClockLeapt(trusted) = &record {
                tracing::warn!(%trusted, %told, "the clock leapt forward by more than a day");
            }
            let observation = Frame::of(None, &Record::Policy(record))?;
            self.write(writer, &observation, told)?;
        }
        let rows = self.write(writer, frame, told)?;
        #[cfg(feature = "signatures")]
        self.note_if_due(false);
        Ok(rows)
    }

    fn observe_clock(&self, now: Reading) -> Option<PolicyRecord> {
        let clock = self.state().clock();
        if clock.trusted().is_none() {
            // No step to the first entry is one.
            self.measure_clock();
        }
        clock.observe(now, self.clock_opened(), self.manifest().created_at)
    }

    fn write(
        &self,
        writer: &mut Writer,
        frame: &Frame,
        told: Time,
    ) -> Result<Range<EntryId>, Error> {
        let lost = self.check_in_place();
        lost.inspect_err(|_| writer.is_halted = true)?;
        let time = match frame.repairs_clock() {
            true => told,
            false => self.state().clock().entry_time(told),
        };
        let sealed = self.seal_frame(frame)?;
        let mut entries = frame.to_ledger(self.random())?;
        sealed.replace(self.random(), &mut entries)?;
        // Until all views have applied it: a frame in the ledger that the index lacks would let its
        // grains be stored twice.
        writer.is_halted = true;
        let may_wait = self.options().durability == Durability::Relaxed || frame.is_of_reads();
        let append = || match may_wait {
            true => self.ledger().append_unsynced(time.ms(), &entries),
            false => self.ledger().append(time.ms(), &entries),
        };
        // In the turn of this process no other one appends.
        let len = self.ledger().len();
        let rows = EntryId::new(len)..EntryId::new(len.saturating_add(entries.len() as u64));
        let applied = self
            .applying(|| self.append_and_apply(&rows, (frame, &sealed), time, append))
            .inspect_err(|_| {
                // The ledger itself decides whether it accepts more writes.
                writer.is_halted = false;
            })?;
        applied?;
        writer.is_halted = false;
        Ok(rows)
    }
}

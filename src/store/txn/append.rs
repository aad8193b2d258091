//! Writing a frame: the only path by which an open store appends to its ledger.

use std::ops::Range;

use crate::grain::Time;
use crate::ledger::{self, EntryId};
use crate::store::instance::{Inner, Writer};
use crate::store::records::{PolicyRecord, Reading, Record};
use crate::store::{Durability, Error};

use super::frame::AdmittedFrame;

/// Appends a frame, makes it durable as the options require, and applies it.
///
/// # Errors
/// As [`Transaction::append`](super::Transaction::append).
pub(super) fn append(
    inner: &Inner,
    writer: &mut Writer,
    frame: &AdmittedFrame,
) -> Result<Range<EntryId>, Error> {
    inner.authorize_changes()?;
    if writer.is_halted {
        return Err(ledger::Error::Halted.into());
    }
    if frame.is_empty() {
        let end = EntryId::new(inner.ledger().len());
        return Ok(end..end);
    }
    let now = inner.read_clock();
    let told = now.told;
    // Before anything that was written by it. Each record is the answer to what it observes,
    // so at most one of each kind is written.
    while let Some(record) = observe_clock(inner, now) {
        if let PolicyRecord::ClockLeapt(trusted) = &record {
            tracing::warn!(%trusted, %told, "the clock leapt forward by more than a day");
        }
        let mut observation = AdmittedFrame::default();
        observation.record(&Record::Policy(record))?;
        write(inner, writer, &observation, told)?;
    }
    let rows = write(inner, writer, frame, told)?;
    #[cfg(feature = "signatures")]
    inner.note_if_due(false);
    Ok(rows)
}

fn observe_clock(inner: &Inner, now: Reading) -> Option<PolicyRecord> {
    let clock = inner.state().clock();
    if clock.trusted().is_none() {
        // No step to the first entry is one.
        inner.measure_clock();
    }
    clock.observe(now, inner.clock_opened(), inner.manifest().created_at)
}

fn write(
    inner: &Inner,
    writer: &mut Writer,
    frame: &AdmittedFrame,
    told: Time,
) -> Result<Range<EntryId>, Error> {
    let lost = inner.check_in_place();
    lost.inspect_err(|_| writer.is_halted = true)?;
    let time = match frame.repairs_clock() {
        true => told,
        false => inner.state().clock().entry_time(told),
    };
    let sealed = inner.seal_frame(frame)?;
    let mut entries = frame.to_ledger(inner.random())?;
    sealed.replace(inner.random(), &mut entries)?;
    // Until all views have applied it: a frame in the ledger that the index lacks would let its
    // grains be stored twice.
    writer.is_halted = true;
    let may_wait = inner.options().durability == Durability::Relaxed || frame.is_of_reads();
    let append = || match may_wait {
        true => inner.ledger().append_unsynced(time.ms(), &entries),
        false => inner.ledger().append(time.ms(), &entries),
    };
    // In the turn of this process no other one appends.
    let len = inner.ledger().len();
    let rows = EntryId::new(len)..EntryId::new(len.saturating_add(entries.len() as u64));
    let applied = inner
        .applying(|| inner.append_and_apply(&rows, (frame, &sealed), time, append))
        .inspect_err(|_| {
            // The ledger itself decides whether it accepts more writes.
            writer.is_halted = false;
        })?;
    applied?;
    writer.is_halted = false;
    Ok(rows)
}

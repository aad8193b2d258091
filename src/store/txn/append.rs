//! Writing a frame: the only path by which an open store appends to its ledger.

use std::ops::Range;

use crate::grain::Time;
use crate::ledger::{self, EntryId};
#[cfg(feature = "signatures")]
use crate::store::engine::note_if_due;
use crate::store::engine::{Engine, Writer, offer};
use crate::store::records::{PolicyRecord, Reading, Record};
use crate::store::{Durability, Error};

use super::frame::AdmittedFrame;
#[cfg(feature = "sealing")]
use super::seal::seal_frame;

/// Appends a frame, makes it durable as the options require, and applies it.
///
/// # Errors
/// As [`Transaction::append`](super::Transaction::append).
pub(super) fn append(
    engine: &Engine,
    writer: &mut Writer,
    frame: &AdmittedFrame,
) -> Result<Range<EntryId>, Error> {
    engine.authorize_changes()?;
    if writer.is_halted {
        return Err(ledger::Error::Halted.into());
    }
    if frame.is_empty() {
        let end = EntryId::new(engine.ledger().len());
        return Ok(end..end);
    }
    let now = engine.read_clock();
    let told = now.told;
    // Before anything that was written by it. Each record is the answer to what it observes,
    // so at most one of each kind is written.
    while let Some(record) = observe_clock(engine, now) {
        if let PolicyRecord::ClockLeapt(trusted) = &record {
            tracing::warn!(%trusted, %told, "the clock leapt forward by more than a day");
        }
        let mut observation = AdmittedFrame::default();
        observation.record(&Record::Policy(record))?;
        write(engine, writer, &observation, told)?;
    }
    let rows = write(engine, writer, frame, told)?;
    #[cfg(feature = "signatures")]
    note_if_due(engine, false);
    Ok(rows)
}

fn observe_clock(engine: &Engine, now: Reading) -> Option<PolicyRecord> {
    let clock = engine.state().clock();
    if clock.trusted().is_none() {
        // No step to the first entry is one.
        engine.measure_clock();
    }
    clock.observe(now, engine.clock_opened(), engine.manifest().created_at)
}

fn write(
    engine: &Engine,
    writer: &mut Writer,
    frame: &AdmittedFrame,
    told: Time,
) -> Result<Range<EntryId>, Error> {
    let lost = engine.check_in_place();
    lost.inspect_err(|_| writer.is_halted = true)?;
    let time = match frame.repairs_clock() {
        true => told,
        false => engine.state().clock().entry_time(told),
    };
    #[cfg(feature = "sealing")]
    let sealed = seal_frame(engine, frame)?;
    #[cfg(not(feature = "sealing"))]
    let sealed = crate::store::records::SealedEntries::default();
    let mut entries = frame.to_ledger(engine.random())?;
    sealed.replace(engine.random(), &mut entries)?;
    // Until all views have applied it: a frame in the ledger that the index lacks would let its
    // grains be stored twice.
    writer.is_halted = true;
    let may_wait = engine.options().durability == Durability::Relaxed || frame.is_of_reads();
    let append = || match (offer(engine), may_wait) {
        (Some(mut agree), _) => engine
            .ledger()
            .append_agreed(time.ms(), &entries, &mut *agree),
        (None, true) => engine.ledger().append_unsynced(time.ms(), &entries),
        (None, false) => engine.ledger().append(time.ms(), &entries),
    };
    // In the turn of this process no other one appends.
    let len = engine.ledger().len();
    let rows = EntryId::new(len)..EntryId::new(len.saturating_add(entries.len() as u64));
    let applied = engine
        .applying(|| engine.append_and_apply(&rows, (frame, &sealed), time, append))
        .inspect_err(|_| {
            // The ledger itself decides whether it accepts more writes.
            writer.is_halted = false;
        })?;
    applied?;
    writer.is_halted = false;
    Ok(rows)
}

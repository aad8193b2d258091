//! The steps of an open store towards the sequence of which it is a cache.

use std::time::Duration;

use crate::ledger::{self, EntryId};
use crate::store::Error;
use crate::store::engine::instance::Engine;

/// Returns what offers a frame to the sequence of the store before it is written here; `None` for a
/// store of its own.
pub(crate) fn offer(engine: &Engine) -> Option<Box<ledger::Agree<'_>>> {
    let shared = engine.peers().shared.as_ref()?;
    Some(Box::new(|expected, frame, end| {
        shared.commit(expected, frame, end)
    }))
}

/// Blanks entries where other machines read them.
///
/// # Errors
/// `ERR_UNREACHABLE`, `ERR_STORAGE_IO`; a retry is safe.
pub(crate) fn blank_shared(engine: &Engine, rows: &[EntryId]) -> Result<(), Error> {
    match &engine.peers().shared {
        Some(shared) => {
            let blanked = shared.blank(&engine.manifest().store_id, rows);
            Ok(blanked.map_err(ledger::Error::from)?)
        }
        None => Ok(()),
    }
}

/// Takes the entries that other machines erased and that the derived files here may still hold.
pub(crate) fn take_expunged(engine: &Engine) -> Vec<EntryId> {
    std::mem::take(&mut *engine.peers().must_expunge.lock())
        .into_iter()
        .collect()
}

/// Leaves entries that were taken for the next attempt.
pub(crate) fn leave_expunged(engine: &Engine, rows: &[EntryId]) {
    engine.peers().must_expunge.lock().extend(rows);
    engine.erase_later();
}

/// Returns how long ago the sequence answered last; `None` for a store of its own, and if it has not since
/// the store was opened.
pub(crate) fn shared_age(engine: &Engine) -> Option<Duration> {
    engine.peers().shared.as_ref()?.silence()
}

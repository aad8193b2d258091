//! Notes of the ledger, and the one that a schedule asks for, once its entries are durable.

use crate::crypto::Note;
use crate::ledger::{self, TreeView};
use crate::store::Error;
#[cfg(feature = "signatures")]
use crate::store::NoteSchedule;

use super::instance::Engine;

/// Returns the note of the first entries, or of all.
///
/// # Errors
/// `ERR_RANGE` past the end; `ERR_STORAGE_DAMAGED`; storage errors.
pub(crate) fn note(engine: &Engine, entries: Option<u64>) -> Result<Note, Error> {
    let (entries, root) = with_tree(engine, |view| {
        let entries = entries.unwrap_or(view.len());
        Ok((entries, view.root(entries)?))
    })?;
    Ok(Note::new(engine.store_id(), entries, root))
}

/// Asks the tree over the ledger.
///
/// # Errors
/// `ERR_RANGE`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
pub(crate) fn with_tree<T>(
    engine: &Engine,
    ask: impl FnOnce(&mut TreeView<'_>) -> Result<T, ledger::Error>,
) -> Result<T, Error> {
    let mut history = engine.tree_history().lock();
    Ok(ask(&mut history.view(engine.ledger())?)?)
}

/// Signs and delivers a note if it is due. A failure costs only the note: the entries are
/// durable, and the next change tries again.
#[cfg(feature = "signatures")]
#[cfg(feature = "signatures")]
pub(crate) fn note_if_due(engine: &Engine, is_closing: bool) {
    let Some(schedule) = &engine.options().notes else {
        return;
    };
    let (noted, len) = (*engine.noted().lock(), engine.ledger().len());
    let due_after = if is_closing { 1 } else { schedule.every };
    if len.saturating_sub(noted) < due_after {
        return;
    }
    if let Err(error) = deliver_note(engine, schedule) {
        tracing::warn!(%error, "no note of the ledger was delivered");
    }
}

#[cfg(feature = "signatures")]
#[cfg(feature = "signatures")]
fn deliver_note(engine: &Engine, schedule: &NoteSchedule) -> Result<(), Error> {
    // A note must not state entries that a crash could still remove. This thread has the right to
    // write, or the store closes and is synced.
    if engine.ledger().durable() < engine.ledger().len() {
        engine.ledger().sync()?;
    }
    let mut note = note(engine, None)?;
    schedule.deliver(&mut note)?;
    *engine.noted().lock() = note.entries();
    Ok(())
}

//! Signing the notes that a schedule asks for, once their entries are durable.

use crate::store::instance::Inner;
use crate::store::{Error, NoteSchedule};

use super::note::note;

impl Inner {
    /// Signs and delivers a note if it is due. A failure costs only the note: the entries are
    /// durable, and the next change tries again.
    pub(crate) fn note_if_due(&self, is_closing: bool) {
        let Some(schedule) = &self.options().notes else {
            return;
        };
        let (noted, len) = (*self.noted().lock(), self.ledger().len());
        let due_after = if is_closing { 1 } else { schedule.every };
        if len.saturating_sub(noted) < due_after {
            return;
        }
        if let Err(error) = deliver_note(self, schedule) {
            tracing::warn!(%error, "no note of the ledger was delivered");
        }
    }
}

fn deliver_note(inner: &Inner, schedule: &NoteSchedule) -> Result<(), Error> {
    // A note must not state entries that a crash could still remove. This thread has the right to
    // write, or the store closes and is synced.
    if inner.ledger().durable() < inner.ledger().len() {
        inner.ledger().sync()?;
    }
    let mut note = note(inner, None)?;
    schedule.deliver(&mut note)?;
    *inner.noted().lock() = note.entries();
    Ok(())
}

//! Following the key events of other processes, about persons who are unlocked here: keys that were
//! destroyed are wiped at the next question, and renewed ones are taken (threat T28).
//!
//! It is called while entries are applied, so nothing here may wait for them.

use crate::index::Index;
use crate::ledger::{EntryId, Kind};
use crate::store::Error;
use crate::store::engine::instance::Engine;
use crate::store::records::{KeyEventRecord, Record};
use crate::store::state::{Body, DecodedEntry};

use super::overlay::{lock_wiped, open_rows, renew_unlocked};

/// Follows the key events among entries that are to be applied, then opens those of the persons
/// who are unlocked.
///
/// # Errors
/// Storage errors.
pub(crate) fn open_followed(engine: &Engine, entries: &mut [DecodedEntry]) -> Result<(), Error> {
    for entry in &*entries {
        if let Body::Record(Record::KeyEvent(event)) = entry.as_entry().body {
            follow_key_event(engine, event)?;
        }
    }
    if engine.keyring().is_empty() {
        return Ok(());
    }
    for decoded in entries {
        let entry = decoded.as_entry();
        if entry
            .card
            .is_some_and(|card| engine.keyring().has(&card.uid))
        {
            *decoded = DecodedEntry::opened(engine.ledger().read(entry.row)?, engine.keyring())?;
        }
    }
    Ok(())
}

/// Follows the key events from a row on, of an index that is to take the place of this one, and
/// gives it the overlays of the persons who are unlocked then.
///
/// # Errors
/// Storage errors.
pub(crate) fn move_overlays(engine: &Engine, index: &Index, from: EntryId) -> Result<(), Error> {
    let snapshot = index.snapshot();
    for row in snapshot.of_kind(Kind::KeyEvent).rows()?.iter() {
        if row >= from
            && let Record::KeyEvent(event) = engine.record_at(row)?
        {
            follow_key_event(engine, &event)?;
        }
    }
    index.adopt_overlays(&engine.index());
    for uid in engine.keyring().uids() {
        let mut rows = snapshot.sealed_for(&uid).set()?;
        rows.retain(|row| row >= from);
        let batch = open_rows(engine, index, &uid, &rows)?;
        index.publish_overlay(uid, batch);
    }
    Ok(())
}

fn follow_key_event(engine: &Engine, event: &KeyEventRecord) -> Result<(), Error> {
    let vault = engine.vault_cell().lock().clone();
    if let Some(vault) = &vault {
        // The root that it read may have been destroyed.
        vault.close();
    }
    let (uid, is_renewed) = match event {
        KeyEventRecord::Erased { uid, .. } => (uid, false),
        KeyEventRecord::Rekeyed { uid, .. } => (uid, true),
        KeyEventRecord::Added { .. }
        | KeyEventRecord::Sealed { .. }
        | KeyEventRecord::Escrowed(_)
        | KeyEventRecord::RootRotated { .. }
        | KeyEventRecord::MasterRotated { .. }
        | KeyEventRecord::BlindFields { .. }
        | KeyEventRecord::RootRestored { .. } => return Ok(()),
    };
    let Some(person) = engine.keyring().get(uid) else {
        return Ok(());
    };
    if let Some(vault) = &vault {
        // The keys as they were: they may open what is to be closed for good.
        vault.lock(&person.user);
    }
    if is_renewed && let Err(error) = renew_unlocked(engine, &person.user) {
        tracing::warn!(%error, "a person whose keys another process renewed is locked");
    }
    lock_wiped(engine)
}

//! Unlocking a person: their entries are opened and folded as any other, into an overlay of the index
//! that no file ever holds. Locking drops it, and wipes the keys.

use std::collections::HashMap;

use crate::codec::{ContentAddress, nfc};
use crate::index::{Batch, Index, RowSet, Snapshot};
use crate::ledger::{self, EntryId};
use crate::store::Error;
use crate::store::engine::instance::Engine;
use crate::store::engine::text::{drop_text_of, feed_text_of};
use crate::store::records::Uid;
use crate::store::state::{Body, DecodedEntry, State, UnlockedPerson, index_entry};
use crate::vault;

use super::vault::{master_key, vault_of};

/// Unlocks a person for the thread that writes, and returns the pseudonym.
///
/// # Errors
/// As [`Admin::unlock`](crate::Admin::unlock).
pub(crate) fn unlock_for_writer(engine: &Engine, user: &str) -> Result<Uid, Error> {
    lock_wiped(engine)?;
    if let Some(uid) = engine.keyring().uid_of(user) {
        return Ok(uid);
    }
    let vault = vault_of(engine)?.ok_or(vault::Error::UnknownUser)?;
    let keys = vault.unlock(&master_key(engine)?, user)?;
    // The one unlocked longest ago may have given way.
    lock_wiped(engine)?;
    let uid = keys.keys().map(|keys| *keys.uid()).ok_or(Error::Locked)?;
    let person = UnlockedPerson {
        user: user.to_owned(),
        keys,
    };
    // Entries of others that are applied from here on are opened.
    engine.applying(|| {
        engine.keyring().insert(uid, person);
        let folded = fold_person(engine, &uid);
        if folded.is_err() {
            lock_persons(engine, &[uid])?;
        }
        folded.map(|()| uid)
    })
}

/// Takes the renewed keys of a person who is unlocked.
///
/// # Errors
/// As [`Admin::unlock`](crate::Admin::unlock).
pub(crate) fn renew_unlocked(engine: &Engine, user: &str) -> Result<(), Error> {
    let user = &*nfc(user);
    let found = (engine.keyring().uid_of(user), engine.vault_as_applied()?);
    let (Some(uid), Some(vault)) = found else {
        return Ok(());
    };
    let master = vault.master_key(engine.key_source()?)?;
    let keys = vault.unlock(&master, user)?;
    let user = user.to_owned();
    engine.keyring().insert(uid, UnlockedPerson { user, keys });
    Ok(())
}

/// Locks persons, for the thread that writes or applies entries.
///
/// # Errors
/// Storage errors, after which they are locked.
pub(crate) fn lock_persons(engine: &Engine, uids: &[Uid]) -> Result<(), Error> {
    if uids.is_empty() {
        return Ok(());
    }
    let vault = engine.vault_cell().lock().clone();
    for uid in uids {
        // First, so that a query that is under way reads nothing more.
        if let (Some(person), Some(vault)) = (engine.keyring().get(uid), &vault) {
            vault.lock(&person.user);
        }
        engine.keyring().remove(uid);
        engine.index().drop_overlay(uid);
        drop_text_of(engine, uid);
    }
    let (snapshot, mut rows) = (engine.index().snapshot(), Vec::new());
    for uid in uids {
        rows.extend(snapshot.sealed_for(uid).rows()?.iter());
    }
    engine.caches().forget(&rows);
    engine.recover_state()
}

/// Locks the persons whose keys the vault has wiped: they were renewed, erased, or gave way.
///
/// # Errors
/// Storage errors.
pub(crate) fn lock_wiped(engine: &Engine) -> Result<(), Error> {
    lock_persons(engine, &wiped(engine))
}

/// Hides the grains of persons whose keys have expired from a snapshot: the next change locks
/// them.
pub(crate) fn without_expired(engine: &Engine, snapshot: Snapshot) -> Snapshot {
    // Asking for the vault wipes what has expired.
    drop(vault_of(engine));
    let wiped = wiped(engine);
    match wiped.is_empty() {
        true => snapshot,
        false => snapshot.without_overlays(&wiped),
    }
}

/// Returns the unlocked persons whose keys were wiped.
fn wiped(engine: &Engine) -> Vec<Uid> {
    let mut wiped = engine.keyring().uids();
    wiped.retain(|uid| {
        let person = engine.keyring().get(uid);
        person.is_none_or(|person| person.keys.keys().is_none())
    });
    wiped
}

/// Folds the entries of an unlocked person into an overlay, and recovers the state with them.
fn fold_person(engine: &Engine, uid: &Uid) -> Result<(), Error> {
    let index = engine.index();
    let rows = index.snapshot().sealed_for(uid).set()?;
    let batch = open_rows(engine, &index, uid, &rows)?;
    {
        // A reader that sees the grains waits for the state in which they are.
        let mut state = engine.state_cell().write();
        index.publish_overlay(*uid, batch);
        *state = State::recover(engine.ledger(), &index.snapshot(), engine.keyring())?;
    }
    engine.caches().reveal(&rows);
    if engine.is_keeper() {
        engine.embeddings().add(&rows);
    }
    Ok(())
}

/// Opens entries of an unlocked person, for an overlay of the index.
pub(super) fn open_rows(
    engine: &Engine,
    index: &Index,
    uid: &Uid,
    rows: &RowSet,
) -> Result<Batch, Error> {
    let snapshot = index.snapshot();
    let mut batch = index.batch();
    let mut own: HashMap<ContentAddress, EntryId> = HashMap::new();
    for row in rows.iter() {
        let decoded = match engine.ledger().read(row) {
            Err(ledger::Error::Erased { .. }) => continue,
            entry => DecodedEntry::opened(entry?, engine.keyring())?,
        };
        let entry = decoded.as_entry();
        // The index holds a hash of the pseudonym.
        if entry.card.is_none_or(|card| card.uid != *uid) {
            continue;
        }
        if let Body::Grain(grain) = entry.body {
            own.insert(grain.address(), row);
        }
        if !matches!(entry.body, Body::Locked) {
            let mut resolve = |_: &Batch, address: &ContentAddress| match own.get(address) {
                Some(row) => Ok(Some(*row)),
                None => engine.as_of(&snapshot).locate(address),
            };
            index_entry(&mut batch, &entry, &mut resolve)?;
            feed_text_of(engine, &entry)?;
        }
    }
    Ok(batch)
}

//! The keys of a sealed person in their erasure: the person is unlocked first, so that holds and
//! retention are seen, and the key goes before any byte is blanked (OMS 12.4).

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::nfc;
use crate::crypto::MasterKey;
use crate::ledger::EntryId;
use crate::store::Error;
use crate::store::engine::{Engine, Reach, lock_wiped, master_key, unlock_for_writer, vault_of};
use crate::store::keys::{retained_keys, tell};
use crate::store::records::{KeyEventRecord, Uid};
use crate::store::txn::Transaction;
use crate::vault::{ErasedKey, Vault};

/// Unlocks those of some persons who are sealed, and returns them.
///
/// # Errors
/// `ERR_LOCKED` where that is unknown without the master key; as
/// [`Admin::unlock`](crate::Admin::unlock).
pub(super) fn unlock_sealed(engine: &Engine, ids: &[String]) -> Result<Vec<Uid>, Error> {
    if engine.state().keys().persons() == 0 {
        return Ok(Vec::new());
    }
    if engine.options().master_key.is_none() {
        return Err(Error::Locked);
    }
    let Some(vault) = vault_of(engine)? else {
        return Ok(Vec::new());
    };
    let _writer = engine.exclusive(Reach::Here)?;
    let mut uids = BTreeSet::new();
    for id in ids {
        if vault.has(&master_key(engine)?, id)? {
            uids.insert(unlock_for_writer(engine, &nfc(id))?);
        }
    }
    // A hold key is no person's.
    uids.retain(|uid| !engine.state().keys().is_hold(uid));
    Ok(uids.into_iter().collect())
}

/// Destroys the keys of the persons whose erasure is not complete. It can be repeated.
///
/// # Errors
/// `ERR_KEY`, `ERR_MASTER_KEY`, `ERR_ROOT_MISSING`: the erasure then waits; storage errors.
pub(in crate::store::erasure) fn destroy_keys(
    engine: &Engine,
    txn: &mut Transaction<'_>,
) -> Result<(), Error> {
    let (persons, held, gone) = {
        let state = engine.state();
        let erasures = state.erasures();
        let persons = erasures.persons().filter(|uid| state.keys().has(uid));
        let persons: BTreeSet<Uid> = persons.copied().collect();
        let held: BTreeSet<Uid> = erasures.held().copied().collect();
        let gone: BTreeSet<EntryId> = erasures.open().values().flatten().copied().collect();
        (persons, held, gone)
    };
    if persons.is_empty() {
        return Ok(());
    }
    let Some(vault) = vault_of(engine)? else {
        return Ok(());
    };
    let mut living = Vec::new();
    for uid in &persons {
        if vault.erased(uid)?.is_none() {
            living.push(*uid);
        }
    }
    if !living.is_empty() {
        let master = master_key(engine)?;
        let users = names_of(engine, &vault, &master, &living)?;
        let mut retained = BTreeMap::new();
        for (uid, user) in users.iter().filter(|(uid, _)| held.contains(uid)) {
            let keys = vault.unlock(&master, user)?;
            retained.insert(*uid, retained_keys(engine, uid, &keys, &gone)?);
        }
        let users = users.iter();
        let users = users.map(|(uid, user)| (&**user, retained.get(uid)));
        let users: Vec<_> = users.collect();
        if !users.is_empty() {
            vault.erase_but(&master, &users)?;
        }
    }
    // Their keys are wiped: what was folded with them goes.
    lock_wiped(engine)?;
    for key in destroyed_keys(engine, &persons.into_iter().collect::<Vec<_>>())? {
        let event = KeyEventRecord::Erased {
            uid: key.uid,
            key_check: key.key_check,
            epoch: key.to,
            is_held: held.contains(&key.uid),
        };
        tell(txn, event)?;
    }
    Ok(())
}

/// Returns the user ids of pseudonyms that have keys. An erasure unlocks its persons first; who
/// completes one after a crash asks the vault, which opens the slot of every person.
fn names_of(
    engine: &Engine,
    vault: &Vault,
    master: &MasterKey,
    uids: &[Uid],
) -> Result<Vec<(Uid, String)>, Error> {
    let unlocked = uids.iter().map(|uid| {
        let person = engine.keyring().get(uid)?;
        Some((*uid, person.user))
    });
    if let Some(names) = unlocked.collect() {
        return Ok(names);
    }
    let mut users = vault.list(master)?;
    users.retain(|user| uids.contains(&user.uid));
    let users = users.into_iter();
    Ok(users.map(|user| (user.uid, user.user)).collect())
}

/// Returns what the vault tells of destroyed keys.
///
/// # Errors
/// Storage errors.
pub(super) fn destroyed_keys(engine: &Engine, persons: &[Uid]) -> Result<Vec<ErasedKey>, Error> {
    if persons.is_empty() {
        return Ok(Vec::new());
    }
    let Some(vault) = vault_of(engine)? else {
        return Ok(Vec::new());
    };
    let keys = persons.iter().map(|uid| vault.erased(uid));
    Ok(keys
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?)
}

/// Returns whether an error says that the vault is damaged.
pub(super) const fn is_vault_damage(error: &Error) -> bool {
    matches!(error, Error::Vault(fault) if fault.is_damage())
}

//! The renewal of a person's data key: what is stored of them keeps its message keys, and what was
//! deleted is opened by nothing (docs/security.md, "The vault in practice").
//!
//! Blanking an entry does not reach the copies that a disk keeps of it. The renewal does, so the
//! deletion of a sealed grain makes one due.

use std::collections::BTreeSet;

use crate::codec::nfc;
use crate::crypto::MasterKey;
use crate::grain::Time;
use crate::store::engine::{Caller, Engine, lock_wiped, master_key, renew_unlocked, vault_of};
use crate::store::erasure::resume_erasures_as;
use crate::store::records::{KeyEventRecord, Uid};
use crate::store::txn::Transaction;
use crate::store::{Error, keys::VaultAdmin};
use crate::vault::{self, User, Vault};

use super::events::{tell, tell_missed_swap};
use super::retained::retained_keys;

impl VaultAdmin<'_> {
    /// Gives a person a key of the next generation, and destroys the earlier ones. Stored grains
    /// stay readable; of a deleted grain nothing opens what a disk or a backup may still have. It
    /// takes time and 108 bytes of the vault for each entry of the person.
    ///
    /// # Errors
    /// `ERR_USER_UNKNOWN`; `ERR_STORAGE_DAMAGED` for an entry that cannot be read or opened, and the
    /// keys stay as they are; as [`VaultAdmin::list`].
    pub fn rekey(self, user: &str) -> Result<User, Error> {
        let mut txn = Transaction::begin(self.0, Caller::default())?;
        self.0.authorize_changes()?;
        rekey_as(self.0, &mut txn, user)
    }

    /// Renews the key of every person of whom a grain was deleted since it was last renewed
    /// ([`VaultStatus::due`](crate::store::VaultStatus::due)), and returns them. Compaction of a store
    /// that has the master key does so too, and the unlocking of a person whose time is over.
    ///
    /// # Errors
    /// As [`VaultAdmin::rekey`]; the persons before the one that fails have their new keys.
    pub fn rekey_due(self) -> Result<Vec<User>, Error> {
        self.0.authorize_changes()?;
        rekey_due(self.0)
    }
}

/// Renews the key of every person who is due.
///
/// # Errors
/// As [`VaultAdmin::rekey`].
pub(crate) fn rekey_due(engine: &Engine) -> Result<Vec<User>, Error> {
    let due: Vec<Uid> = engine.state().keys().due().map(|(uid, _)| *uid).collect();
    let Some(vault) = vault_of(engine)?.filter(|_| !due.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut users = vault.list(&master_key(engine)?)?;
    users.retain(|user| due.contains(&user.uid));
    let mut txn = Transaction::begin(engine, Caller::default())?;
    let renewed = users.iter();
    let renewed = renewed.map(|user| rekey_as(engine, &mut txn, &user.user));
    renewed.collect()
}

/// Renews the keys of those who are due where the master key is known.
///
/// # Errors
/// As [`VaultAdmin::rekey`].
pub(crate) fn rekey_due_in_passing(engine: &Engine) -> Result<(), Error> {
    match engine.options().master_key {
        Some(_) => rekey_due(engine).map(drop),
        None => Ok(()),
    }
}

/// Returns when the key of each person who is due is to be renewed.
pub(crate) fn rekey_ends(engine: &Engine) -> Vec<(Uid, Time)> {
    let within = i64::try_from(engine.options().rekey_within.as_millis()).unwrap_or(i64::MAX);
    let state = engine.state();
    let due = state.keys().due();
    due.map(|(uid, since)| (*uid, Time::from_ms(since.ms().saturating_add(within))))
        .collect()
}

/// Renews the key of a person for the thread that writes.
///
/// # Errors
/// As [`VaultAdmin::rekey`].
pub(crate) fn rekey_as(
    engine: &Engine,
    txn: &mut Transaction<'_>,
    user: &str,
) -> Result<User, Error> {
    let vault = vault_of(engine)?.ok_or(vault::Error::NoVault)?;
    let master = master_key(engine)?;
    tell_missed_swap(engine, txn, &vault)?;
    // An entry that is being erased keeps no key.
    resume_erasures_as(engine, txn)?;
    let user = &*nfc(user);
    let keys = vault.unlock(&master, user)?;
    let uid = keys
        .keys()
        .map(|keys| *keys.uid())
        .ok_or(vault::Error::UnknownUser)?;
    let retained = retained_keys(engine, &uid, &keys, &BTreeSet::new())?;
    if retained.is_empty() && engine.state().keys().is_hold(&uid) {
        return end_hold(engine, txn, &vault, &master, user);
    }
    let renewed = vault.rekey(&master, user, &retained)?;
    renew_unlocked(engine, user)?;
    let event = KeyEventRecord::Rekeyed {
        uid,
        generation: u64::from(renewed.generation),
        epoch: vault.epoch()?,
    };
    tell(txn, event)?;
    Ok(renewed)
}

/// Destroys a hold key that opens nothing any more.
fn end_hold(
    engine: &Engine,
    txn: &mut Transaction<'_>,
    vault: &Vault,
    master: &MasterKey,
    name: &str,
) -> Result<User, Error> {
    let mut users = vault.list(master)?;
    users.retain(|user| user.user == name);
    let ended = users.pop().ok_or(vault::Error::UnknownUser)?;
    for key in vault.erase(master, &[name])? {
        let event = KeyEventRecord::Erased {
            uid: key.uid,
            key_check: key.key_check,
            epoch: key.to,
            is_held: false,
        };
        tell(txn, event)?;
    }
    lock_wiped(engine)?;
    Ok(ended)
}

//! The handle on the vault: adding and listing persons, renewing keys, swapping root and master key.
//!
//! A person is recorded in the ledger before the key exists, so that the ledger knows every key. A
//! swap is recorded after it; the next change records one whose entry a crash prevented.

use std::sync::Arc;

use crate::crypto::{KeySource, MasterKey};
use crate::store::engine::{Caller, Engine, master_key, vault_of, vault_or_new};
use crate::store::read;
use crate::store::records::{BlindFields, KeyEventRecord};
use crate::store::txn::Transaction;
use crate::store::{Error, Owner};
use crate::vault::{self, User, Vault};

use super::events::{tell, tell_missed_swap};
use super::rekey::rekey_ends;
use super::status::{Escrow, VaultStatus};

/// Owner-only operations on the keys of sealed persons: see [`Admin::vault`](crate::Admin::vault).
///
/// ```
/// use std::sync::Arc;
/// use grainstore::crypto::KeySource;
/// use grainstore::{Options, Store};
///
/// // A program takes the key from a KMS or a keychain.
/// let source = KeySource::Callback(Box::new(|| Ok(vec![7; 32].into())));
/// let store = Store::in_memory(Options {
///     master_key: Some(Arc::new(source)),
///     ..Options::default()
/// })?;
/// let vault = store.admin()?.vault();
/// vault.add(&["alice"])?;
/// assert_eq!(vault.list()?[0].user, "alice");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct VaultAdmin<'a>(pub(super) &'a Engine);

/// See [`Admin::vault`](crate::Admin::vault).
pub(crate) fn vault<'a>(owner: Owner<'a>) -> VaultAdmin<'a> {
    VaultAdmin(owner.engine())
}

impl VaultAdmin<'_> {
    /// Gives persons a key each. The first call creates the vault.
    ///
    /// A person who was erased and comes again gets another pseudonym and another key. Grains that are
    /// stored stay as they are until [`VaultAdmin::seal`]. Other user ids of one person get keys too
    /// (ruling I29).
    ///
    /// # Errors
    /// `ERR_USER_EXISTS`, and no person is added; `ERR_KEY` without a master key, `ERR_MASTER_KEY` of
    /// another one; `ERR_ROOT_MISSING`; storage errors.
    pub fn add(&self, users: &[&str]) -> Result<Vec<User>, Error> {
        self.add_recorded(users, false)
    }

    /// Gives persons a key each, as [`VaultAdmin::add`], and seals their grains that are in the clear, as
    /// [`VaultAdmin::seal`]. Returns the number of these for each of them.
    ///
    /// Interrupted, it is one change all the same: the next opening that has the master key completes it,
    /// and until then a check names it.
    ///
    /// # Errors
    /// As [`VaultAdmin::add`] and [`VaultAdmin::seal`].
    pub fn add_and_seal(&self, users: &[&str]) -> Result<Vec<(User, u64)>, Error> {
        let added = self.add_recorded(users, true)?.into_iter();
        let sealed = added.map(|user| {
            let grains = self.seal(&user.user)?;
            Ok((user, grains))
        });
        sealed.collect()
    }

    fn add_recorded(&self, users: &[&str], seals: bool) -> Result<Vec<User>, Error> {
        let engine = self.0;
        let mut txn = Transaction::begin(engine, Caller::default())?;
        engine.authorize_changes()?;
        let (vault, master) = vault_or_new(engine)?;
        tell_missed_swap(engine, &mut txn, &vault)?;
        let named = users.iter().map(|user| (*user).to_owned()).collect();
        let united = read::united(engine, &engine.snapshot(), named)?;
        let mut users = users.to_vec();
        for other in united.iter().skip(users.len()) {
            if !vault.has(&master, other)? {
                users.push(other);
            }
        }
        let mut told = Ok(());
        let added =
            vault.add_recorded(&master, &users, engine.entry_time(), &mut |users, epoch| {
                let uids = users.iter().map(|user| user.uid).collect();
                let event = KeyEventRecord::Added { uids, epoch, seals };
                told = tell(&mut txn, event);
                told.is_ok()
            });
        told?;
        Ok(added?)
    }

    /// Returns every person who has a key, by user id.
    ///
    /// # Errors
    /// `ERR_KEY`, `ERR_MASTER_KEY`, `ERR_ROOT_MISSING`, `ERR_STORAGE_DAMAGED`; storage errors.
    pub fn list(self) -> Result<Vec<User>, Error> {
        let Some(vault) = vault_of(self.0)? else {
            return Ok(Vec::new());
        };
        Ok(vault.list(&master_key(self.0)?)?)
    }

    /// Destroys the root for a fresh one, and returns the number of roots so far. Keys of persons do
    /// not change; escrow copies of the old root no longer open the vault.
    ///
    /// # Errors
    /// As [`VaultAdmin::list`]; `ERR_USER_UNKNOWN` of a store without a vault.
    pub fn rotate(self) -> Result<u64, Error> {
        self.change(|vault, master| {
            let epoch = vault.rotate_root(master)?;
            Ok((epoch, KeyEventRecord::RootRotated { epoch }))
        })
    }

    /// Replaces the master key by that of `next`, which later openings of the store need. Repeated
    /// after a crash, with the old key or the new one in [`Options`](crate::Options), it completes.
    /// Keys of persons do not change.
    ///
    /// # Errors
    /// `ERR_KEY` for a source without a key, and for a passphrase; as [`VaultAdmin::rotate`].
    pub fn rotate_master(self, next: &KeySource) -> Result<u64, Error> {
        let next = next.master_key(None).map_err(vault::Error::from)?;
        self.change_with(
            |vault| match vault.is_master(&next)? {
                // The replacement was complete before: the old key opens nothing.
                true => Ok(None),
                false => master_key(self.0).map(Some),
            },
            |vault, master| {
                let Some(master) = master else {
                    return Ok((vault.epoch()?, None));
                };
                let epoch = vault.rotate_master(master, &next)?;
                Ok((epoch, Some(KeyEventRecord::MasterRotated { epoch })))
            },
        )
    }

    /// Chooses the fields of which the cards of sealed grains have blind tokens, by default those of
    /// [`BlindFields::Ids`]. The choice is for what is sealed from now on: cards do not change.
    ///
    /// # Errors
    /// Storage errors.
    pub fn set_blind_fields(self, fields: BlindFields) -> Result<(), Error> {
        let mut txn = Transaction::begin(self.0, Caller::default())?;
        self.0.authorize_changes()?;
        let epoch = self.0.state().keys().epoch();
        tell(&mut txn, KeyEventRecord::BlindFields { fields, epoch })
    }

    /// Opens the keys of every person, and returns their number: a row that does not open is damage.
    ///
    /// # Errors
    /// As [`VaultAdmin::list`]; `ERR_USER_UNKNOWN` of a store without a vault.
    pub fn check(self) -> Result<u64, Error> {
        let vault = vault_of(self.0)?.ok_or(vault::Error::NoVault)?;
        Ok(vault.check(&master_key(self.0)?)?)
    }

    /// Returns the state of the vault, also of one that does not open.
    ///
    /// # Errors
    /// Storage errors.
    pub fn status(self) -> Result<VaultStatus, Error> {
        let fault = match vault_of(self.0) {
            Err(Error::Vault(fault)) => Some(fault),
            opened => {
                opened?;
                None
            }
        };
        let medium = self.0.root_medium();
        let state = self.0.state();
        let keys = state.keys();
        Ok(VaultStatus {
            persons: keys.persons(),
            epoch: keys.epoch(),
            escrows: keys.escrows().iter().map(Escrow::from).collect(),
            due: rekey_ends(self.0),
            blind_fields: keys.blind_fields(),
            file_system: medium.as_ref().map(|medium| medium.name.clone()),
            overwrites: medium.and_then(|medium| medium.overwrites),
            fault,
        })
    }

    /// Changes the vault with the master key, and tells of it.
    pub(super) fn change<T>(
        self,
        change: impl FnOnce(&Vault, &MasterKey) -> Result<(T, KeyEventRecord), Error>,
    ) -> Result<T, Error> {
        self.change_with(
            |_| master_key(self.0),
            |vault, master| {
                let (value, event) = change(vault, master)?;
                Ok((value, Some(event)))
            },
        )
    }

    fn change_with<K, T>(
        self,
        key: impl FnOnce(&Vault) -> Result<K, Error>,
        change: impl FnOnce(&Vault, &K) -> Result<(T, Option<KeyEventRecord>), Error>,
    ) -> Result<T, Error> {
        let engine = self.0;
        let mut txn = Transaction::begin(engine, Caller::default())?;
        engine.authorize_changes()?;
        let vault: Arc<Vault> = vault_of(engine)?.ok_or(vault::Error::NoVault)?;
        let key = key(&vault)?;
        tell_missed_swap(engine, &mut txn, &vault)?;
        let (value, event) = change(&vault, &key)?;
        if let Some(event) = event {
            tell(&mut txn, event)?;
        }
        Ok(value)
    }
}

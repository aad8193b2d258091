//! The root swap: every change that must leave nothing of a key behind (docs/format.md, "The
//! vault").
//!
//! Step 1: the next root is staged beside the current one. Step 2: one commit of the database renews
//! the keys of the buckets that lose something, seals every bucket under the next root, and raises
//! the epoch. Step 3: the current root is overwritten, and the change is acknowledged. A crash before
//! step 2 leaves a root that opens nothing, one after it a root that the next opening destroys.

use std::collections::{BTreeMap, BTreeSet};

use redb::{ReadableDatabase, ReadableTable, WriteTransaction};

use crate::codec::nfc;
use crate::crypto::{MasterKey, RetainedKeys, Secret};

use super::error::{OrFail, damaged};
use super::file::meta::Meta;
use super::file::retained;
use super::file::slot::{Slot, hold_name};
use super::file::tables::{self, BUCKETS, ERASED, Keys, SLOTS};
use super::instance::State;
use super::root::Root;
use super::users::open_bucket;
use super::{Error, User, Vault};

/// A key that was destroyed: what a receipt says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasedKey {
    /// The pseudonym of the person.
    pub uid: [u8; 16],
    /// A value that the key alone has, by which its bearer could be told.
    pub key_check: [u8; 32],
    /// The epoch whose root was destroyed.
    pub from: u64,
    /// The epoch since.
    pub to: u64,
}

/// The fate of a person's keys in a swap.
#[derive(Clone, Copy)]
enum Change<'r> {
    Keep,
    /// The data key is renewed, and the earlier ones open nothing but these messages.
    Renew(&'r RetainedKeys),
    Erase,
    /// The keys are destroyed, and these messages are kept under a hold key.
    Hold(&'r RetainedKeys),
}

impl Vault {
    /// Destroys the keys of persons in one swap. When it returns, nothing that still exists opens
    /// what was sealed for them. The receipts can be asked for again ([`Vault::erased`]).
    ///
    /// # Errors
    /// `ERR_USER_UNKNOWN`, and no key is destroyed; `ERR_MASTER_KEY`, `ERR_NO_RANDOMNESS`; storage
    /// errors, after which the outcome is unknown until the next call.
    pub fn erase(&self, master: &MasterKey, users: &[&str]) -> Result<Vec<ErasedKey>, Error> {
        let users = users.iter().map(|user| (*user, None));
        self.erase_but(master, &users.collect::<Vec<_>>())
    }

    /// As [`Vault::erase`], but the messages whose keys are retained for a person stay readable under
    /// a hold key: a key that names the pseudonym of the person, in the place of the user id.
    ///
    /// # Errors
    /// As [`Vault::erase`].
    pub fn erase_but(
        &self,
        master: &MasterKey,
        users: &[(&str, Option<&RetainedKeys>)],
    ) -> Result<Vec<ErasedKey>, Error> {
        let users: BTreeMap<String, Option<&RetainedKeys>> = users
            .iter()
            .map(|(user, retained)| (nfc(user).into_owned(), *retained))
            .collect();
        let mut known = BTreeSet::new();
        let mut erased = self.change(|state| {
            let keys = state.keys(master)?;
            let mut buckets = BTreeSet::new();
            for (user, retained) in &users {
                match state.slot(&keys, user) {
                    Ok(slot) => {
                        known.insert(slot.uid);
                        buckets.insert(keys.bucket_of(user));
                        if retained.is_some() {
                            buckets.insert(keys.bucket_of(&hold_name(&slot.uid)));
                        }
                    }
                    // The second attempt after a full disk: the first one may have had its effect.
                    Err(Error::UnknownUser) if !known.is_empty() => {
                        return Self::receipts(state, &known);
                    }
                    Err(error) => return Err(error),
                }
            }
            for user in users.keys() {
                // From here on no handle opens or seals anything of theirs.
                self.cache.lock().remove(user);
            }
            self.swap(
                state,
                master,
                &buckets,
                &|slot| match users.get(&slot.user) {
                    Some(Some(retained)) => Change::Hold(retained),
                    Some(None) => Change::Erase,
                    None => Change::Keep,
                },
            )
        })?;
        erased.sort_unstable_by_key(|key| key.uid);
        Ok(erased)
    }

    fn receipts(state: &State, uids: &BTreeSet<[u8; 16]>) -> Result<Vec<ErasedKey>, Error> {
        let found = uids
            .iter()
            .map(|uid| state.erased(uid)?.ok_or(Error::UnknownUser));
        found.collect()
    }

    /// Returns what the receipt of an erased person says; `None` if no person of the pseudonym was
    /// erased.
    ///
    /// # Errors
    /// Storage errors.
    pub fn erased(&self, uid: &[u8; 16]) -> Result<Option<ErasedKey>, Error> {
        self.read(|state| state.erased(uid))
    }

    /// Destroys the root for a fresh one; no person's keys change.
    ///
    /// # Errors
    /// As [`Vault::erase`].
    pub fn rotate_root(&self, master: &MasterKey) -> Result<u64, Error> {
        self.change(|state| {
            self.swap(state, master, &BTreeSet::new(), &|_| Change::Keep)?;
            Ok(state.meta.epoch)
        })
    }

    /// Gives a person a data key of the next generation, and destroys the earlier ones: of what they
    /// have sealed, only the messages whose keys are retained still open.
    ///
    /// # Errors
    /// As [`Vault::erase`].
    pub fn rekey(
        &self,
        master: &MasterKey,
        user: &str,
        retained: &RetainedKeys,
    ) -> Result<User, Error> {
        let user = nfc(user);
        self.change(|state| {
            let keys = state.keys(master)?;
            state.slot(&keys, &user)?;
            self.cache.lock().remove(&user);
            let bucket = BTreeSet::from([keys.bucket_of(&user)]);
            self.swap(state, master, &bucket, &|slot| match *slot.user == *user {
                true => Change::Renew(retained),
                false => Change::Keep,
            })?;
            Ok(User::of(&state.slot(&state.keys(master)?, &user)?))
        })
    }

    /// Seals everything under another master key, in one commit and one swap: a crash leaves a vault
    /// of the one key or of the other, and the call can be repeated.
    ///
    /// Keys of persons do not change, so nothing that they have sealed does.
    ///
    /// # Errors
    /// `ERR_MASTER_KEY` if `master` is not the present key; as [`Vault::erase`].
    pub fn rotate_master(&self, master: &MasterKey, next: &MasterKey) -> Result<u64, Error> {
        self.change(|state| {
            if next.is_of(&state.meta.store, &state.meta.key_check) {
                return Ok(state.meta.epoch);
            }
            state.check(master)?;
            let meta = Meta {
                epoch: state.meta.epoch.saturating_add(1),
                key_check: next.check_value(&state.meta.store),
                // A passphrase made the old key, if any.
                passphrase: None,
                ..state.meta
            };
            let root = self.stage(meta.epoch)?;
            let txn = state.begin()?;
            self.seal_anew(
                state,
                &txn,
                &state.keys(master)?,
                &Keys::new(next, &root, &meta),
                &meta,
            )?;
            self.complete(state, txn, root, meta)?;
            Ok(meta.epoch)
        })
    }

    /// Doubles the number of buckets; the root stays.
    pub(super) fn double(&self, state: &mut State, master: &MasterKey) -> Result<(), Error> {
        let meta = Meta {
            bits: state.meta.bits.saturating_add(1),
            ..state.meta
        };
        let keys = Keys::new(master, &state.root, &meta);
        let txn = state.begin()?;
        self.seal_anew(state, &txn, &state.keys(master)?, &keys, &meta)?;
        tables::write_meta(&txn, &meta)?;
        txn.commit().or_fail()?;
        state.meta = meta;
        Ok(())
    }

    /// Swaps the root, and seals the slots of some buckets anew as `change` says.
    fn swap<'r>(
        &self,
        state: &mut State,
        master: &MasterKey,
        renewed: &BTreeSet<u32>,
        change: &dyn Fn(&Slot) -> Change<'r>,
    ) -> Result<Vec<ErasedKey>, Error> {
        let meta = Meta {
            epoch: state.meta.epoch.saturating_add(1),
            ..state.meta
        };
        let old = state.keys(master)?;
        let root = self.stage(meta.epoch)?;
        let new = Keys::new(master, &root, &meta);
        let txn = state.begin()?;
        let mut erased = Vec::new();
        let mut living: BTreeMap<u32, Vec<Slot>> = BTreeMap::new();
        {
            let mut buckets = txn.open_table(BUCKETS).or_fail()?;
            let mut slots = txn.open_table(SLOTS).or_fail()?;
            for bucket in renewed {
                let key = open_bucket(&buckets, &old, *bucket)?;
                let mut rows = Vec::new();
                for row in slots.range(tables::of_bucket(*bucket)).or_fail()? {
                    let (at, sealed) = row.or_fail()?;
                    rows.push(old.open_slot(at.value(), &key, sealed.value())?);
                }
                slots
                    .retain_in(tables::of_bucket(*bucket), |_, _| false)
                    .or_fail()?;
                for mut slot in rows {
                    let change = change(&slot);
                    if matches!(change, Change::Erase | Change::Hold(_)) {
                        erased.push(ErasedKey::of(&slot, state.meta.epoch, meta.epoch));
                    }
                    if self.apply(&txn, &mut slot, change)? {
                        let bucket = new.bucket_of(&slot.user);
                        living.entry(bucket).or_default().push(slot);
                    }
                }
            }
            for bucket in 0..meta.buckets() {
                let key = match renewed.contains(&bucket) {
                    true => Secret::draw(self.random())?,
                    false => open_bucket(&buckets, &old, bucket)?,
                };
                for slot in living.remove(&bucket).unwrap_or_default() {
                    let at = new.slot_key(bucket, &key, &slot.user);
                    let sealed = new.seal_slot(self.random(), at, &key, &slot)?;
                    slots.insert(at, &*sealed).or_fail()?;
                }
                let sealed = new.seal_bucket(self.random(), bucket, &key)?;
                buckets.insert(bucket, &*sealed).or_fail()?;
            }
            let mut table = txn.open_table(ERASED).or_fail()?;
            for key in &erased {
                // The end of a hold is no other erasure of the person.
                if table.get(key.uid).or_fail()?.is_none() {
                    table.insert(key.uid, &*key.encode()).or_fail()?;
                }
            }
        }
        self.complete(state, txn, root, meta)?;
        Ok(erased)
    }

    /// Applies a change to a slot, and returns whether the slot lives on.
    fn apply(
        &self,
        txn: &WriteTransaction,
        slot: &mut Slot,
        change: Change<'_>,
    ) -> Result<bool, Error> {
        let retained = match change {
            Change::Keep => return Ok(true),
            Change::Erase => {
                retained::remove(txn, slot.uid)?;
                return Ok(false);
            }
            Change::Renew(retained) => {
                slot.renew(self.random())?;
                retained
            }
            Change::Hold(retained) => {
                slot.become_hold(self.random())?;
                retained
            }
        };
        retained::write(txn, self.random(), self.files.store, slot, retained)?;
        Ok(true)
    }

    /// Step 1: the root of the next epoch, durable beside the current one.
    fn stage(&self, epoch: u64) -> Result<Root, Error> {
        let secret = Secret::draw(self.random())?;
        let root = Root { epoch, secret };
        self.files.root.stage(&root)?;
        Ok(root)
    }

    /// The end of step 2, and step 3.
    fn complete(
        &self,
        state: &mut State,
        txn: WriteTransaction,
        root: Root,
        meta: Meta,
    ) -> Result<(), Error> {
        tables::write_meta(&txn, &meta)?;
        txn.commit().or_fail()?;
        state.root = root;
        state.meta = meta;
        self.files.root.keep_only(meta.epoch)
    }

    /// Seals every slot under other keys, in fresh buckets. All slots are in memory meanwhile.
    fn seal_anew(
        &self,
        state: &State,
        txn: &WriteTransaction,
        old: &Keys<'_>,
        new: &Keys<'_>,
        meta: &Meta,
    ) -> Result<(), Error> {
        let mut by_bucket: BTreeMap<u32, Vec<Slot>> = BTreeMap::new();
        state.each_slot(old, &mut |_, slot| {
            let bucket = new.bucket_of(&slot.user);
            by_bucket.entry(bucket).or_default().push(slot);
            Ok(())
        })?;
        let mut buckets = txn.open_table(BUCKETS).or_fail()?;
        let mut slots = txn.open_table(SLOTS).or_fail()?;
        slots.retain(|_, _| false).or_fail()?;
        for bucket in 0..meta.buckets() {
            let key = Secret::draw(self.random())?;
            let sealed = new.seal_bucket(self.random(), bucket, &key)?;
            buckets.insert(bucket, &*sealed).or_fail()?;
            for slot in by_bucket.remove(&bucket).unwrap_or_default() {
                let at = new.slot_key(bucket, &key, &slot.user);
                let sealed = new.seal_slot(self.random(), at, &key, &slot)?;
                slots.insert(at, &*sealed).or_fail()?;
            }
        }
        Ok(())
    }
}

impl State {
    fn erased(&self, uid: &[u8; 16]) -> Result<Option<ErasedKey>, Error> {
        let txn = self.database.begin_read().or_fail()?;
        let table = txn.open_table(ERASED).or_fail()?;
        let row = table.get(uid).or_fail()?;
        let erased = row.map(|row| ErasedKey::decode(*uid, row.value()));
        erased
            .map(|found| found.ok_or(damaged("the record of an erasure is not what was written")))
            .transpose()
    }
}

impl ErasedKey {
    fn of(slot: &Slot, from: u64, to: u64) -> Self {
        let key = slot.keys.last().map(|(_, key)| key.check_value());
        Self {
            uid: slot.uid,
            key_check: key.unwrap_or_default(),
            from,
            to,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let numbers = [self.from.to_be_bytes(), self.to.to_be_bytes()].concat();
        [&self.key_check[..], &numbers].concat()
    }

    fn decode(uid: [u8; 16], bytes: &[u8]) -> Option<Self> {
        let (key_check, rest) = bytes.split_first_chunk()?;
        let (from, to) = rest.split_first_chunk()?;
        Some(Self {
            uid,
            key_check: *key_check,
            from: u64::from_be_bytes(*from),
            to: u64::from_be_bytes(to.try_into().ok()?),
        })
    }
}

//! Persons: adding, listing, unlocking and locking them.

use std::time::Duration;

use redb::{ReadableDatabase, ReadableTable, ReadableTableMetadata};

use crate::codec::nfc;
use crate::crypto::{MasterKey, RetainedKeys, Secret, scrub_stack};
use crate::grain::Time;

use super::error::{OrFail, damaged};
use super::file::retained;
use super::file::slot::Slot;
use super::file::tables::{self, BUCKETS, Keys, SLOTS, SlotKey};
use super::instance::State;
use super::keys::unlocked::Unlocked;
use super::{Error, Vault};

/// A person who has a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The pseudonym under which files name the person.
    pub uid: [u8; 16],
    /// The user id, in NFC.
    pub user: String,
    /// When the person was added.
    pub created_at: Time,
    /// The generation of the key that seals.
    pub generation: u32,
}

impl Vault {
    /// Gives persons a key each, in one commit.
    ///
    /// A person who was erased and comes again gets another pseudonym and another key.
    ///
    /// # Errors
    /// `ERR_USER_EXISTS`, and no person is added; `ERR_MASTER_KEY`, `ERR_NO_RANDOMNESS`; storage
    /// errors, after which the outcome is unknown.
    pub fn add(&self, master: &MasterKey, users: &[&str], now: Time) -> Result<Vec<User>, Error> {
        self.add_recorded(master, users, now, &mut |_, _| true)
    }

    /// As [`Vault::add`]; `record` is called before the commit with the persons and the epoch, and
    /// stops it with `false`. After a crash in between it has told of persons without a key.
    pub(crate) fn add_recorded(
        &self,
        master: &MasterKey,
        users: &[&str],
        now: Time,
        record: &mut dyn FnMut(&[User], u64) -> bool,
    ) -> Result<Vec<User>, Error> {
        self.change(|state| {
            self.grow(state, master, users.len())?;
            let keys = state.keys(master)?;
            let txn = state.begin()?;
            let mut added = Vec::new();
            {
                let buckets = txn.open_table(BUCKETS).or_fail()?;
                let mut slots = txn.open_table(SLOTS).or_fail()?;
                for user in users {
                    let slot = Slot::draw(self.random(), &nfc(user), now)?;
                    let bucket = keys.bucket_of(&slot.user);
                    let key = open_bucket(&buckets, &keys, bucket)?;
                    let at = keys.slot_key(bucket, &key, &slot.user);
                    let sealed = keys.seal_slot(self.random(), at, &key, &slot)?;
                    if slots.insert(at, &*sealed).or_fail()?.is_some() {
                        return Err(Error::UserExists);
                    }
                    added.push(User::of(&slot));
                }
            }
            if !record(&added, state.meta.epoch) {
                return Err(Error::NotRecorded);
            }
            txn.commit().or_fail()?;
            Ok(added)
        })
    }

    /// Returns every person who has a key, by user id.
    ///
    /// # Errors
    /// `ERR_MASTER_KEY`, `ERR_STORAGE_DAMAGED`; storage errors.
    pub fn list(&self, master: &MasterKey) -> Result<Vec<User>, Error> {
        let mut users = Vec::new();
        self.read(|state| {
            state.each_slot(&state.keys(master)?, &mut |_, slot| {
                users.push(User::of(&slot));
                Ok(())
            })
        })?;
        users.sort_by(|a, b| a.user.cmp(&b.user));
        Ok(users)
    }

    /// Returns the keys of a person, which stay in memory until the person is locked.
    ///
    /// # Errors
    /// `ERR_USER_UNKNOWN`, `ERR_MASTER_KEY`, `ERR_STORAGE_DAMAGED`; storage errors.
    pub fn unlock(&self, master: &MasterKey, user: &str) -> Result<Unlocked, Error> {
        let user = nfc(user);
        // The state is held until the keys are in the cache: an erasure between would miss them.
        self.read(|state| {
            let keys = state.keys(master)?;
            if let Some(found) = self.cache.lock().find(&user) {
                return Ok(found);
            }
            let slot = state.slot(&keys, &user)?;
            let unlocked = Unlocked::new(keys.store, &slot, state.retained(&slot)?);
            drop(slot);
            scrub_stack();
            self.cache.lock().insert(&user, unlocked.clone());
            Ok(unlocked)
        })
    }

    /// Returns the keys of a person for one look, which are wiped with the handle.
    ///
    /// # Errors
    /// As [`Vault::unlock`].
    pub(crate) fn look(&self, master: &MasterKey, user: &str) -> Result<Unlocked, Error> {
        let unlocked = self.read(|state| {
            let keys = state.keys(master)?;
            let slot = state.slot(&keys, &nfc(user))?;
            Ok(Unlocked::new(keys.store, &slot, state.retained(&slot)?))
        });
        scrub_stack();
        unlocked
    }

    /// Returns whether a person has a key.
    ///
    /// # Errors
    /// As [`Vault::unlock`].
    pub(crate) fn has(&self, master: &MasterKey, user: &str) -> Result<bool, Error> {
        let found = self.read(|state| state.slot(&state.keys(master)?, &nfc(user)).map(drop));
        match found {
            Ok(()) => Ok(true),
            Err(Error::UnknownUser) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Tells the time, from any beginning that does not change, and wipes the keys of persons who were
    /// unlocked longer ago than `ttl`, in every handle.
    pub fn expire(&self, now: Duration, ttl: Duration) {
        self.cache.lock().expire(now, ttl);
    }

    /// Wipes the keys of a person, in every handle.
    pub fn lock(&self, user: &str) {
        self.cache.lock().remove(&nfc(user));
    }

    /// Wipes the keys of all persons.
    pub fn lock_all(&self) {
        self.cache.lock().clear();
    }

    /// Opens every row: a row that does not open is damage. Returns the number of persons.
    ///
    /// # Errors
    /// `ERR_MASTER_KEY`, `ERR_STORAGE_DAMAGED`; storage errors.
    pub fn check(&self, master: &MasterKey) -> Result<u64, Error> {
        self.read(|state| state.check_rows(master))
    }

    /// Doubles the buckets when they hold many persons each, so that erasing a person costs about
    /// the square root of their number.
    fn grow(&self, state: &mut State, master: &MasterKey, more: usize) -> Result<(), Error> {
        loop {
            let txn = state.database.begin_read().or_fail()?;
            let slots = txn.open_table(SLOTS).or_fail()?.len().or_fail()?;
            drop(txn);
            let buckets = u64::from(state.meta.buckets());
            if slots.saturating_add(more as u64) <= buckets * buckets * PER_BUCKET {
                return Ok(());
            }
            self.double(state, master)?;
        }
    }
}

impl State {
    /// Opens every row, and returns the number of persons.
    fn check_rows(&self, master: &MasterKey) -> Result<u64, Error> {
        let keys = self.keys(master)?;
        let mut found = 0;
        self.each_slot(&keys, &mut |at, slot| {
            let is_in_place = keys.bucket_of(&slot.user) == at.0;
            self.retained(&slot)?;
            found += 1;
            match is_in_place {
                true => Ok(()),
                false => Err(damaged("a user in another bucket")),
            }
        })?;
        let txn = self.database.begin_read().or_fail()?;
        let slots = txn.open_table(SLOTS).or_fail()?.len().or_fail()?;
        match slots == found {
            true => Ok(found),
            false => Err(damaged("keys of users in no bucket")),
        }
    }

    /// Returns the keys of a person.
    pub(super) fn slot(&self, keys: &Keys<'_>, user: &str) -> Result<Slot, Error> {
        let txn = self.database.begin_read().or_fail()?;
        let buckets = txn.open_table(BUCKETS).or_fail()?;
        let bucket = keys.bucket_of(user);
        let key = open_bucket(&buckets, keys, bucket)?;
        let at = keys.slot_key(bucket, &key, user);
        let slots = txn.open_table(SLOTS).or_fail()?;
        let sealed = slots.get(at).or_fail()?.ok_or(Error::UnknownUser)?;
        let slot = keys.open_slot(at, &key, sealed.value())?;
        match slot.user == user {
            true => Ok(slot),
            false => Err(damaged("a user under the name of another")),
        }
    }

    /// Returns the retained keys of a person.
    pub(super) fn retained(&self, slot: &Slot) -> Result<RetainedKeys, Error> {
        let txn = self.database.begin_read().or_fail()?;
        retained::read(&txn, self.meta.store, slot)
    }

    /// Passes the keys of every person to `show`.
    pub(super) fn each_slot(
        &self,
        keys: &Keys<'_>,
        show: &mut dyn FnMut(SlotKey, Slot) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let txn = self.database.begin_read().or_fail()?;
        let buckets = txn.open_table(BUCKETS).or_fail()?;
        let slots = txn.open_table(SLOTS).or_fail()?;
        for bucket in 0..self.meta.buckets() {
            let key = open_bucket(&buckets, keys, bucket)?;
            for row in slots.range(tables::of_bucket(bucket)).or_fail()? {
                let (at, sealed) = row.or_fail()?;
                let slot = keys.open_slot(at.value(), &key, sealed.value())?;
                show(at.value(), slot)?;
            }
        }
        Ok(())
    }
}

impl User {
    pub(super) fn of(slot: &Slot) -> Self {
        Self {
            uid: slot.uid,
            user: slot.user.clone(),
            created_at: slot.created_at,
            generation: slot.keys.last().map_or(0, |(generation, _)| *generation),
        }
    }
}

/// Opens the key of a bucket.
pub(super) fn open_bucket(
    buckets: &impl ReadableTable<u32, &'static [u8]>,
    keys: &Keys<'_>,
    bucket: u32,
) -> Result<Secret, Error> {
    let sealed = buckets.get(bucket).or_fail()?;
    let sealed = sealed.ok_or(damaged("a bucket has no key"))?;
    keys.open_bucket(bucket, sealed.value())
}

/// How many persons a bucket holds before the buckets are doubled, in numbers of buckets.
const PER_BUCKET: u64 = 4;

//! The keys of one unlocked person, shared by all who hold the handle and wiped for all of them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::crypto::{BlindKey, Context, Error, Purpose, Random, RetainedKeys, SealingKey};
use crate::process::{RwLock, RwLockReadGuard};
use crate::vault::file::slot::Slot;

/// The keys of a person. A clone is another handle: locking the person wipes the keys of every one
/// (threat T28).
#[derive(Clone)]
pub struct Unlocked(Arc<RwLock<Option<UserKeys>>>);

/// The keys that open and seal what is a person's.
pub struct UserKeys {
    store: [u8; 16],
    uid: [u8; 16],
    blind: BlindKey,
    /// By generation; the last one seals.
    sealing: Vec<(u32, SealingKey)>,
    /// The keys of messages whose data key was destroyed.
    retained: RetainedKeys,
}

impl Unlocked {
    pub(crate) fn new(store: [u8; 16], slot: &Slot, retained: RetainedKeys) -> Self {
        let keys = slot.keys.iter();
        let sealing = keys.map(|(generation, key)| (*generation, SealingKey::new(&store, key)));
        Self(Arc::new(RwLock::new(Some(UserKeys {
            store,
            uid: slot.uid,
            blind: BlindKey::new(&store, &slot.index),
            sealing: sealing.collect(),
            retained,
        }))))
    }

    /// Returns the keys, and holds a lock or an erasure of the person off for as long as the guard
    /// lives; `None` once the person is locked. It must not be held across a call of the vault.
    pub fn keys(&self) -> Option<impl Deref<Target = UserKeys> + '_> {
        let keys = self.0.read();
        keys.is_some().then_some(Keys(keys))
    }

    /// Wipes the keys, once every reader of them is done.
    pub(crate) fn wipe(&self) {
        drop(self.0.write().take());
    }
}

/// Keys that are there, and stay while they are read.
struct Keys<'a>(RwLockReadGuard<'a, Option<UserKeys>>);

impl Deref for Keys<'_> {
    type Target = UserKeys;

    fn deref(&self) -> &UserKeys {
        // It is made of keys that are there, and holds off who wipes them.
        self.0.as_ref().expect("keys that are there")
    }
}

impl UserKeys {
    /// Returns the pseudonym of the person.
    pub const fn uid(&self) -> &[u8; 16] {
        &self.uid
    }

    /// Returns the key of the person's tokens and aliases.
    pub const fn blind(&self) -> &BlindKey {
        &self.blind
    }

    /// Seals bytes of the person; `row` says what they are, for every purpose but a grain.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`, `ERR_UNSUPPORTED` above 64 MiB.
    pub fn seal(
        &self,
        random: &dyn Random,
        purpose: Purpose,
        row: &[u8],
        bytes: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let (generation, key) = self.sealing.last().ok_or(Error::Sealed)?;
        key.seal(random, &self.context(purpose, *generation, row), bytes)
    }

    /// Opens bytes of the person: of a generation whose key is there, or of a message whose keys
    /// were retained.
    ///
    /// # Errors
    /// `ERR_SEALED`.
    pub fn open(
        &self,
        purpose: Purpose,
        row: &[u8],
        envelope: &[u8],
    ) -> Result<zeroize::Zeroizing<Vec<u8>>, Error> {
        let generation = SealingKey::generation(envelope).ok_or(Error::Sealed)?;
        let context = self.context(purpose, generation, row);
        match self.key_of(generation) {
            Some(key) => key.open(&context, envelope),
            None => self.retained.open(&context, envelope),
        }
    }

    /// Returns the keys of single messages, which open them when the data key is destroyed.
    ///
    /// # Errors
    /// `ERR_SEALED` for an envelope that these keys do not open.
    pub fn retain(&self, envelopes: &[impl AsRef<[u8]>]) -> Result<RetainedKeys, Error> {
        RetainedKeys::collect(envelopes.len(), |collected| {
            for envelope in envelopes {
                let envelope = envelope.as_ref();
                let generation = SealingKey::generation(envelope).ok_or(Error::Sealed)?;
                match self.key_of(generation) {
                    Some(key) => collected.add(key, envelope)?,
                    None => collected.add_again(&self.retained, envelope)?,
                }
            }
            Ok(())
        })
    }

    fn key_of(&self, generation: u32) -> Option<&SealingKey> {
        let found = self.sealing.iter().find(|(of, _)| *of == generation);
        found.map(|(_, key)| key)
    }

    const fn context<'r>(&self, purpose: Purpose, generation: u32, row: &'r [u8]) -> Context<'r> {
        Context {
            store: self.store,
            purpose,
            uid: self.uid,
            generation,
            row,
        }
    }
}

impl fmt::Debug for Unlocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unlocked")
    }
}

impl fmt::Debug for UserKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserKeys")
    }
}

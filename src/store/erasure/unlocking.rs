//! Unlocking and locking a person as callers ask for it: what waited for the next unlocking of a person
//! is carried out with it.

use crate::codec::nfc;
use crate::store::engine::lock_persons;
use crate::store::keys::unlock_person;
use crate::store::{Error, Store};

use super::waiting::carry_out_recorded;

impl Store {
    /// Unlocks a sealed person in this process: from here on their grains are in every answer, and new
    /// ones can be stored, as those of any other person. It takes time in proportion to what is
    /// stored of them. A person who is unlocked stays so, until another process erases them. A key whose
    /// renewal is overdue is renewed ([`Options::rekey_within`](crate::Options::rekey_within)). Erasures
    /// after a withdrawn consent that waited for the person are carried out
    /// ([`Admin::run_consent_erasures`](crate::store::Admin::run_consent_erasures)).
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a narrowed handle; `ERR_USER_UNKNOWN` for a person without a key;
    /// `ERR_MASTER_KEY`, `ERR_KEY`, `ERR_ROOT_MISSING`; storage errors.
    pub fn unlock(&self, user: &str) -> Result<(), Error> {
        let admin = self.admin()?;
        let uid = unlock_person(admin.engine(), user)?;
        // A person is not kept from their grains by what waited for them.
        if let Err(error) = carry_out_recorded(admin, &uid) {
            tracing::warn!(%error, "the erasure of what rests on withdrawn consents waits");
        }
        Ok(())
    }

    /// Locks a person in this process: their keys are wiped, and nothing of them is in any answer. Of
    /// a person who is not unlocked it does nothing.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a narrowed handle; storage errors, after which the person is locked.
    pub fn lock(&self, user: &str) -> Result<(), Error> {
        let engine = self.admin()?.engine();
        let _writer = engine.exclusive()?;
        match engine.keyring().uid_of(&nfc(user)) {
            Some(uid) => engine.applying(|| lock_persons(engine, &[uid])),
            None => Ok(()),
        }
    }

    /// Returns whether a person is unlocked in this process.
    pub fn is_unlocked(&self, user: &str) -> bool {
        let engine = &self.engine;
        let uid = engine.keyring().uid_of(&nfc(user));
        let person = uid.and_then(|uid| engine.keyring().get(&uid));
        person.is_some_and(|person| person.keys.keys().is_some())
    }
}

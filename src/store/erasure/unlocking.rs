//! Unlocking and locking a person as callers ask for it: what waited for the next unlocking of a person
//! is carried out with it.

use crate::codec::nfc;
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
        let uid = admin.inner().unlock_person(user)?;
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
        let inner = self.admin()?.inner();
        let _writer = inner.exclusive()?;
        match inner.keyring().uid_of(&nfc(user)) {
            Some(uid) => inner.applying(|| inner.lock_persons(&[uid])),
            None => Ok(()),
        }
    }

    /// Returns whether a person is unlocked in this process.
    pub fn is_unlocked(&self, user: &str) -> bool {
        let inner = &self.inner;
        let uid = inner.keyring().uid_of(&nfc(user));
        let person = uid.and_then(|uid| inner.keyring().get(&uid));
        person.is_some_and(|person| person.keys.keys().is_some())
    }

    /// Returns the number of persons whose grains no answer has: those who are locked in this process.
    pub(crate) fn locked_persons(&self) -> u64 {
        let state = self.inner.state();
        let keys = state.keys();
        let unlocked = self.inner.keyring().uids();
        let unlocked = unlocked.iter().filter(|uid| keys.has(uid));
        let all = keys.persons().saturating_sub(keys.holds().len() as u64);
        all.saturating_sub(unlocked.count() as u64)
    }
}

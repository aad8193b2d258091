//! Unlocking and locking a person as callers ask for it: what waited for the next unlocking of a person
//! is carried out with it.

use crate::codec::nfc;
use crate::store::engine::{Reach, lock_persons};
use crate::store::keys::unlock_person;
use crate::store::{Access, Error};

use super::waiting::carry_out_recorded;

/// See [`Store::unlock`](crate::Store::unlock).
pub(crate) fn unlock(store: &Access, user: &str) -> Result<(), Error> {
    let owner = store.owner()?;
    let uid = unlock_person(owner.engine(), user)?;
    // A person is not kept from their grains by what waited for them.
    if let Err(error) = carry_out_recorded(owner, &uid) {
        tracing::warn!(%error, "the erasure of what rests on withdrawn consents waits");
    }
    Ok(())
}

/// See [`Store::lock`](crate::Store::lock).
pub(crate) fn lock(store: &Access, user: &str) -> Result<(), Error> {
    let engine = store.owner()?.engine();
    let _writer = engine.exclusive(Reach::Here)?;
    match engine.keyring().uid_of(&nfc(user)) {
        Some(uid) => engine.applying(|| lock_persons(engine, &[uid])),
        None => Ok(()),
    }
}

/// See [`Store::is_unlocked`](crate::Store::is_unlocked).
pub(crate) fn is_unlocked(store: &Access, user: &str) -> bool {
    let engine = &store.engine;
    let uid = engine.keyring().uid_of(&nfc(user));
    let person = uid.and_then(|uid| engine.keyring().get(&uid));
    person.is_some_and(|person| person.keys.keys().is_some())
}

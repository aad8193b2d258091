//! Unlocking and locking a person as callers ask for it: what waited for the next unlocking of a person
//! is carried out with it.

use crate::codec::nfc;
use crate::store::engine::{Engine, Reach, lock_persons};
use crate::store::keys::unlock_person;
use crate::store::{Error, Owner};

use super::waiting::carry_out_recorded;

/// See [`Admin::unlock`](crate::Admin::unlock).
pub(crate) fn unlock(owner: Owner<'_>, user: &str) -> Result<(), Error> {
    owner.authorize_whole()?;
    let uid = unlock_person(owner.engine(), user)?;
    // A person is not kept from their grains by what waited for them.
    if let Err(error) = carry_out_recorded(owner, &uid) {
        tracing::warn!(%error, "the erasure of what rests on withdrawn consents waits");
    }
    Ok(())
}

/// See [`Admin::lock`](crate::Admin::lock).
pub(crate) fn lock(owner: Owner<'_>, user: &str) -> Result<(), Error> {
    owner.authorize_whole()?;
    lock_person(owner.engine(), user)
}

/// Locks a person who was unlocked for a while.
///
/// # Errors
/// Storage errors, after which the person is locked.
pub(super) fn lock_person(engine: &Engine, user: &str) -> Result<(), Error> {
    let _writer = engine.exclusive(Reach::Here)?;
    match engine.keyring().uid_of(&nfc(user)) {
        Some(uid) => engine.applying(|| lock_persons(engine, &[uid])),
        None => Ok(()),
    }
}

/// See [`Admin::is_unlocked`](crate::Admin::is_unlocked).
pub(crate) fn is_unlocked(owner: Owner<'_>, user: &str) -> bool {
    let engine = owner.engine();
    let uid = engine.keyring().uid_of(&nfc(user));
    let person = uid.and_then(|uid| engine.keyring().get(&uid));
    person.is_some_and(|person| person.keys.keys().is_some())
}

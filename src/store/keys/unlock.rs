//! Unlocking a person, with the renewal of a key that is overdue.

use crate::codec::nfc;
use crate::store::Error;
use crate::store::engine::{Caller, Engine, lock_persons, unlock_for_writer};
use crate::store::records::Uid;
use crate::store::txn::Transaction;
use crate::vault;

use super::rekey::{rekey_as, rekey_ends};

/// Unlocks a person.
///
/// # Errors
/// As [`Admin::unlock`](crate::Admin::unlock).
pub(crate) fn unlock_person(engine: &Engine, user: &str) -> Result<Uid, Error> {
    let mut txn = Transaction::begin(engine, Caller::default())?;
    let uid = unlock_for_writer(engine, &nfc(user))?;
    // A process that only reads has no turn: another may have erased the person meanwhile, and
    // what it said of it was applied before the keys were here (threat T28).
    let is_hold = user == vault::hold_name(&uid);
    if !engine.state().keys().has_key(&uid, is_hold) {
        engine.applying(|| lock_persons(engine, &[uid]))?;
        return Err(vault::Error::UnknownUser.into());
    }
    let now = engine.now();
    let mut ends = rekey_ends(engine).into_iter();
    let is_due = ends.any(|(of, end)| of == uid && end <= now);
    if is_due && engine.authorize_changes().is_ok() {
        // A person is not kept from their grains by what is due.
        if let Err(error) = rekey_as(engine, &mut txn, user) {
            tracing::warn!(%error, "the key of a person is not renewed, which is overdue");
        }
    }
    Ok(uid)
}

//! The process that keeps the derived files, which alone completes an erasure: waiting for it, taking
//! its place, and what it does for the others.

use std::time::Duration;

use crate::ledger::{self, EntryId, Lock};
use crate::store::Error;
use crate::store::engine::Engine;

use super::erase::{expunge_followed, resume_erasures};

/// Waits until the keeper has removed what erasures begun here left in the derived files; takes its
/// place if it is gone.
///
/// # Errors
/// `ERR_STORE_LOCKED` after [`Options::lock_wait`](crate::store::Options::lock_wait): the keeper
/// completes them later. Storage errors.
pub(super) fn await_erasures(engine: &Engine, begun: &[EntryId]) -> Result<(), Error> {
    let mut waited = Duration::ZERO;
    loop {
        let is_open = {
            let state = engine.state();
            let open = state.erasures().open();
            begun.iter().any(|begun| open.contains_key(begun))
        };
        if !is_open || engine.is_keeper() {
            return Ok(());
        }
        match engine.take_lock() {
            Ok(lock) => return become_keeper(engine, lock),
            Err(error @ ledger::Error::Locked { .. }) => {
                if waited >= engine.options().lock_wait {
                    return Err(error.into());
                }
            }
            Err(error) => return Err(error.into()),
        }
        engine.options().clock.pause(ERASURE_POLL);
        waited = waited.saturating_add(ERASURE_POLL);
    }
}

/// Makes this process the keeper if there is none, for what only the keeper can do.
///
/// # Errors
/// `ERR_STORE_LOCKED`, which names the keeper; storage errors.
pub(crate) fn require_keeper(engine: &Engine) -> Result<(), Error> {
    engine.authorize_changes()?;
    if engine.is_keeper() {
        return Ok(());
    }
    become_keeper(engine, engine.take_lock()?)
}

/// Does what a process does without being asked: follows the others, completes the erasures that
/// they began if it is the keeper, and becomes the keeper with the lock of one that ended.
///
/// # Errors
/// Storage errors.
pub(crate) fn tend(engine: &Engine, vacancy: Option<Lock>) -> Result<(), Error> {
    engine.follow();
    if let Some(lock) = vacancy {
        return become_keeper(engine, lock);
    }
    match engine.takes_up_erasures() {
        // Another process waits for it, so it is tried again until it succeeds.
        true => resume_or_later(engine),
        false => Ok(()),
    }
}

fn become_keeper(engine: &Engine, lock: Lock) -> Result<(), Error> {
    engine.keep(lock)?;
    resume_or_later(engine)
}

fn resume_or_later(engine: &Engine) -> Result<(), Error> {
    let expunged = expunge_followed(engine);
    let resumed = expunged.and_then(|()| resume_erasures(engine));
    resumed.inspect_err(|_| engine.erase_later())
}

/// How long the wait for the keeper sleeps between two looks.
const ERASURE_POLL: Duration = Duration::from_millis(5);

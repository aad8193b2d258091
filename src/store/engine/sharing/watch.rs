//! The thread that brings a cache after what other machines write.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use crate::process::ProcessId;
use crate::store::Error;
use crate::store::engine::instance::Engine;
use crate::store::engine::processes::Reach;

/// Starts the thread, where the store is a cache. It ends with the store.
pub(in crate::store::engine) fn watch(engine: &Arc<Engine>) {
    if engine.peers().shared.is_none() {
        return;
    }
    let (peers, ledger) = (
        Arc::clone(engine.peers_handle()),
        Arc::clone(engine.ledger_handle()),
    );
    let engine = Arc::downgrade(engine);
    let follow = move || {
        // A command that ends at once opens no connection for this.
        thread::sleep(PERIOD);
        while let (true, Some(shared)) = (engine.strong_count() > 0, &peers.shared) {
            let head = shared.heard(shared.sequence().wait(ledger.len(), PERIOD));
            let is_news = head.as_ref().is_ok_and(|head| head.entries > ledger.len());
            let pulled = match is_news {
                true => Weak::upgrade(&engine).map_or(Ok(()), |engine| pull(&engine)),
                false => Ok(()),
            };
            if let Err(error) = pulled {
                tracing::warn!(%error, "what another machine wrote cannot be followed");
                thread::sleep(PERIOD);
            }
            if let Err(error) = head {
                tracing::debug!(%error, "no news of other machines");
                thread::sleep(PERIOD);
            }
        }
    };
    let thread = thread::Builder::new().name("grainstore-news".to_owned());
    if let Err(error) = thread.spawn(follow) {
        tracing::warn!(%error, "other machines are followed at changes only");
    }
}

/// Takes in what other machines wrote; nothing for a store of its own.
///
/// # Errors
/// `ERR_UNREACHABLE`, `ERR_BACKUP_DIVERGED`, `ERR_STORE_LOCKED`; storage errors.
pub(crate) fn pull(engine: &Engine) -> Result<(), Error> {
    if engine.peers().shared.is_none() {
        return Ok(());
    }
    let _lead = engine.commits().queue.lead_alone();
    engine
        .take_turn(Reach::News, ProcessId::current())
        .map(drop)
}

/// How long the thread waits for news, and after a failure.
const PERIOD: Duration = Duration::from_millis(500);

//! The thread of a store that other processes may have open: it looks for their news while nothing is
//! asked. An idle process must not keep erased bytes open, and the keeper completes the erasures of
//! the others.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::ledger::Ledger;

use super::inner::Inner;
use super::peers::Peers;

/// Ends the thread when dropped.
#[derive(Debug)]
pub(super) struct Idle(Arc<(Mutex<bool>, Condvar)>);

impl Idle {
    /// Starts the thread.
    pub(super) fn watch(inner: &Arc<Inner>) {
        let signal = Arc::new((Mutex::new(false), Condvar::new()));
        let (ended, weak) = (Arc::clone(&signal), Arc::downgrade(inner));
        let (peers, ledger) = (inner.peers_handle(), inner.ledger_handle());
        let (peers, ledger) = (Arc::clone(peers), Arc::clone(ledger));
        let started = thread::Builder::new()
            .name("grainstore-follow".to_owned())
            .spawn(move || while_open(&weak, &peers, &ledger, &ended));
        match started {
            Ok(_) => inner.set_idle(Self(signal)),
            Err(error) => {
                tracing::warn!(%error, "other processes are followed at questions only");
            }
        }
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        *self.0.0.lock() = true;
        self.0.1.notify_one();
    }
}

fn while_open(inner: &Weak<Inner>, peers: &Peers, ledger: &Ledger, ended: &(Mutex<bool>, Condvar)) {
    let (ended, wake) = ended;
    loop {
        {
            let mut ended = ended.lock();
            wake.wait_while_for(&mut ended, |ended| !*ended, IDLE);
            if *ended {
                return;
            }
        }
        let vacancy = peers.vacancy();
        if vacancy.is_none() && !ledger.is_behind() && !peers.must_erase() {
            continue;
        }
        // Held only where other processes leave something to do: the last handle closes the store.
        let Some(inner) = inner.upgrade() else {
            return;
        };
        if let Err(error) = inner.tend(vacancy) {
            tracing::warn!(%error, "what another process began waits");
        }
    }
}

/// How long an idle process may lag behind; an erased grain may be held open for 5 seconds.
const IDLE: Duration = Duration::from_millis(500);

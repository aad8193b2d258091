//! The renewal of a turn among machines: a decision may take longer than the lease, and a machine that
//! stopped must not keep the others waiting for longer than that.

use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use crate::process::Mutex;
use grainstore_shared::{Node, Sequence};

/// The turn of a machine, renewed by a thread for as long as it lasts.
pub(super) struct Renewal {
    turn: Arc<Renewed>,
    thread: OnceLock<()>,
}

struct Renewed {
    sequence: Arc<dyn Sequence>,
    node: Node,
    /// Held while the turn is renewed or given back: one that was given back must not be taken anew.
    is_taken: Mutex<bool>,
}

impl Renewal {
    pub(super) fn new(sequence: Arc<dyn Sequence>, node: Node) -> Self {
        Self {
            turn: Arc::new(Renewed {
                sequence,
                node,
                is_taken: Mutex::new(false),
            }),
            thread: OnceLock::new(),
        }
    }

    /// Renews the turn, which was just taken, from here on.
    pub(super) fn begin(&self) {
        *self.turn.is_taken.lock() = true;
        self.thread.get_or_init(|| {
            let turn = Arc::downgrade(&self.turn);
            let thread = thread::Builder::new().name("grainstore-turn".to_owned());
            if let Err(error) = thread.spawn(move || renew(&turn)) {
                tracing::warn!(%error, "a turn that takes long is lost to another machine");
            }
        });
    }

    /// Returns whether there was a turn.
    pub(super) fn has_begun(&self) -> bool {
        self.thread.get().is_some()
    }

    /// Gives the turn back.
    pub(super) fn end(&self) {
        let mut is_taken = self.turn.is_taken.lock();
        *is_taken = false;
        self.turn.sequence.end_turn(self.turn.node);
    }
}

/// Renews until the store is closed.
fn renew(turn: &Weak<Renewed>) {
    loop {
        thread::sleep(LEASE / 4);
        let Some(turn) = turn.upgrade() else {
            return;
        };
        let is_taken = turn.is_taken.lock();
        // A turn that cannot be renewed ends; the append that follows is then refused.
        if *is_taken && let Err(error) = turn.sequence.take_turn(turn.node, LEASE) {
            tracing::debug!(%error, "the turn is not renewed");
        }
    }
}

/// For so long a machine that stopped in its turn keeps the others waiting.
pub(super) const LEASE: Duration = Duration::from_secs(3);

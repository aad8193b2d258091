//! A store's side of the sequence that it shares with other machines.
//!
//! A turn is a lease on the head: who has it knows that no other machine appends, so a decision that
//! takes several frames stands on one state. Correctness does not rest on the lease: each frame is
//! appended at the head on which it was decided, or not at all.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use grainstore_shared::{Appended, Head, Node, Proposal, Sequence, Turn};

use crate::ledger::{self, EntryId, Ledger, StoreId, blanked_frame, is_same_frame};
use crate::process::Mutex;
use crate::store::{Clock, Error, Options};

use super::pull::pull_all;
use super::renewal::{LEASE, Renewal};
use super::rivals::{LONGEST_WAIT, Rivals};

/// The sequence of an open store.
pub(in crate::store::engine) struct SharedLedger {
    sequence: Arc<dyn Sequence>,
    /// The name of this opening among the others.
    node: Node,
    clock: Arc<dyn Clock>,
    /// When the sequence answered last, by the clock that never goes back.
    heard: Mutex<Option<Duration>>,
    renewal: Renewal,
    rivals: Mutex<Rivals>,
}

/// The turn of this machine, given back when dropped.
pub(in crate::store::engine) struct Lease<'a> {
    shared: &'a SharedLedger,
    head: Head,
}

impl SharedLedger {
    /// Returns the sequence that the options name.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(in crate::store::engine) fn of(options: &Options) -> Result<Option<Self>, Error> {
        let Some(sequence) = &options.shared else {
            return Ok(None);
        };
        let mut node = [0; 16];
        options.random.fill(&mut node)?;
        Ok(Some(Self {
            sequence: Arc::clone(sequence),
            node: Node::new(node),
            clock: Arc::clone(&options.clock),
            heard: Mutex::new(None),
            renewal: Renewal::new(Arc::clone(sequence), Node::new(node)),
            rivals: Mutex::default(),
        }))
    }

    pub(super) const fn sequence(&self) -> &Arc<dyn Sequence> {
        &self.sequence
    }

    /// Waits up to `wait` for the turn.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED`, `ERR_UNREACHABLE`.
    pub(in crate::store::engine) fn take_turn(&self, wait: Duration) -> Result<Lease<'_>, Error> {
        let mut waited = self.let_others_ask();
        let mut pause = FIRST_PAUSE;
        loop {
            let limit = match self.heard(self.sequence.take_turn(self.node, LEASE)) {
                Ok(Turn::Taken(head)) => {
                    self.renewal.begin();
                    self.rivals.lock().found(head, self.clock.monotonic());
                    return Ok(Lease { shared: self, head });
                }
                Ok(Turn::Waits) if waited < wait => {
                    self.rivals.lock().refused(self.clock.monotonic());
                    LONGEST_WAIT
                }
                Ok(Turn::Waits) => return Err(taken().into()),
                // A server that takes the place of another answers in a moment.
                Err(error) if error.is_unreachable() && waited < wait.min(RECONNECT) => RETRY_PAUSE,
                Err(error) => return Err(ledger::Error::from(error).into()),
            };
            self.clock.pause(pause);
            waited = waited.saturating_add(pause);
            pause = (pause * 2).min(limit);
        }
    }

    /// Waits after a turn until the machines that ask again and again had one chance: one with changes at all
    /// times would take the turn each time that it gives it back. Returns how long.
    fn let_others_ask(&self) -> Duration {
        let rest = self.rivals.lock().rest(self.clock.monotonic());
        if !rest.is_zero() {
            self.clock.pause(rest);
        }
        rest
    }

    /// Appends a frame at the head on which it was decided. An outcome that is unknown is asked for: the
    /// frame is there once, or not at all.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` if another machine has appended meanwhile: the frame is not there.
    /// `ERR_UNREACHABLE`: the outcome is unknown.
    pub(super) fn commit(
        &self,
        expected: Head,
        frame: &[u8],
        end: Head,
    ) -> Result<(), ledger::Error> {
        let proposal = Proposal {
            node: self.node,
            expected,
            frame,
            end,
        };
        let mut waited = Duration::ZERO;
        let mut pause = RETRY_PAUSE;
        loop {
            // An attempt whose answer was lost may be what moved the head.
            let appended = match self.sequence.append(&proposal) {
                Ok(Appended::No) => self.is_there(&proposal),
                appended => appended.map(|_| true),
            };
            match self.heard(appended) {
                Ok(true) => {
                    self.rivals.lock().left(end);
                    return Ok(());
                }
                Ok(false) => return Err(taken()),
                Err(error) if error.is_unreachable() && waited < RESOLVE => {
                    tracing::debug!(%error, "the outcome of a commit is asked for");
                }
                Err(error) => return Err(error.into()),
            }
            self.clock.pause(pause);
            waited = waited.saturating_add(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Returns whether the sequence holds this frame. The check in a frame's header covers the salted
    /// commitments of its entries, so no two frames share it; bodies may be blank by now.
    fn is_there(&self, proposal: &Proposal<'_>) -> Result<bool, grainstore_shared::Error> {
        let head = self.sequence.head()?;
        if head.entries < proposal.end.entries {
            return Ok(false);
        }
        let found = self.sequence.read(proposal.expected.entries, 1)?;
        Ok(found.first().is_some_and(|found| {
            found.first == proposal.expected.entries && is_same_frame(&found.bytes, proposal.frame)
        }))
    }

    /// Blanks entries in the sequence, as they are blank in the ledger here.
    pub(super) fn blank(
        &self,
        store_id: &StoreId,
        rows: &[EntryId],
    ) -> Result<(), grainstore_shared::Error> {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let mut rest = rows.as_slice();
        while let Some(row) = rest.first() {
            let found = self.sequence.read(row.get(), 1)?;
            let missing = || grainstore_shared::Error::refused(format!("entry {row} is not there"));
            let mut frame = found.into_iter().next().ok_or_else(missing)?;
            let blanked = blanked_frame(&frame.bytes, store_id, &rows);
            let (bytes, entries) = blanked
                .filter(|(_, of)| of.contains(row))
                .ok_or_else(missing)?;
            let is_done = bytes == frame.bytes;
            frame.bytes = bytes;
            // Another machine may have blanked other entries of the frame: they are read anew.
            if is_done || self.sequence.replace(&frame)? {
                let next = rest
                    .iter()
                    .position(|row| *row >= entries.end)
                    .unwrap_or(rest.len());
                rest = rest.get(next..).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Brings the ledger of the cache to the head; calls `is_there` if there was news. The caller has the turn
    /// of this machine's processes.
    ///
    /// # Errors
    /// As [`pull_all`].
    pub(in crate::store::engine) fn pull(
        &self,
        ledger: &Ledger,
        store_id: StoreId,
        head: Option<Head>,
        is_there: impl FnOnce(),
    ) -> Result<(), Error> {
        let head = match head {
            Some(head) => head,
            None => self
                .heard(self.sequence.head())
                .map_err(ledger::Error::from)?,
        };
        pull_all(
            &*self.sequence,
            ledger,
            store_id,
            head,
            Vec::new(),
            is_there,
        )
    }

    /// Waits until turns that were given back are.
    pub(in crate::store::engine) fn settle(&self) {
        if self.renewal.has_begun() {
            self.sequence.settle();
        }
    }

    /// Returns how long ago the sequence answered last.
    pub(super) fn silence(&self) -> Option<Duration> {
        let heard = (*self.heard.lock())?;
        Some(self.clock.monotonic().saturating_sub(heard))
    }

    pub(super) fn heard<T, E>(&self, answer: Result<T, E>) -> Result<T, E> {
        if answer.is_ok() {
            *self.heard.lock() = Some(self.clock.monotonic());
        }
        answer
    }
}

impl Lease<'_> {
    /// Returns the head, which no other machine moves meanwhile.
    pub(in crate::store::engine) const fn head(&self) -> Head {
        self.head
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.shared.renewal.end();
        let now = self.shared.clock.monotonic();
        self.shared.rivals.lock().ended(now);
    }
}

impl fmt::Debug for SharedLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLedger")
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

fn taken() -> ledger::Error {
    ledger::Error::Locked {
        holder: Some("another machine, which wrote first".to_owned()),
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// How long a turn is asked for where none answers.
const RECONNECT: Duration = Duration::from_secs(1);
/// How long the outcome of a commit is asked for.
const RESOLVE: Duration = Duration::from_secs(10);

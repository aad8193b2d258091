//! The part of an open store that knows of other processes: its place in the order of writers, and
//! whether it is the keeper.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ledger::{self, Disk, EntryId, Lock};
use crate::process::Mutex;
use crate::store::engine::folder::{LOCK, this_process};
use crate::store::engine::sharing::SharedLedger;
use crate::store::{Error, Options};

use super::turns::Turns;

/// The relation of an open store to the other processes that have it open.
pub(in crate::store::engine) struct Peers {
    /// The directory as it is.
    pub(in crate::store::engine) below: Arc<dyn Disk>,
    /// `None` in a process that only reads.
    pub(in crate::store::engine) turns: Option<Turns>,
    /// Held by the thread that applies entries. The others wait: their answers must contain them.
    pub(in crate::store::engine) applying: Mutex<()>,
    /// Whether the ledger may hold entries of others that are not applied yet.
    pub(in crate::store::engine) is_lagging: AtomicBool,
    pub(in crate::store::engine) is_keeper: AtomicBool,
    /// Whether an erasure that another process began waits for the keeper.
    pub(in crate::store::engine) must_erase: AtomicBool,
    /// The sequence of which the directory is a cache.
    pub(in crate::store::engine) shared: Option<SharedLedger>,
    /// Entries that another machine erased, and that the derived files of this one may still hold.
    pub(in crate::store::engine) must_expunge: Mutex<BTreeSet<EntryId>>,
}

impl Peers {
    /// Returns those of a process that only reads.
    pub(in crate::store::engine) fn of_reader(below: Arc<dyn Disk>) -> Self {
        Self {
            below,
            turns: None,
            applying: Mutex::default(),
            is_lagging: AtomicBool::new(false),
            is_keeper: AtomicBool::new(false),
            must_erase: AtomicBool::new(false),
            shared: None,
            must_expunge: Mutex::default(),
        }
    }

    /// Returns those of a process that writes, and that is the keeper or not.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(in crate::store::engine) fn of_writer(
        below: Arc<dyn Disk>,
        turns: Turns,
        is_keeper: bool,
        options: &Options,
    ) -> Result<Self, Error> {
        Ok(Self {
            turns: Some(turns),
            is_keeper: AtomicBool::new(is_keeper),
            shared: SharedLedger::of(options)?,
            ..Self::of_reader(below)
        })
    }

    /// Returns whether this process may write.
    pub(in crate::store::engine) const fn writes(&self) -> bool {
        self.turns.is_some()
    }

    pub(in crate::store::engine) fn is_keeper(&self) -> bool {
        self.is_keeper.load(Ordering::Acquire)
    }

    /// Checks that the file of the right to write is in place.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED`.
    pub(in crate::store::engine) fn check_turns(&self) -> Result<(), Error> {
        self.turns.as_ref().map_or(Ok(()), Turns::check)
    }

    /// Returns the lock of the keeper if this process writes, and there is none.
    pub(in crate::store::engine) fn vacancy(&self) -> Option<Lock> {
        if self.is_keeper() || self.turns.is_none() {
            return None;
        }
        self.take_lock().ok()
    }

    /// Takes the lock of the keeper.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED`, which names the keeper; `ERR_STORAGE_READ_ONLY`, `ERR_STORAGE_IO`.
    pub(in crate::store::engine) fn take_lock(&self) -> Result<Lock, ledger::Error> {
        Lock::take(&*self.below, LOCK, &this_process())
    }

    /// Returns whether an erasure that another process began waits for this one.
    pub(in crate::store::engine) fn must_erase(&self) -> bool {
        self.is_keeper() && self.must_erase.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers")
            .field("is_keeper", &self.is_keeper)
            .finish_non_exhaustive()
    }
}

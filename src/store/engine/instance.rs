//! An open store: its files, the state, the caches, and the queue of writers.
//!
//! The operations are functions of it, in the rooms below.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::grain::Time;
use crate::index::{Index, RetrievalCounters};
use crate::ledger::{DiskFile, Lock, TreeHistory};
use crate::process::{Mutex, ProcessId, RwLock};
use crate::store::Error;
use crate::store::engine::embedding::Embeddings;
use crate::store::engine::processes::{Idle, Peers, Reach, Turn};
use crate::store::engine::recovery::RecoveryReport;
use crate::store::engine::root_names::RootNames;
use crate::store::engine::text::TextView;
use crate::store::engine::writer::{Commits, Exclusive};
use crate::store::records::MANIFEST;
use crate::store::view::Core;

/// An open store.
#[derive(Debug)]
pub(crate) struct Engine {
    core: Core,
    reader: Reader,
    embeddings: Arc<Embeddings>,
    commits: Commits,
    /// Absent where no other process can have the store open.
    idle: OnceLock<Idle>,
    /// The tree over the ledger, as far as a proof has asked for it.
    tree_history: Mutex<TreeHistory>,
    /// The number of entries of the last note that was delivered, or that there were at opening.
    #[cfg(feature = "signatures")]
    noted: Mutex<u64>,
}

/// The derived files of an open store, and its part among other processes.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Watched: without its name there is no store.
    pub(super) manifest_file: Arc<dyn DiskFile>,
    /// Replaced when a store that another process writes takes up newer files.
    pub(super) index: RwLock<Arc<Index>>,
    /// `None` if retrievals are not counted.
    pub(super) retrievals: Option<RetrievalCounters>,
    /// Holds no view if the store was opened without it.
    pub(super) text: TextView,
    pub(super) recovery: RecoveryReport,
    pub(super) peers: Arc<Peers>,
    /// Of the keeper. After the derived files: another process may take them once it is free.
    pub(super) lock: Mutex<Option<Lock>>,
    /// Sees a change of the names that make the directory this store, in one call to the system.
    pub(super) names: Mutex<RootNames>,
}

impl Reader {
    fn compare_names(&self) -> Result<(), Error> {
        if let Some(lock) = &*self.lock.lock() {
            lock.check()?;
        }
        self.peers.check_turns()?;
        if self.manifest_file.is_in_place() {
            return Ok(());
        }
        let reason = "it was removed or replaced while the store was open";
        Err(Error::damaged(MANIFEST, reason))
    }
}

impl Deref for Engine {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Engine {
    pub(super) fn new(core: Core, reader: Reader) -> Self {
        let embeddings = Embeddings::new(&core.options().embedders);
        Self {
            #[cfg(feature = "signatures")]
            noted: Mutex::new(core.ledger().len()),
            core,
            reader,
            embeddings: Arc::new(embeddings),
            commits: Commits::default(),
            idle: OnceLock::new(),
            tree_history: Mutex::default(),
        }
    }

    /// Returns what is known here, without a look at other processes.
    pub(super) const fn core(&self) -> &Core {
        &self.core
    }

    pub(crate) const fn tree_history(&self) -> &Mutex<TreeHistory> {
        &self.tree_history
    }

    #[cfg(feature = "signatures")]
    pub(crate) const fn noted(&self) -> &Mutex<u64> {
        &self.noted
    }

    pub(crate) fn index(&self) -> Arc<Index> {
        Arc::clone(&self.reader.index.read())
    }

    /// Puts another index in place of this one. Snapshots of the old one stay valid.
    pub(super) fn replace_index(&self, index: Index) {
        let before = std::mem::replace(&mut *self.reader.index.write(), Arc::new(index));
        drop(before);
    }

    pub(super) fn peers(&self) -> &Peers {
        &self.reader.peers
    }

    pub(super) const fn peers_handle(&self) -> &Arc<Peers> {
        &self.reader.peers
    }

    /// Makes the idle thread end with this store.
    pub(super) fn set_idle(&self, idle: Idle) {
        drop(self.idle.set(idle));
    }

    /// Keeps the lock of the keeper for as long as the store is open.
    pub(super) fn set_lock(&self, lock: Lock) {
        *self.reader.lock.lock() = Some(lock);
        self.reader.names.lock().forget();
    }

    pub(crate) const fn retrievals(&self) -> Option<&RetrievalCounters> {
        self.reader.retrievals.as_ref()
    }

    pub(crate) const fn text(&self) -> &TextView {
        &self.reader.text
    }

    pub(crate) const fn recovery(&self) -> &RecoveryReport {
        &self.reader.recovery
    }

    /// Checks that the files which make the directory this store are still in place: the locks, or
    /// another process may write beside this one, and `MANIFEST`, or no later open finds a store.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED`, `ERR_STORAGE_DAMAGED`.
    pub(crate) fn check_in_place(&self) -> Result<(), Error> {
        let mut names = self.reader.names.lock();
        if names.are_unchanged() {
            return Ok(());
        }
        // Watched before they are compared with the files that are open: a change after that is seen.
        names.watch(self.disk(), self.is_keeper());
        let compared = self.reader.compare_names();
        if compared.is_err() {
            names.forget();
        }
        compared
    }

    /// Completes the report on opening, once all files are open.
    pub(crate) fn report_opening(&mut self, erasure_waits: Option<String>) {
        let (damaged, unavailable) = (self.damaged(), self.text().unavailable());
        let recovery = &mut self.reader.recovery;
        recovery.damaged = damaged;
        recovery.text_unavailable = unavailable;
        recovery.erasure_waits = erasure_waits;
    }

    pub(crate) const fn embeddings(&self) -> &Arc<Embeddings> {
        &self.embeddings
    }

    pub(crate) const fn commits(&self) -> &Commits {
        &self.commits
    }

    /// Waits until no other thread and no other process writes, and brings the store to what they
    /// wrote. Only a turn that reaches other machines may append.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` if another process writes for longer than
    /// [`Options::lock_wait`](crate::store::Options::lock_wait); storage errors.
    pub(crate) fn exclusive(&self, reach: Reach) -> Result<Exclusive<'_>, Error> {
        let lead = self.commits.queue.lead_alone();
        let turn = self.take_turn(reach, ProcessId::current())?;
        Ok(Exclusive::new(turn, self.commits.writer.lock(), Some(lead)))
    }

    /// Gives a leader of the queue, which took the turn of this process, the right to write.
    pub(crate) fn exclusive_of_leader<'a>(&'a self, turn: Option<Turn<'a>>) -> Exclusive<'a> {
        Exclusive::new(turn, self.commits.writer.lock(), None)
    }

    /// Makes everything written durable, and publishes that.
    ///
    /// # Errors
    /// As [`Engine::exclusive`].
    pub(crate) fn sync(&self) -> Result<(), Error> {
        if self.ledger().durable() < self.ledger().len() {
            let _writer = self.exclusive(Reach::Here)?;
            self.ledger().sync()?;
        }
        Ok(())
    }
}

/// Reports that the cache was opened while its shared ledger did not answer.
pub(crate) fn report_stale(engine: &mut Engine, since: Option<Time>) {
    engine.reader.recovery.stale_since = since;
}

//! An open store: its files, the state, the caches, and the queue of writers.
//!
//! The operations are in the rooms below: each room adds its methods to [`Inner`].

use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::crypto::{Random, Resolver};
use crate::grain::{Grain, Time};
use crate::index::{Batch, Index, RetrievalCounters, Snapshot};
use crate::ledger::{self, Ballast, Disk, DiskFile, EntryId, Kind, Ledger, Lock, TreeHistory};
use crate::policy::TrustedNow;
use crate::store::records::{Reading, SealedRecord, draw_salts};
use crate::store::state::{Caches, Keyring, State};
use crate::store::{Error, Options};

use super::embedding::Embeddings;
use super::manifest::{MANIFEST, Manifest};
use super::processes::{Idle, Peers};
use super::recovery::RecoveryReport;
use super::text_view::TextView;
use super::writer::{Commits, Exclusive};

/// An open store.
#[derive(Debug)]
pub(crate) struct Inner {
    reader: Reader,
    /// Changed by [`Inner::apply`](super::apply) alone, and recovered after an erasure.
    state: RwLock<State>,
    /// The reading from which this opening measures the clock.
    clock_opened: Mutex<Reading>,
    caches: Caches,
    keyring: Keyring,
    embeddings: Arc<Embeddings>,
    commits: Commits,
    /// The grains that were damaged when the index was built, which does not know their addresses.
    damaged: RwLock<Vec<EntryId>>,
    /// `None` until the vault is first needed.
    #[cfg(feature = "sealing")]
    vault: Mutex<Option<Arc<crate::vault::Vault>>>,
    /// Absent where no other process can have the store open.
    idle: OnceLock<Idle>,
    /// The tree over the ledger, as far as a proof has asked for it.
    tree_history: Mutex<TreeHistory>,
    /// The number of entries of the last note that was delivered, or that there were at opening.
    #[cfg(feature = "signatures")]
    noted: Mutex<u64>,
}

/// The files of an open store, and how it was opened.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(super) options: Options,
    pub(super) manifest: Manifest,
    /// Watched: without its name there is no store.
    pub(super) manifest_file: Arc<dyn DiskFile>,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) ledger: Arc<Ledger>,
    /// Replaced when a store that another process writes takes up newer files.
    pub(super) index: RwLock<Arc<Index>>,
    /// `None` if retrievals are not counted.
    pub(super) retrievals: Option<RetrievalCounters>,
    /// Holds no view if the store was opened without it.
    pub(super) text: TextView,
    pub(super) ballast: Ballast,
    pub(super) recovery: RecoveryReport,
    pub(super) peers: Arc<Peers>,
    /// Of the keeper. After the derived files: another process may take them once it is free.
    pub(super) lock: Mutex<Option<Lock>>,
}

impl Inner {
    pub(super) fn new(reader: Reader) -> Self {
        let opened = read_clock(&reader.options);
        let embeddings = Embeddings::new(&reader.options.embedders);
        Self {
            #[cfg(feature = "signatures")]
            noted: Mutex::new(reader.ledger.len()),
            reader,
            embeddings: Arc::new(embeddings),
            state: RwLock::default(),
            clock_opened: Mutex::new(opened),
            caches: Caches::default(),
            keyring: Keyring::default(),
            commits: Commits::default(),
            damaged: RwLock::default(),
            #[cfg(feature = "sealing")]
            vault: Mutex::default(),
            idle: OnceLock::new(),
            tree_history: Mutex::default(),
        }
    }

    pub(crate) const fn tree_history(&self) -> &Mutex<TreeHistory> {
        &self.tree_history
    }

    #[cfg(feature = "signatures")]
    pub(crate) const fn noted(&self) -> &Mutex<u64> {
        &self.noted
    }

    #[cfg(feature = "sealing")]
    pub(crate) const fn vault_cell(&self) -> &Mutex<Option<Arc<crate::vault::Vault>>> {
        &self.vault
    }

    pub(crate) const fn options(&self) -> &Options {
        &self.reader.options
    }

    pub(crate) const fn manifest(&self) -> &Manifest {
        &self.reader.manifest
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.reader.disk
    }

    #[cfg(feature = "sealing")]
    pub(crate) const fn disk_handle(&self) -> &Arc<dyn Disk> {
        &self.reader.disk
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.reader.ledger
    }

    /// Returns the ledger for what outlives a question.
    pub(super) const fn ledger_handle(&self) -> &Arc<Ledger> {
        &self.reader.ledger
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
    }

    pub(crate) const fn retrievals(&self) -> Option<&RetrievalCounters> {
        self.reader.retrievals.as_ref()
    }

    pub(crate) const fn text(&self) -> &TextView {
        &self.reader.text
    }

    pub(crate) const fn ballast(&self) -> &Ballast {
        &self.reader.ballast
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
        if let Some(lock) = &*self.reader.lock.lock() {
            lock.check()?;
        }
        self.peers().check_turns()?;
        if self.reader.manifest_file.is_in_place() {
            return Ok(());
        }
        let reason = "it was removed or replaced while the store was open";
        Err(Error::damaged(MANIFEST, reason))
    }

    pub(super) const fn recovery_mut(&mut self) -> &mut RecoveryReport {
        &mut self.reader.recovery
    }

    pub(crate) const fn caches(&self) -> &Caches {
        &self.caches
    }

    pub(crate) const fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    pub(crate) const fn embeddings(&self) -> &Arc<Embeddings> {
        &self.embeddings
    }

    pub(crate) const fn commits(&self) -> &Commits {
        &self.commits
    }

    /// Returns the current state. The guard must not be held across other calls: a second read
    /// would wait for a writer that waits for the first.
    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.follow();
        self.state.read()
    }

    /// Returns the state as of the last look at what other processes wrote: within a question, whose
    /// snapshot began with such a look. Each further one would cost a system call.
    pub(crate) fn known_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    /// Returns the state for changing it.
    pub(in crate::store) const fn state_cell(&self) -> &RwLock<State> {
        &self.state
    }

    pub(crate) fn resolver(&self) -> &dyn Resolver {
        &*self.options().resolver
    }

    pub(crate) fn random(&self) -> &dyn Random {
        &*self.options().random
    }

    /// Returns the identity of the store, as statements about it carry it.
    pub(crate) const fn store_id(&self) -> [u8; 16] {
        *self.manifest().store_id.as_bytes()
    }

    /// Returns a snapshot of everything acknowledged, by this process and by others.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.follow();
        let snapshot = self.index().snapshot();
        #[cfg(feature = "sealing")]
        if self.options().unlock_ttl.is_some() && !self.keyring.is_empty() {
            return self.without_expired(snapshot);
        }
        snapshot
    }

    /// Returns the time by the store's clock.
    pub(crate) fn now(&self) -> Time {
        self.options().clock.now()
    }

    /// Returns the time that an entry written now would have.
    pub(crate) fn entry_time(&self) -> Time {
        self.state().clock().entry_time(self.now())
    }

    /// Returns what the clocks show now.
    pub(crate) fn read_clock(&self) -> Reading {
        read_clock(self.options())
    }

    /// Measures the clock from now on: after opening, for the first entry, and where an operator
    /// accepted it.
    pub(crate) fn measure_clock(&self) {
        // Without a look at what others wrote: it may be called while that is applied.
        let from = self.state.read().clock().measure_from(self.read_clock());
        *self.clock_opened.lock() = from;
    }

    /// Returns the reading from which this opening measures the clock.
    pub(crate) fn clock_opened(&self) -> Reading {
        *self.clock_opened.lock()
    }

    /// Returns the trusted time for a decision.
    pub(crate) fn moment(&self) -> TrustedNow {
        let (now, opened) = (self.read_clock(), self.clock_opened());
        self.state().clock().moment(now, opened)
    }

    /// Waits until no other thread and no other process writes, and brings the store to what they
    /// wrote.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` if another process writes for longer than
    /// [`Options::lock_wait`](crate::store::Options::lock_wait); storage errors.
    pub(crate) fn exclusive(&self) -> Result<Exclusive<'_>, Error> {
        let lead = self.commits.queue.lead_alone();
        let turn = self.take_turn()?;
        Ok(Exclusive::new(turn, self.commits.writer.lock(), lead))
    }

    /// Makes everything written durable, and publishes that.
    ///
    /// # Errors
    /// As [`Inner::exclusive`].
    pub(crate) fn sync(&self) -> Result<(), Error> {
        if self.ledger().durable() < self.ledger().len() {
            let _writer = self.exclusive()?;
            self.ledger().sync()?;
        }
        Ok(())
    }

    /// Draws salts for entries.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn salts(&self, count: usize) -> Result<Vec<[u8; 16]>, Error> {
        Ok(draw_salts(self.random(), count)?)
    }

    /// Returns the row of a grain: of the rows that the index names, the one that the ledger
    /// confirms.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn locate(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<Option<EntryId>, Error> {
        for row in snapshot.candidates(address)?.iter() {
            if self.holds(snapshot, row, address)? {
                return Ok(Some(row));
            }
        }
        self.locate_damaged(address)
    }

    /// Returns whether the grain of a row has an address. The commitment of a sealed one says
    /// nothing of it, so that one is opened.
    pub(crate) fn holds(
        &self,
        snapshot: &Snapshot,
        row: EntryId,
        address: &ContentAddress,
    ) -> Result<bool, Error> {
        if snapshot.overlay_of(row).is_none() {
            return Ok(self.ledger().holds(row, address.as_bytes())?);
        }
        match self.entry(row) {
            Ok(entry) => Ok(address.verifies(&entry.body)),
            Err(error) if matches!(error.code(), ErrorCode::Locked | ErrorCode::Erased) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns an entry as it is in the clear: a sealed one is opened, with the kind that it would
    /// have.
    ///
    /// # Errors
    /// `ERR_LOCKED` for an entry of a person who is locked; storage errors.
    pub(crate) fn entry(&self, row: EntryId) -> Result<ledger::Entry<'static>, Error> {
        self.opened(self.ledger().read(row)?)
    }

    /// Reads the grain of a row, in the clear, with the header of its entry. The proof of its bytes
    /// gives its address; only a sealed one is hashed again.
    ///
    /// # Errors
    /// As [`Inner::entry`].
    pub(crate) fn grain(&self, row: EntryId) -> Result<(ledger::EntryHeader, Grain), Error> {
        let (entry, hash) = self.ledger().read_hashed(row)?;
        let is_sealed = entry.header.kind == Kind::SealedGrain;
        let entry = self.opened(entry)?;
        let body = entry.body.into_owned();
        let grain = match is_sealed {
            true => Grain::from_proven(body),
            false => Grain::from_verified(body, ContentAddress::new(hash)),
        };
        Ok((entry.header, grain?))
    }

    fn opened(&self, mut entry: ledger::Entry<'static>) -> Result<ledger::Entry<'static>, Error> {
        if entry.header.kind == Kind::SealedGrain {
            let sealed = SealedRecord::decode(&entry.body);
            let sealed = sealed.ok_or(Error::Locked)?;
            let opened = self.keyring.open(&sealed).ok_or(Error::Locked)?;
            if let Some(since) = sealed.card.since {
                entry.header.time_ms = since.ms();
            }
            entry.header.kind = opened.kind;
            entry.body = opened.body.into();
        }
        Ok(entry)
    }

    /// Returns the row of a grain that was damaged when the index was built: the commitment in its
    /// header still names it.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn locate_damaged(
        &self,
        address: &ContentAddress,
    ) -> Result<Option<EntryId>, Error> {
        for row in self.damaged.read().iter() {
            if self.ledger().holds(*row, address.as_bytes())? {
                return Ok(Some(*row));
            }
        }
        Ok(None)
    }

    /// Returns the grains that were damaged when the index was built, and are not erased.
    pub(crate) fn damaged(&self) -> Vec<EntryId> {
        let mut rows = self.damaged.read().clone();
        rows.retain(|row| !matches!(self.ledger().read(*row), Err(ledger::Error::Erased { .. })));
        rows
    }

    pub(super) fn set_damaged(&self, rows: Vec<EntryId>) {
        *self.damaged.write() = rows;
    }

    pub(super) fn add_damaged(&self, row: EntryId) {
        self.damaged.write().push(row);
    }

    /// Returns the row of a grain that must be stored.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; storage errors.
    pub(crate) fn row_of(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<EntryId, Error> {
        let row = self.locate(snapshot, address)?;
        row.ok_or(Error::NotFound { address: *address })
    }

    /// Returns the row of a grain that is in the index or in a batch on its way there.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn locate_with(
        &self,
        snapshot: &Snapshot,
        batch: &Batch,
        address: &ContentAddress,
    ) -> Result<Option<EntryId>, Error> {
        let row = self.locate(snapshot, address)?;
        Ok(row.or_else(|| batch.row_of(address)))
    }
}

fn read_clock(options: &Options) -> Reading {
    let steady_ms = options.clock.monotonic().as_millis();
    Reading {
        told: options.clock.now(),
        steady_ms: i64::try_from(steady_ms).unwrap_or(i64::MAX),
        boot: options.clock.boot(),
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.sync() {
            tracing::warn!(%error, "closing without knowing that the last writes are durable");
        }
        #[cfg(feature = "signatures")]
        self.note_if_due(true);
        if !self.is_keeper() {
            return;
        }
        self.close_text();
        self.close_retrievals();
        let active = self.index().active_entries();
        if active.end.get() - active.start.get() >= WORTH_A_RUN {
            self.freeze();
        }
    }
}

/// From this many entries on, writing a run now is cheaper than applying them at every open.
const WORTH_A_RUN: u64 = 4_096;

//! The basis of every decision: the ledger, the state, the caches, the keys and the clock of an open
//! store; and a view of it as of a snapshot.

use std::ops::Deref;
use std::sync::Arc;

use crate::crypto::{Random, Resolver};
use crate::grain::Time;
use crate::index::Snapshot;
use crate::ledger::{Ballast, Disk, EntryId, Ledger};
use crate::policy::TrustedNow;
use crate::process::{Mutex, ProcessId, RwLock, RwLockReadGuard};
use crate::store::records::{DrawnSalts, Manifest, Reading, draw_salts};
use crate::store::state::{Caches, Keyring, State};
use crate::store::{Error, Options};

/// An open store as far as a decision may see it. It appends nothing, and takes in nothing that
/// other processes wrote.
#[derive(Debug)]
pub(crate) struct Core {
    files: CoreFiles,
    /// Changed by applying entries alone, and recovered after an erasure.
    state: RwLock<State>,
    /// The reading from which this opening measures the clock.
    clock_opened: Mutex<Reading>,
    caches: Caches,
    keyring: Keyring,
    drawn_salts: Mutex<DrawnSalts>,
    /// The grains that were damaged when the index was built, which does not know their addresses.
    damaged: RwLock<Vec<EntryId>>,
    /// `None` until the vault is first needed.
    #[cfg(feature = "sealing")]
    vault: Mutex<Option<Arc<crate::vault::Vault>>>,
}

/// The files that a decision may read, and how the store was opened.
#[derive(Debug)]
pub(crate) struct CoreFiles {
    pub(crate) options: Options,
    pub(crate) manifest: Manifest,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) ballast: Ballast,
    /// Whether this process may write.
    pub(crate) is_writer: bool,
}

/// The store as of a snapshot of its index. Reads only, and takes the snapshot once: all answers are
/// of one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    core: &'a Core,
    snapshot: &'a Snapshot,
}

impl<'a> View<'a> {
    /// Returns the snapshot that it shows.
    pub(crate) const fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }
}

impl Deref for View<'_> {
    type Target = Core;

    fn deref(&self) -> &Core {
        self.core
    }
}

impl Core {
    pub(crate) fn new(files: CoreFiles) -> Self {
        let opened = reading(&files.options);
        Self {
            files,
            state: RwLock::default(),
            clock_opened: Mutex::new(opened),
            caches: Caches::default(),
            keyring: Keyring::default(),
            drawn_salts: Mutex::default(),
            damaged: RwLock::default(),
            #[cfg(feature = "sealing")]
            vault: Mutex::default(),
        }
    }

    /// Returns the view of a snapshot.
    pub(crate) const fn as_of<'a>(&'a self, snapshot: &'a Snapshot) -> View<'a> {
        View {
            core: self,
            snapshot,
        }
    }

    #[cfg(feature = "sealing")]
    pub(crate) const fn vault_cell(&self) -> &Mutex<Option<Arc<crate::vault::Vault>>> {
        &self.vault
    }

    pub(crate) const fn options(&self) -> &Options {
        &self.files.options
    }

    pub(crate) const fn manifest(&self) -> &Manifest {
        &self.files.manifest
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.files.disk
    }

    #[cfg(feature = "sealing")]
    pub(crate) const fn disk_handle(&self) -> &Arc<dyn Disk> {
        &self.files.disk
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.files.ledger
    }

    /// Returns the ledger for what outlives a question.
    pub(crate) const fn ledger_handle(&self) -> &Arc<Ledger> {
        &self.files.ledger
    }

    pub(crate) const fn ballast(&self) -> &Ballast {
        &self.files.ballast
    }

    /// Refuses a change of a store that was opened for reading.
    ///
    /// # Errors
    /// `ERR_STORAGE_READ_ONLY`.
    pub(crate) const fn authorize_changes(&self) -> Result<(), Error> {
        match self.files.is_writer {
            true => Ok(()),
            false => Err(Error::OpenedReadOnly),
        }
    }

    pub(crate) const fn caches(&self) -> &Caches {
        &self.caches
    }

    pub(crate) const fn keyring(&self) -> &Keyring {
        &self.keyring
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

    /// Returns the time by the store's clock.
    pub(crate) fn now(&self) -> Time {
        self.options().clock.now()
    }

    /// Returns the time that an entry written now would have.
    pub(crate) fn entry_time(&self) -> Time {
        self.known_state().clock().entry_time(self.now())
    }

    /// Returns what the clocks show now.
    pub(crate) fn read_clock(&self) -> Reading {
        reading(self.options())
    }

    /// Measures the clock from now on: after opening, for the first entry, and where an operator
    /// accepted it.
    pub(crate) fn measure_clock(&self) {
        let from = self.known_state().clock().measure_from(self.read_clock());
        *self.clock_opened.lock() = from;
    }

    /// Returns the reading from which this opening measures the clock.
    pub(crate) fn clock_opened(&self) -> Reading {
        *self.clock_opened.lock()
    }

    /// Returns the trusted time for a decision.
    pub(crate) fn moment(&self) -> TrustedNow {
        let (now, opened) = (self.read_clock(), self.clock_opened());
        self.known_state().clock().moment(now, opened)
    }

    /// Draws salts for entries that this process writes.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn salts(&self, count: usize, by: ProcessId) -> Result<Vec<[u8; 16]>, Error> {
        if count >= DrawnSalts::BLOCK {
            return Ok(draw_salts(self.random(), count)?);
        }
        let mut drawn = self.drawn_salts.lock();
        let salts = (0..count).map(|_| drawn.next(self.random(), by));
        Ok(salts.collect::<Result<_, _>>()?)
    }

    /// Returns the grains that were damaged when the index was built.
    pub(super) fn damaged_rows(&self) -> RwLockReadGuard<'_, Vec<EntryId>> {
        self.damaged.read()
    }

    pub(crate) fn set_damaged(&self, rows: Vec<EntryId>) {
        *self.damaged.write() = rows;
    }

    pub(crate) fn add_damaged(&self, row: EntryId) {
        self.damaged.write().push(row);
    }
}

fn reading(options: &Options) -> Reading {
    let steady_ms = options.clock.monotonic().as_millis();
    Reading {
        told: options.clock.now(),
        steady_ms: i64::try_from(steady_ms).unwrap_or(i64::MAX),
        boot: options.clock.boot(),
    }
}

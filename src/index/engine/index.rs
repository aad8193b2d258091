//! The index of a store, as the store sees it.
//!
//! One writer applies batches; readers take snapshots. It decides neither what is indexed nor what
//! a query means.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use crate::ledger::{Disk, EntryId, EntryLocation, LedgerPosition, StoreId};
use crate::process::Mutex;

use super::open::{self, IndexRecovery};
use super::shared::Engine;
use super::version::ImmutableMemtable;
use super::worker;
use crate::index::key::encoding::prefix_of;
use crate::index::{Batch, Error, IndexOptions, Snapshot, TermKey};

/// The index of a store: one writer publishes batches, many readers take snapshots.
///
/// ```
/// use std::sync::Arc;
/// use grainstore::grain::{Draft, Time};
/// use grainstore::index::{Index, IndexOptions, TermKey};
/// use grainstore::ledger::{Disk, EntryId, MemoryDisk, StoreId};
///
/// let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
/// let terms = TermKey::new([7; 16]);
/// let (index, _) = Index::open(&disk, StoreId::new([7; 16]), terms, IndexOptions::default());
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let before = index.snapshot();
/// let mut batch = index.batch();
/// batch.grain(EntryId::new(0), &grain, 1);
/// index.publish(batch, 1);
/// assert!(index.snapshot().candidates(&grain.address())?.contains(EntryId::new(0)));
/// assert!(before.candidates(&grain.address())?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Index {
    engine: Arc<Engine>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl Index {
    /// Opens the index of a store. An index in doubt, or one that cannot be read, is built anew and
    /// is not an error: [`IndexRecovery`] says so. The caller applies the ledger's entries from the
    /// watermark on.
    pub fn open(
        disk: &Arc<dyn Disk>,
        store_id: StoreId,
        terms: TermKey,
        options: IndexOptions,
    ) -> (Self, IndexRecovery) {
        let (engine, opened) = open::open(disk, store_id, terms, options);
        let index = Self {
            engine: Arc::new(engine),
            worker: Mutex::new(None),
        };
        (index, opened)
    }

    /// Returns the number of ledger entries that have been applied.
    pub fn watermark(&self) -> u64 {
        self.engine.version().watermark
    }

    /// Returns the number of ledger entries that are in runs, which the next opening need not apply
    /// again.
    pub fn flushed(&self) -> u64 {
        self.engine.version().flushed()
    }

    /// Returns a snapshot of the entries applied so far.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(&self.engine), self.engine.version())
    }

    /// Starts a batch for the next entries.
    pub fn batch(&self) -> Batch {
        Batch::new(self.engine.terms.clone())
    }

    /// Makes a batch visible; it covers the entries from the watermark to `entries`.
    pub fn publish(&self, batch: Batch, entries: u64) {
        let _publishing = self.engine.publishing.lock();
        let version = self.engine.version();
        if entries <= version.watermark {
            return;
        }
        let (memtable, addresses) = batch.finish(version.watermark..entries);
        // Rows past the watermark of a version are invisible in it, so the map may know them first.
        for (address, row) in addresses {
            self.engine.map_address(prefix_of(&address), row.get());
        }
        let (active, watermark) = version.with_memtable(memtable);
        self.engine
            .update(|next| next.set_active(active, watermark));
    }

    /// Adds a batch to the overlay of a person: keys of entries that are sealed for them. They stay
    /// in memory and are part of every later snapshot, until [`Index::drop_overlay`]. Rows from the
    /// watermark on become visible with [`Index::publish`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use grainstore::grain::{Draft, Time};
    /// use grainstore::index::{Index, IndexOptions, TermKey};
    /// use grainstore::ledger::{Disk, EntryId, MemoryDisk, StoreId};
    ///
    /// let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    /// let terms = TermKey::new([7; 16]);
    /// let (index, _) = Index::open(&disk, StoreId::new([7; 16]), terms, IndexOptions::default());
    /// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
    /// let mut batch = index.batch();
    /// batch.grain(EntryId::new(0), &grain, 1);
    /// index.publish_overlay([1; 16], batch);
    /// index.publish(index.batch(), 1);
    /// assert_eq!(index.snapshot().grains().len(), 1);
    /// index.drop_overlay(&[1; 16]);
    /// assert!(index.snapshot().grains().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn publish_overlay(&self, uid: [u8; 16], batch: Batch) {
        let _publishing = self.engine.publishing.lock();
        let (memtable, _) = batch.finish(0..0);
        self.engine.update(|next| next.add_overlay(uid, memtable));
    }

    /// Takes over the overlays of another index of the same ledger, less the rows erased there.
    #[cfg(feature = "sealing")]
    pub(crate) fn adopt_overlays(&self, other: &Self) {
        let mut overlays = other.engine.version().overlays.clone();
        if let Some(erased) = other.engine.erased() {
            for overlay in &mut overlays {
                let kept = overlay.memtable.without(&|row| erased.contains(row));
                overlay.memtable = Arc::new(kept);
            }
        }
        let _publishing = self.engine.publishing.lock();
        self.engine.update(|next| next.overlays = overlays);
    }

    /// Removes the overlay of a person from later snapshots. Those taken before keep it.
    pub fn drop_overlay(&self, uid: &[u8; 16]) {
        let _publishing = self.engine.publishing.lock();
        self.engine
            .update(|next| next.overlays.retain(|overlay| overlay.uid != *uid));
    }

    /// Returns whether a person has an overlay.
    pub fn has_overlay(&self, uid: &[u8; 16]) -> bool {
        let version = self.engine.version();
        version.overlays.iter().any(|overlay| overlay.uid == *uid)
    }

    /// Returns the entries in the active memtables.
    pub fn active_entries(&self) -> Range<EntryId> {
        let active = self.active();
        EntryId::new(active.start)..EntryId::new(active.end)
    }

    fn active(&self) -> Range<u64> {
        let version = self.engine.version();
        version.active_start()..version.watermark
    }

    /// Returns whether the active memtables are full.
    pub fn is_memtable_full(&self) -> bool {
        let active = self.active();
        active.end - active.start >= self.engine.options.flush_rows
    }

    /// Makes the active memtables immutable and has them written to a run. `locations` are those of
    /// the [active](Self::active_entries) entries; `position` is that of the ledger after them, if
    /// a frame ends there.
    ///
    /// Waits while two sets of immutable memtables are not written yet, unless writing fails: then
    /// the store goes on in memory.
    ///
    /// # Errors
    /// Without a background thread, `ERR_STORAGE_IO` and `ERR_STORAGE_FULL`. Memtables that could
    /// not be written stay in memory until the next attempt.
    pub fn rotate_memtable(
        &self,
        position: Option<LedgerPosition>,
        locations: Vec<EntryLocation>,
    ) -> Result<(), Error> {
        let publishing = self.engine.publishing.lock();
        let active = self.active();
        if active.is_empty() || locations.len() as u64 != active.end - active.start {
            return Ok(());
        }
        let immutable = Arc::new(ImmutableMemtable {
            end: active.end,
            locations,
            position: position.filter(|position| position.entries == active.end),
        });
        self.engine.update(|next| next.immutable.push(immutable));
        drop(publishing);
        if self.engine.options.background && self.ensure_worker() {
            worker::request(&self.engine);
            return Ok(());
        }
        let maintenance = &mut *self.engine.maintenance.lock();
        self.engine.flush(maintenance)?;
        self.engine.merge_due(maintenance)
    }

    /// Writes the immutable memtables to runs, and returns when they are durable.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn flush(&self) -> Result<(), Error> {
        self.engine.flush(&mut self.engine.maintenance.lock())
    }

    /// Merges all runs into one.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn merge_all(&self) -> Result<(), Error> {
        let maintenance = &mut *self.engine.maintenance.lock();
        self.engine.flush(maintenance)?;
        self.engine.merge_all(maintenance)
    }

    /// Hides rows from every snapshot, however old, at once and until the process ends.
    pub fn erase(&self, rows: impl IntoIterator<Item = EntryId>) {
        self.engine.erase(rows.into_iter().map(EntryId::get));
    }

    /// Removes the keys of erased rows, and those about erased grains, from memory and files. Files
    /// that older snapshots read stay until those are dropped.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn expunge(&self) -> Result<(), Error> {
        let _publishing = self.engine.publishing.lock();
        self.engine.expunge(&mut self.engine.maintenance.lock())
    }

    /// Removes everything, on disk too, so that the index is built anew. Rows that were erased
    /// must not be applied again.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub fn reset(&self) -> Result<(), Error> {
        let _publishing = self.engine.publishing.lock();
        let mut maintenance = self.engine.maintenance.lock();
        maintenance.is_detached = true;
        open::attach(&self.engine, &mut maintenance)?;
        if let Some(erased) = self.engine.erased() {
            maintenance.expunged |= &*erased;
        }
        self.engine.update(|next| {
            *next = super::version::Version {
                overlays: std::mem::take(&mut next.overlays),
                ..super::version::Version::default()
            };
        });
        if let Some(map) = &self.engine.map {
            map.clear();
        }
        Ok(())
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.engine.version().runs.len()
    }

    /// Returns the total length of the runs, in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.engine
            .version()
            .runs
            .iter()
            .map(|run| run.len_bytes)
            .sum()
    }

    pub(in crate::index) const fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Starts the worker unless it runs; returns whether it runs.
    fn ensure_worker(&self) -> bool {
        let mut worker = self.worker.lock();
        if worker.as_ref().is_none_or(JoinHandle::is_finished) {
            *worker = worker::spawn(&self.engine)
                .inspect_err(|error| tracing::warn!(%error, "no thread to write the index"))
                .ok();
        }
        worker.is_some()
    }

    /// Returns the last position in the ledger that the runs on disk know.
    pub fn ledger_position(&self) -> Option<LedgerPosition> {
        let version = self.engine.version();
        version.runs.iter().rev().find_map(|run| run.position)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        worker::stop(&self.engine);
        if let Some(worker) = self.worker.get_mut().take() {
            // A worker that panicked has reported it; the next opening does the rest of its work.
            drop(worker.join());
        }
        self.engine.is_open.store(false, Ordering::Release);
    }
}

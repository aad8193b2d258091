//! The state that the index, its worker and its snapshots share, with its locks.
//!
//! Flushing and merging are in `merge`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use roaring::RoaringTreemap;

use crate::codec::ContentAddress;
use crate::ledger::{Disk, EntryId, StoreId};
use crate::process::{Condvar, Mutex, RwLock};

use super::result_cache::{CachedResult, CurrentRows, ResultKey};
use super::version::Version;
use crate::index::key::encoding::{Key, Single, prefix_of};
use crate::index::memory::address_map::AddressMap;
use crate::index::run::RunCursor;
use crate::index::run::cache::{BLOCK_SHARDS, Blocks, Cache};
use crate::index::{Addresses, Error, Family, IndexOptions, Rows, TermKey};

/// The state that the index, its worker and its snapshots share.
///
/// Locks are taken in the order of the fields `publishing`, `maintenance`, `signal`, `version`.
pub(in crate::index) struct Engine {
    pub(in crate::index) disk: Arc<dyn Disk>,
    pub(in crate::index) store_id: StoreId,
    pub(in crate::index) terms: TermKey,
    pub(in crate::index) options: IndexOptions,
    pub(in crate::index) cache: Blocks,
    /// Results of queries on runs.
    pub(in crate::index) results: Cache<ResultKey, CachedResult>,
    /// The current grains of the version that was asked last.
    pub(in crate::index) current: Mutex<Option<CurrentRows>>,
    /// `None` if Bloom filters are used instead.
    pub(in crate::index) map: Option<AddressMap>,
    /// Held while the active memtables change.
    pub(super) publishing: Mutex<()>,
    /// Held while runs are written and versions published.
    pub(in crate::index) maintenance: Mutex<Maintenance>,
    pub(super) signal: Mutex<Signal>,
    /// Wakes the worker.
    pub(super) work: Condvar,
    /// Wakes writers that wait for immutable memtables to become runs.
    pub(super) room: Condvar,
    version: RwLock<Arc<Version>>,
    erased: RwLock<Arc<RoaringTreemap>>,
    has_erased: AtomicBool,
    /// Whether the index has not been dropped; snapshots may outlive it.
    pub(in crate::index) is_open: Arc<AtomicBool>,
}

/// The lowest and the highest key of a range.
type Bounds = (Single, Single);

/// The state of the thread that writes runs.
#[derive(Debug)]
pub(in crate::index) struct Maintenance {
    /// The number of the next run; no number is used twice.
    pub(in crate::index) next: u64,
    /// The erased rows of which no run has keys any more.
    pub(super) expunged: RoaringTreemap,
    /// Whether the disk may hold files of an earlier index that could not be removed.
    pub(super) is_detached: bool,
    /// The runs of which publishing failed: whether `CURRENT` names them is not known.
    pub(super) doubtful: Vec<u64>,
}

/// The signals between the writer and the worker.
#[derive(Debug, Default)]
pub(super) struct Signal {
    /// There is work.
    pub(super) is_pending: bool,
    /// The index is being dropped.
    pub(super) is_stopping: bool,
    /// The error of the last attempt to write runs; writers do not wait then.
    pub(super) failure: Option<String>,
}

impl Engine {
    pub(in crate::index) fn new(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        terms: TermKey,
        options: IndexOptions,
        next: u64,
    ) -> Self {
        Self {
            disk,
            store_id,
            terms,
            cache: Cache::new(options.cache_bytes, BLOCK_SHARDS),
            results: Cache::new(options.result_cache_bytes, 1),
            current: Mutex::default(),
            map: (options.addresses == Addresses::Map).then(AddressMap::new),
            options,
            publishing: Mutex::default(),
            maintenance: Mutex::new(Maintenance {
                next,
                expunged: RoaringTreemap::new(),
                is_detached: false,
                doubtful: Vec::new(),
            }),
            signal: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            version: RwLock::default(),
            erased: RwLock::default(),
            has_erased: AtomicBool::new(false),
            is_open: Arc::new(AtomicBool::new(true)),
        }
    }

    pub(in crate::index) fn version(&self) -> Arc<Version> {
        Arc::clone(&self.version.read())
    }

    /// Replaces the version in one step.
    pub(in crate::index) fn update(&self, change: impl FnOnce(&mut Version)) {
        let mut current = self.version.write();
        let mut version = Version::clone(&current);
        change(&mut version);
        let before = std::mem::replace(&mut *current, Arc::new(version));
        drop(current);
        // Dropped after the lock: it may hold the last reference to large memtables.
        drop(before);
    }

    /// Returns the erased rows; `None` while there are none, which is nearly always.
    pub(in crate::index) fn erased(&self) -> Option<Arc<RoaringTreemap>> {
        let any = self.has_erased.load(Ordering::Acquire);
        any.then(|| Arc::clone(&self.erased.read()))
    }

    pub(super) fn erase(&self, rows: impl IntoIterator<Item = u64>) {
        let mut erased = self.erased.write();
        let mut more = RoaringTreemap::clone(&erased);
        more.extend(rows);
        *erased = Arc::new(more);
        self.has_erased.store(true, Ordering::Release);
    }

    /// Adds a grain to the address map.
    pub(super) fn map_address(&self, prefix: u64, row: u64) {
        if let Some(map) = &self.map {
            map.insert(prefix & self.prefix_mask(), row);
        }
    }

    pub(in crate::index) fn candidates(
        &self,
        version: &Version,
        address: &ContentAddress,
    ) -> Result<Rows, Error> {
        let prefix = prefix_of(address) & self.prefix_mask();
        let mut rows = Vec::new();
        let bounds = self.key_bounds(prefix, prefix);
        match &self.map {
            Some(map) => map.find(prefix, version.watermark, &mut rows),
            None => {
                let is_exact = self.prefix_mask() == u64::MAX;
                self.search(version, is_exact.then_some(prefix), bounds, &mut rows)?;
            }
        }
        Ok(self.present(version, bounds, rows))
    }

    /// Returns the rows of grains whose prefixes are from one to another, both included.
    pub(in crate::index) fn candidates_between(
        &self,
        version: &Version,
        [first, last]: [u64; 2],
    ) -> Result<Rows, Error> {
        let mut rows = Vec::new();
        let bounds = self.key_bounds(first & self.prefix_mask(), last);
        self.search(version, None, bounds, &mut rows)?;
        Ok(self.present(version, bounds, rows))
    }

    /// Adds the rows of the overlays and leaves out those that are erased; lowest first.
    fn present(&self, version: &Version, (low, high): Bounds, mut rows: Vec<u64>) -> Rows {
        for overlay in &version.overlays {
            let keys = overlay.memtable.range(Family::Address, low, high);
            let found = keys.iter().map(|key| key.row());
            rows.extend(found.filter(|row| *row < version.watermark));
        }
        if let Some(erased) = self.erased() {
            rows.retain(|row| !erased.contains(*row));
        }
        rows.into_iter().map(EntryId::new).collect()
    }

    /// Searches without a map: in all runs, or in those whose filter may contain the one prefix.
    fn search(
        &self,
        version: &Version,
        exact: Option<u64>,
        (low, high): Bounds,
        rows: &mut Vec<u64>,
    ) -> Result<(), Error> {
        for run in &version.runs {
            if exact.is_some_and(|prefix| !run.may_hold(prefix)) {
                continue;
            }
            let found = RunCursor::new(run, Family::Address, &self.cache, low, high)?;
            let Some(mut found) = found else { continue };
            while let Some(key) = found.next(&self.cache, high)? {
                rows.push(key.row());
            }
        }
        for memtable in &version.memtables {
            let keys = memtable.range(Family::Address, low, high);
            rows.extend(keys.iter().map(|key| key.row()));
        }
        // A view of an earlier moment can end inside a run or a memtable.
        rows.retain(|row| *row < version.watermark);
        Ok(())
    }

    fn key_bounds(&self, first: u64, last: u64) -> Bounds {
        (
            Single::new([first, 0], 0),
            Single::new([last | !self.prefix_mask(), 0], u64::MAX),
        )
    }

    pub(super) fn prefix_mask(&self) -> u64 {
        let ignored = 64_u32.saturating_sub(self.options.prefix_bytes.saturating_mul(8));
        u64::MAX.checked_shl(ignored).unwrap_or(0)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

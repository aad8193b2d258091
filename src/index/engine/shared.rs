use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Condvar, Mutex, RwLock};
use roaring::RoaringTreemap;

use crate::codec::ContentAddress;
use crate::ledger::{Disk, StoreId};

use super::result_cache::{Derived, DerivedId};
use super::version::State;
use crate::index::key::encoding::{Key, Single, prefix_of};
use crate::index::memory::address_map::AddressMap;
use crate::index::run::RunCursor;
use crate::index::run::cache::{BLOCK_SHARDS, Blocks, Cache};
use crate::index::{Addresses, Error, Family, Options, Rows, TermKey};

/// What the index, its worker and its snapshots share.
///
/// Locks are taken in the order of the fields `publishing`, `maintenance`, `signal`, `state`.
pub(in crate::index) struct Engine {
    pub(in crate::index) disk: Arc<dyn Disk>,
    pub(in crate::index) store_id: StoreId,
    pub(in crate::index) terms: TermKey,
    pub(in crate::index) options: Options,
    pub(in crate::index) cache: Blocks,
    /// What questions have worked out about runs.
    pub(in crate::index) derived: Cache<DerivedId, Derived>,
    /// None where filters stand in for it.
    pub(in crate::index) map: Option<AddressMap>,
    /// Held while the memory that is not frozen changes.
    pub(super) publishing: Mutex<()>,
    /// Held while runs are written and versions published.
    pub(in crate::index) maintenance: Mutex<Maintenance>,
    pub(super) signal: Mutex<Signal>,
    /// Wakes the worker.
    pub(super) work: Condvar,
    /// Wakes the writer that waits for frozen memory to become runs.
    pub(super) room: Condvar,
    state: RwLock<Arc<State>>,
    erased: RwLock<Arc<RoaringTreemap>>,
    has_erased: AtomicBool,
    /// Whether the index has not been dropped; snapshots may outlive it.
    pub(in crate::index) is_open: Arc<AtomicBool>,
}

/// What only the one who writes runs knows.
#[derive(Debug)]
pub(in crate::index) struct Maintenance {
    /// The number of the next run; none is used twice.
    pub(in crate::index) next: u64,
    /// The erased rows that no run knows of any more.
    pub(super) expunged: RoaringTreemap,
}

/// What the writer and the worker tell each other.
#[derive(Debug, Default)]
pub(super) struct Signal {
    /// There is something to do.
    pub(super) is_pending: bool,
    /// The index is being dropped.
    pub(super) is_stopping: bool,
    /// Why the last attempt to write runs failed; nobody waits for room then.
    pub(super) failure: Option<String>,
}

impl Engine {
    pub(in crate::index) fn new(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        terms: TermKey,
        options: Options,
        next: u64,
    ) -> Self {
        Self {
            disk,
            store_id,
            terms,
            cache: Cache::new(options.cache_bytes, BLOCK_SHARDS),
            derived: Cache::new(options.derived_bytes, 1),
            map: (options.addresses == Addresses::Map).then(AddressMap::new),
            options,
            publishing: Mutex::default(),
            maintenance: Mutex::new(Maintenance {
                next,
                expunged: RoaringTreemap::new(),
            }),
            signal: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            state: RwLock::default(),
            erased: RwLock::default(),
            has_erased: AtomicBool::new(false),
            is_open: Arc::new(AtomicBool::new(true)),
        }
    }

    pub(in crate::index) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read())
    }

    /// Changes the state in one step.
    pub(in crate::index) fn update(&self, change: impl FnOnce(&mut State)) {
        let mut current = self.state.write();
        let mut state = State::clone(&current);
        change(&mut state);
        let before = std::mem::replace(&mut *current, Arc::new(state));
        drop(current);
        // Freed behind the lock: it may be the last that holds large chunks.
        drop(before);
    }

    /// Returns the erased rows; none while there are none, which is nearly always.
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

    /// Remembers where a grain is.
    pub(super) fn learn(&self, prefix: u64, row: u64) {
        if let Some(map) = &self.map {
            map.insert(prefix & self.prefix_mask(), row);
        }
    }

    pub(in crate::index) fn candidates(
        &self,
        state: &State,
        address: &ContentAddress,
    ) -> Result<Rows, Error> {
        let prefix = prefix_of(address) & self.prefix_mask();
        let mut rows = Vec::new();
        match &self.map {
            Some(map) => map.find(prefix, state.watermark, &mut rows),
            None => self.search(state, prefix, &mut rows)?,
        }
        if let Some(erased) = self.erased() {
            rows.retain(|row| !erased.contains(*row));
        }
        Ok(Rows::from(rows))
    }

    /// Looks for grains without a map: in the runs whose filter does not deny them.
    fn search(&self, state: &State, prefix: u64, rows: &mut Vec<u64>) -> Result<(), Error> {
        let mask = self.prefix_mask();
        let low = Single::new([prefix, 0, 0], 0);
        let high = Single::new([prefix | !mask, 0, 0], u64::MAX);
        for run in &state.runs {
            if mask == u64::MAX && !run.may_hold(prefix) {
                continue;
            }
            let found = RunCursor::new(run, Family::Address, &self.cache, low, high)?;
            let Some(mut found) = found else { continue };
            while let Some(key) = found.next(&self.cache, high)? {
                rows.push(key.row());
            }
        }
        for chunk in &state.memory {
            let keys = chunk.range(Family::Address, low, high);
            rows.extend(keys.iter().map(|key| key.row()));
        }
        // A view of an earlier moment ends inside a run or a chunk.
        rows.retain(|row| *row < state.watermark);
        Ok(())
    }

    fn prefix_mask(&self) -> u64 {
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

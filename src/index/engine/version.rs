use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::ledger::{EntryLocation, LedgerPosition};

use crate::index::memory::memtable::{Memtable, span};
use crate::index::run::Run;

/// What the index holds at one moment; a new one replaces it at every change.
#[derive(Debug, Clone, Default)]
pub(in crate::index) struct Version {
    /// Runs, in the order of their rows.
    pub(in crate::index) runs: Vec<Arc<Run>>,
    /// Chunks behind the runs, in the order of their rows; those of `frozen` come first.
    pub(in crate::index) memtables: Vec<Arc<Memtable>>,
    /// Stretches of the memory that are to become runs.
    pub(in crate::index) immutable: Vec<Arc<ImmutableMemtable>>,
    /// How many ledger entries it covers.
    pub(in crate::index) watermark: u64,
    /// The later entries that a view of an earlier moment sees in place of erased ones.
    pub(in crate::index) fallbacks: Option<Arc<RoaringTreemap>>,
}

/// Entries whose memtables change no more and are to become a run.
#[derive(Debug)]
pub(in crate::index) struct ImmutableMemtable {
    pub(in crate::index) end: u64,
    pub(in crate::index) locations: Vec<EntryLocation>,
    pub(in crate::index) position: Option<LedgerPosition>,
}

impl Version {
    /// Returns whether what entry `row` says is seen here.
    pub(in crate::index) fn shows(&self, row: u64) -> bool {
        let fallbacks = self.fallbacks.as_ref();
        row < self.watermark || fallbacks.is_some_and(|fallbacks| fallbacks.contains(row))
    }

    /// Returns how many ledger entries the runs cover.
    pub(super) fn flushed(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.rows.end)
    }

    /// Returns the first ledger entry of the memory that is not immutable.
    pub(super) fn active_start(&self) -> u64 {
        let immutable = self.immutable.last().map(|immutable| immutable.end);
        immutable.unwrap_or_else(|| self.flushed())
    }

    /// Returns the version after a batch: its memtable is merged with those before it once there are
    /// [`FAN_IN`] of a size, so that a key is merged a few times and there are few memtables to ask.
    pub(super) fn with_memtable(&self, memtable: Memtable) -> (Vec<Arc<Memtable>>, u64) {
        let first = self.active_start();
        let active = self
            .memtables
            .iter()
            .filter(|memtable| memtable.rows.start >= first);
        let mut active: Vec<_> = active.cloned().collect();
        let watermark = memtable.rows.end;
        active.push(Arc::new(memtable));
        loop {
            let level = active.last().map_or(0, |memtable| memtable.level);
            let equal = active
                .iter()
                .rev()
                .take_while(|memtable| memtable.level <= level);
            let from = active.len() - equal.count();
            let (_, tail) = active.split_at(from);
            let parts: Vec<&Memtable> = tail.iter().map(|memtable| &**memtable).collect();
            let rows = span(&parts);
            if parts.len() < FAN_IN || rows.end - rows.start > MERGED_ROWS_MAX {
                return (active, watermark);
            }
            let merged = Memtable::merge(&parts);
            active.truncate(from);
            active.push(Arc::new(merged));
        }
    }

    /// Puts the memory that is not frozen in place of what there is of it.
    pub(super) fn set_active(&mut self, active: Vec<Arc<Memtable>>, watermark: u64) {
        let first = self.active_start();
        self.memtables.retain(|memtable| memtable.rows.end <= first);
        self.memtables.extend(active);
        self.watermark = watermark;
    }

    /// Puts a run in place of the first frozen stretch.
    pub(super) fn set_flushed(&mut self, run: Arc<Run>) {
        let end = run.rows.end;
        self.memtables.retain(|memtable| memtable.rows.start >= end);
        self.immutable.retain(|immutable| immutable.end > end);
        self.runs.push(run);
    }

    /// Puts a run in place of those whose rows it covers.
    pub(super) fn set_merged(&mut self, run: Arc<Run>) {
        let inside =
            |old: &Arc<Run>| run.rows.start <= old.rows.start && old.rows.end <= run.rows.end;
        let at = self.runs.iter().position(inside).unwrap_or(self.runs.len());
        self.runs.retain(|old| !inside(old));
        self.runs.insert(at, run);
    }
}

/// How many memtables, or runs, of a size become one.
pub(super) const FAN_IN: usize = 4;

/// Chunks over more entries are left to the flush.
const MERGED_ROWS_MAX: u64 = 20_000;

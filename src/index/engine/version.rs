//! Versions: everything the index holds at one moment, immutable and shared.
//!
//! A change makes a new version. Which runs exist on disk is the matter of `current`.

use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::ledger::{EntryLocation, LedgerPosition};

use crate::index::memory::memtable::{Memtable, span};
use crate::index::run::Run;

/// One version of the index; every change replaces it by a new one.
#[derive(Debug, Clone, Default)]
pub(in crate::index) struct Version {
    /// Runs, in the order of their rows.
    pub(in crate::index) runs: Vec<Arc<Run>>,
    /// The memtables behind the runs, in the order of their rows; immutable ones come first.
    pub(in crate::index) memtables: Vec<Arc<Memtable>>,
    /// Memtables of the entries of unlocked persons, which no run ever holds (OMS 20.3). Their
    /// rows lie among those of the runs and the other memtables.
    pub(in crate::index) overlays: Vec<Overlay>,
    /// The sets of immutable memtables, each of which becomes a run.
    pub(in crate::index) immutable: Vec<Arc<ImmutableMemtable>>,
    /// The number of ledger entries that it covers.
    pub(in crate::index) watermark: u64,
    /// The later entries that a view of an earlier moment sees in place of erased ones (fallback
    /// entries).
    pub(in crate::index) fallbacks: Option<Arc<RoaringTreemap>>,
}

/// A memtable of entries that are sealed for one person, in the order of their folding.
#[derive(Debug, Clone)]
pub(in crate::index) struct Overlay {
    /// The pseudonym of the person.
    pub(in crate::index) uid: [u8; 16],
    pub(in crate::index) memtable: Arc<Memtable>,
}

/// A set of memtables that change no more and become one run: those up to `end` behind the set
/// before.
#[derive(Debug)]
pub(in crate::index) struct ImmutableMemtable {
    pub(in crate::index) end: u64,
    pub(in crate::index) locations: Vec<EntryLocation>,
    pub(in crate::index) position: Option<LedgerPosition>,
}

impl Version {
    /// Returns whether entry `row` is visible.
    pub(in crate::index) fn is_visible(&self, row: u64) -> bool {
        let fallbacks = self.fallbacks.as_ref();
        row < self.watermark || fallbacks.is_some_and(|fallbacks| fallbacks.contains(row))
    }

    /// Returns every memtable: those that become runs, then the overlays.
    pub(in crate::index) fn in_memory(&self) -> impl Iterator<Item = &Memtable> + Clone {
        let overlays = self.overlays.iter().map(|overlay| &*overlay.memtable);
        self.memtables
            .iter()
            .map(|memtable| &**memtable)
            .chain(overlays)
    }

    /// Adds keys to the overlay of a person. [`FAN_IN`] memtables of a size are merged.
    pub(super) fn add_overlay(&mut self, uid: [u8; 16], memtable: Memtable) {
        let (mut own, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.overlays)
            .into_iter()
            .partition(|overlay| overlay.uid == uid);
        self.overlays = others;
        let memtable = Arc::new(memtable);
        own.push(Overlay { uid, memtable });
        loop {
            let level = own.last().map_or(0, |overlay| overlay.memtable.level);
            let equal = own.iter().rev();
            let equal = equal.take_while(|overlay| overlay.memtable.level <= level);
            let from = own.len() - equal.count();
            let (_, tail) = own.split_at(from);
            if tail.len() < FAN_IN {
                break;
            }
            let parts: Vec<&Memtable> = tail.iter().map(|overlay| &*overlay.memtable).collect();
            let memtable = Arc::new(Memtable::merge(&parts));
            own.truncate(from);
            own.push(Overlay { uid, memtable });
        }
        self.overlays.append(&mut own);
    }

    /// Returns the number of ledger entries that the runs cover.
    pub(super) fn flushed(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.rows.end)
    }

    /// Returns the first ledger entry of the active memtables.
    pub(super) fn active_start(&self) -> u64 {
        let immutable = self.immutable.last().map(|immutable| immutable.end);
        immutable.unwrap_or_else(|| self.flushed())
    }

    /// Returns the active memtables and the watermark after a batch. [`FAN_IN`] memtables of a size
    /// are merged, so that a key is merged a few times and a query reads few memtables.
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

    /// Replaces the active memtables.
    pub(super) fn set_active(&mut self, active: Vec<Arc<Memtable>>, watermark: u64) {
        let first = self.active_start();
        self.memtables.retain(|memtable| memtable.rows.end <= first);
        self.memtables.extend(active);
        self.watermark = watermark;
    }

    /// Replaces the first set of immutable memtables by its run.
    pub(super) fn set_flushed(&mut self, run: Arc<Run>) {
        let end = run.rows.end;
        self.memtables.retain(|memtable| memtable.rows.start >= end);
        self.immutable.retain(|immutable| immutable.end > end);
        self.runs.push(run);
    }

    /// Replaces the runs whose rows a run covers by it.
    pub(super) fn set_merged(&mut self, run: Arc<Run>) {
        let inside =
            |old: &Arc<Run>| run.rows.start <= old.rows.start && old.rows.end <= run.rows.end;
        let at = self.runs.iter().position(inside).unwrap_or(self.runs.len());
        self.runs.retain(|old| !inside(old));
        self.runs.insert(at, run);
    }
}

/// The number of memtables, or runs, of a size that are merged into one.
pub(super) const FAN_IN: usize = 4;

/// Memtables over more entries are merged by the flush only.
const MERGED_ROWS_MAX: u64 = 20_000;

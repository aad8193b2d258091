use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::ledger::{EntryPlace, Mark};

use crate::index::memory::memtable::{Chunk, span};
use crate::index::run::Run;

/// What the index holds at one moment; a new one replaces it at every change.
#[derive(Debug, Clone, Default)]
pub(in crate::index) struct State {
    /// Runs, in the order of their rows.
    pub(in crate::index) runs: Vec<Arc<Run>>,
    /// Chunks behind the runs, in the order of their rows; those of `frozen` come first.
    pub(in crate::index) memory: Vec<Arc<Chunk>>,
    /// Stretches of the memory that are to become runs.
    pub(in crate::index) frozen: Vec<Arc<Frozen>>,
    /// How many ledger entries it covers.
    pub(in crate::index) watermark: u64,
    /// The later entries that a view of an earlier moment sees in place of erased ones.
    pub(in crate::index) later: Option<Arc<RoaringTreemap>>,
}

/// Entries whose chunks change no more and are to become a run.
#[derive(Debug)]
pub(in crate::index) struct Frozen {
    pub(in crate::index) end: u64,
    pub(in crate::index) places: Vec<EntryPlace>,
    pub(in crate::index) mark: Option<Mark>,
}

impl State {
    /// Returns whether what entry `row` says is seen here.
    pub(in crate::index) fn shows(&self, row: u64) -> bool {
        let later = self.later.as_ref();
        row < self.watermark || later.is_some_and(|later| later.contains(row))
    }

    /// Returns how many ledger entries the runs cover.
    pub(super) fn flushed(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.rows.end)
    }

    /// Returns the first ledger entry of the memory that is not frozen.
    pub(super) fn active_first(&self) -> u64 {
        let frozen = self.frozen.last().map(|frozen| frozen.end);
        frozen.unwrap_or_else(|| self.flushed())
    }

    /// Returns the state after a batch: its chunk is merged with those before it once there are
    /// [`FAN_IN`] of a size, so that a key is merged a few times and there are few chunks to ask.
    pub(super) fn with_chunk(&self, chunk: Chunk) -> (Vec<Arc<Chunk>>, u64) {
        let first = self.active_first();
        let active = self.memory.iter().filter(|chunk| chunk.rows.start >= first);
        let mut active: Vec<_> = active.cloned().collect();
        let watermark = chunk.rows.end;
        active.push(Arc::new(chunk));
        loop {
            let level = active.last().map_or(0, |chunk| chunk.level);
            let equal = active.iter().rev().take_while(|chunk| chunk.level <= level);
            let from = active.len() - equal.count();
            let (_, tail) = active.split_at(from);
            let parts: Vec<&Chunk> = tail.iter().map(|chunk| &**chunk).collect();
            let rows = span(&parts);
            if parts.len() < FAN_IN || rows.end - rows.start > MERGED_ROWS_MAX {
                return (active, watermark);
            }
            let merged = Chunk::merge(&parts);
            active.truncate(from);
            active.push(Arc::new(merged));
        }
    }

    /// Puts the memory that is not frozen in place of what there is of it.
    pub(super) fn set_active(&mut self, active: Vec<Arc<Chunk>>, watermark: u64) {
        let first = self.active_first();
        self.memory.retain(|chunk| chunk.rows.end <= first);
        self.memory.extend(active);
        self.watermark = watermark;
    }

    /// Puts a run in place of the first frozen stretch.
    pub(super) fn set_flushed(&mut self, run: Arc<Run>) {
        let end = run.rows.end;
        self.memory.retain(|chunk| chunk.rows.start >= end);
        self.frozen.retain(|frozen| frozen.end > end);
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

/// How many chunks, or runs, of a size become one.
pub(super) const FAN_IN: usize = 4;

/// Chunks over more entries are left to the flush.
const MERGED_ROWS_MAX: u64 = 20_000;

//! A cache with the CLOCK policy, bounded in bytes and sharded.
//!
//! It holds blocks of runs and results of scans; both belong to runs, which never change.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::process::Mutex;

use super::block::Block;

/// A cache bounded in bytes, with CLOCK eviction: a value not used since the hand last passed is
/// evicted first.
pub(in crate::index) struct Cache<I, T> {
    shards: Vec<Mutex<Shard<I, T>>>,
    bytes_max: usize,
}

/// Blocks that were read and checked.
pub(in crate::index) type Blocks = Cache<BlockId, Block>;

/// The run's number and the block's place in its file.
pub(super) type BlockId = (u64, u64);

/// The key of a cached value.
pub(in crate::index) trait CacheKey: Copy + Eq + Hash {
    /// Returns a number that spreads keys over shards.
    fn spread(&self) -> u64;
}

/// A cached value.
pub(in crate::index) trait CacheValue {
    fn len_bytes(&self) -> usize;
}

impl CacheKey for BlockId {
    fn spread(&self) -> u64 {
        // Neighbouring blocks are about 4 KiB apart.
        (self.1 >> 12).wrapping_add(self.0)
    }
}

impl CacheValue for Block {
    fn len_bytes(&self) -> usize {
        Self::len_bytes(self)
    }
}

struct Shard<I, T> {
    slot_of: HashMap<I, usize>,
    slots: Vec<Slot<I, T>>,
    hand: usize,
    bytes: usize,
}

struct Slot<I, T> {
    id: I,
    kept: Arc<T>,
    used: bool,
}

impl<I, T> std::fmt::Debug for Cache<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

impl<I: CacheKey, T: CacheValue> Cache<I, T> {
    /// Makes an empty cache with so many shards, each with a lock of its own. A value larger than a
    /// shard is not cached.
    pub(in crate::index) fn new(bytes_max: usize, shards: usize) -> Self {
        Self {
            shards: std::iter::repeat_with(|| Mutex::new(Shard::new()))
                .take(shards)
                .collect(),
            bytes_max: bytes_max / shards.max(1),
        }
    }

    pub(in crate::index) fn get(&self, id: I) -> Option<Arc<T>> {
        let mut shard = self.shard(id)?.lock();
        let at = *shard.slot_of.get(&id)?;
        let slot = shard.slots.get_mut(at)?;
        slot.used = true;
        Some(Arc::clone(&slot.kept))
    }

    pub(in crate::index) fn insert(&self, id: I, kept: Arc<T>) {
        if let Some(shard) = self.shard(id) {
            shard.lock().insert(id, kept, self.bytes_max);
        }
    }

    fn shard(&self, id: I) -> Option<&Mutex<Shard<I, T>>> {
        let at = usize::try_from(id.spread()).unwrap_or(0);
        self.shards.get(at.checked_rem(self.shards.len())?)
    }
}

impl<I: CacheKey, T: CacheValue> Shard<I, T> {
    fn new() -> Self {
        Self {
            slot_of: HashMap::new(),
            slots: Vec::new(),
            hand: 0,
            bytes: 0,
        }
    }

    fn insert(&mut self, id: I, kept: Arc<T>, bytes_max: usize) {
        if self.slot_of.contains_key(&id) || kept.len_bytes() > bytes_max {
            return;
        }
        self.bytes += kept.len_bytes();
        while self.bytes > bytes_max && !self.slots.is_empty() {
            self.evict();
        }
        self.slot_of.insert(id, self.slots.len());
        self.slots.push(Slot {
            id,
            kept,
            used: false,
        });
    }

    fn evict(&mut self) {
        loop {
            self.hand = if self.hand < self.slots.len() {
                self.hand
            } else {
                0
            };
            match self.slots.get_mut(self.hand) {
                Some(slot) if slot.used => slot.used = false,
                _ => break,
            }
            self.hand += 1;
        }
        if self.hand < self.slots.len() {
            let gone = self.slots.swap_remove(self.hand);
            self.bytes -= gone.kept.len_bytes();
            self.slot_of.remove(&gone.id);
            if let Some(moved) = self.slots.get(self.hand) {
                self.slot_of.insert(moved.id, self.hand);
            }
        }
    }
}

/// The number of shards of the block cache.
pub(in crate::index) const BLOCK_SHARDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_stays_within_its_bytes_and_keeps_what_is_used() {
        let cache = Cache::new(BLOCK_SHARDS * 1_000, BLOCK_SHARDS);
        let block = || Arc::new(Block::new(vec![0; 100]).unwrap());
        let favourite = (0, 0);
        cache.insert(favourite, block());
        for n in 1..500 {
            cache.insert((n * 16, 0), block());
            assert!(cache.get(favourite).is_some());
        }
        for shard in &cache.shards {
            let shard = shard.lock();
            let bytes: usize = shard.slots.iter().map(|slot| slot.kept.len_bytes()).sum();
            assert!(bytes == shard.bytes && bytes <= 1_000);
            for (place, slot) in shard.slots.iter().enumerate() {
                assert_eq!(shard.slot_of[&slot.id], place);
            }
            assert_eq!(shard.slot_of.len(), shard.slots.len());
        }
        assert!(cache.get((499 * 16, 0)).is_some() && cache.get((16, 0)).is_none());
        cache.insert((7, 7), Arc::new(Block::new(vec![0; 2_000]).unwrap()));
        assert!(cache.get((7, 7)).is_none());
    }
}

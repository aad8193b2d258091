use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::block::Block;

/// Blocks that were read and checked, up to a number of bytes: what was not asked for since the
/// hand came by last goes first.
pub(super) struct Cache {
    shards: Vec<Mutex<Shard>>,
    bytes_max: usize,
}

/// The run's number and the block's place in its file.
pub(super) type BlockId = (u64, u64);

#[derive(Default)]
struct Shard {
    places: HashMap<BlockId, usize>,
    slots: Vec<Slot>,
    hand: usize,
    bytes: usize,
}

struct Slot {
    id: BlockId,
    block: Arc<Block>,
    used: bool,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

impl Cache {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            shards: std::iter::repeat_with(Mutex::default)
                .take(SHARDS)
                .collect(),
            bytes_max: bytes_max / SHARDS,
        }
    }

    pub(super) fn get(&self, id: BlockId) -> Option<Arc<Block>> {
        let mut shard = self.shard(id)?.lock();
        let place = *shard.places.get(&id)?;
        let slot = shard.slots.get_mut(place)?;
        slot.used = true;
        Some(Arc::clone(&slot.block))
    }

    pub(super) fn insert(&self, id: BlockId, block: Arc<Block>) {
        if let Some(shard) = self.shard(id) {
            shard.lock().insert(id, block, self.bytes_max);
        }
    }

    fn shard(&self, (run, offset): BlockId) -> Option<&Mutex<Shard>> {
        // Neighbouring blocks are about 4 KiB apart.
        let at = usize::try_from((offset >> 12).wrapping_add(run)).unwrap_or(0);
        self.shards.get(at % SHARDS)
    }
}

impl Shard {
    fn insert(&mut self, id: BlockId, block: Arc<Block>, bytes_max: usize) {
        if self.places.contains_key(&id) || block.len_bytes() > bytes_max {
            return;
        }
        self.bytes += block.len_bytes();
        while self.bytes > bytes_max && !self.slots.is_empty() {
            self.evict();
        }
        self.places.insert(id, self.slots.len());
        self.slots.push(Slot {
            id,
            block,
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
            self.bytes -= gone.block.len_bytes();
            self.places.remove(&gone.id);
            if let Some(moved) = self.slots.get(self.hand) {
                self.places.insert(moved.id, self.hand);
            }
        }
    }
}

const SHARDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_stays_within_its_bytes_and_keeps_what_is_used() {
        let cache = Cache::new(SHARDS * 1_000);
        let block = || Arc::new(Block::new(vec![0; 100]).unwrap());
        let favourite = (0, 0);
        cache.insert(favourite, block());
        for n in 1..500 {
            cache.insert((n * 16, 0), block());
            assert!(cache.get(favourite).is_some());
        }
        for shard in &cache.shards {
            let shard = shard.lock();
            let bytes: usize = shard.slots.iter().map(|slot| slot.block.len_bytes()).sum();
            assert!(bytes == shard.bytes && bytes <= 1_000);
            for (place, slot) in shard.slots.iter().enumerate() {
                assert_eq!(shard.places[&slot.id], place);
            }
            assert_eq!(shard.places.len(), shard.slots.len());
        }
        assert!(cache.get((499 * 16, 0)).is_some() && cache.get((16, 0)).is_none());
        cache.insert((7, 7), Arc::new(Block::new(vec![0; 2_000]).unwrap()));
        assert!(cache.get((7, 7)).is_none());
    }
}

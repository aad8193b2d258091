//! The address map: from the first bytes of an address to rows, at most 16 bytes a grain.
//!
//! It keeps 32 bits of an address and may return rows of other grains. The caller reads the ledger.

use parking_lot::RwLock;

/// The address map: an open-addressing hash table of at most 16 bytes a grain.
///
/// It keeps 32 bits of an address, so it may return rows of other grains: the caller reads the
/// ledger. Duplicates are kept.
pub(in crate::index) struct AddressMap {
    shards: Vec<RwLock<Shard>>,
}

/// Slots, probed linearly from a home. The home depends on the tag alone, so that a shard can grow
/// without reading addresses.
struct Shard {
    /// 24 bits of tag and 40 bits of row; [`EMPTY`] if unused.
    slots: Vec<u64>,
    used: usize,
}

impl AddressMap {
    pub(in crate::index) fn new() -> Self {
        let shard = || RwLock::new(Shard::with_slots(SLOTS_MIN));
        Self {
            shards: std::iter::repeat_with(shard).take(SHARDS).collect(),
        }
    }

    pub(in crate::index) fn insert(&self, prefix: u64, row: u64) {
        if let Some(shard) = self.shard(prefix) {
            shard.write().insert(tag_of(prefix), row);
        }
    }

    /// Adds to `rows` the rows below `watermark` of grains that may have the prefix.
    pub(in crate::index) fn find(&self, prefix: u64, watermark: u64, rows: &mut Vec<u64>) {
        if let Some(shard) = self.shard(prefix) {
            let shard = shard.read();
            let rest = shard.matches(tag_of(prefix));
            rows.extend(rest.filter(|row| *row < watermark));
        }
    }

    /// Removes the rows for which `is_erased` holds.
    pub(in crate::index) fn forget(&self, is_erased: &dyn Fn(u64) -> bool) {
        for shard in &self.shards {
            let shard = &mut *shard.write();
            if !shard.entries().any(|(_, row)| is_erased(row)) {
                continue;
            }
            let mut kept = Shard::with_slots(shard.slots.len());
            for (tag, row) in shard.entries().filter(|(_, row)| !is_erased(*row)) {
                kept.insert(tag, row);
            }
            *shard = kept;
        }
    }

    /// Removes everything.
    pub(in crate::index) fn clear(&self) {
        for shard in &self.shards {
            *shard.write() = Shard::with_slots(SLOTS_MIN);
        }
    }

    #[cfg(test)]
    fn len_bytes(&self) -> usize {
        let slots = self.shards.iter().map(|shard| shard.read().slots.len());
        slots.sum::<usize>() * size_of::<u64>()
    }

    fn shard(&self, prefix: u64) -> Option<&RwLock<Shard>> {
        self.shards.get(usize::try_from(prefix >> 56).ok()?)
    }
}

impl Shard {
    fn with_slots(slots: usize) -> Self {
        Self {
            slots: vec![EMPTY; slots],
            used: 0,
        }
    }

    fn insert(&mut self, tag: u64, row: u64) {
        debug_assert!(row < ROWS_MAX, "a row has 40 bits");
        if (self.used + 1) * 100 > self.slots.len() * LOAD_PERCENT {
            let grown = Self::with_slots(self.slots.len() * 3 / 2);
            let old = std::mem::replace(self, grown);
            for (tag, row) in old.entries() {
                self.place(tag, row);
            }
        }
        self.place(tag, row);
    }

    fn place(&mut self, tag: u64, row: u64) {
        let mut at = self.home(tag);
        // Invariant: the load is below one, so an empty slot exists.
        while let Some(slot) = self.slots.get_mut(at) {
            if *slot == EMPTY {
                *slot = tag << ROW_BITS | row;
                self.used += 1;
                return;
            }
            at = if at + 1 == self.slots.len() {
                0
            } else {
                at + 1
            };
        }
    }

    /// Returns the rows with a tag.
    fn matches(&self, tag: u64) -> impl Iterator<Item = u64> {
        let (before, from) = self.slots.split_at(self.home(tag));
        let probed = from.iter().chain(before).copied();
        let run = probed.take_while(|slot| *slot != EMPTY);
        run.filter(move |slot| slot >> ROW_BITS == tag)
            .map(|slot| slot & (ROWS_MAX - 1))
    }

    fn entries(&self) -> impl Iterator<Item = (u64, u64)> {
        let used = self.slots.iter().filter(|slot| **slot != EMPTY);
        used.map(|slot| (slot >> ROW_BITS, slot & (ROWS_MAX - 1)))
    }

    /// Spreads tags over any number of slots, in their order.
    fn home(&self, tag: u64) -> usize {
        let spread = (u128::from(tag) * self.slots.len() as u128) >> TAG_BITS;
        usize::try_from(spread).unwrap_or(0)
    }
}

/// The bits of a prefix behind those that choose the shard.
const fn tag_of(prefix: u64) -> u64 {
    prefix << 8 >> (64 - TAG_BITS)
}

const SHARDS: usize = 256;
const SLOTS_MIN: usize = 8;
const LOAD_PERCENT: usize = 85;
const TAG_BITS: u32 = 24;
const ROW_BITS: u32 = 40;
const ROWS_MAX: u64 = 1 << ROW_BITS;
/// The highest row of the highest tag, which no store reaches.
const EMPTY: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(n: u64) -> u64 {
        let x = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn rows(map: &AddressMap, prefix: u64) -> Vec<u64> {
        let mut rows = Vec::new();
        map.find(prefix, u64::MAX, &mut rows);
        rows
    }

    #[test]
    fn every_row_is_found_and_hardly_any_other() {
        let map = AddressMap::new();
        let count = 300_000;
        (0..count).for_each(|row| map.insert(mixed(row), row));
        let mut surplus = 0;
        for row in 0..count {
            let found = rows(&map, mixed(row));
            assert!(found.contains(&row));
            surplus += found.len() - 1;
        }
        assert!(surplus < 100, "{surplus} false rows");
        let len = map.len_bytes();
        assert!(len <= 16 * usize::try_from(count).unwrap(), "{len} bytes");
        map.forget(&|row| row % 2 == 0);
        for row in 0..count {
            assert_eq!(rows(&map, mixed(row)).contains(&row), row % 2 == 1);
        }
    }

    #[test]
    fn equal_prefixes_are_all_kept() {
        let map = AddressMap::new();
        for row in 0..1_000 {
            map.insert(u64::MAX, row);
            map.insert(0xff << 56, row + 1_000);
        }
        let mut all = rows(&map, u64::MAX);
        all.sort_unstable();
        assert_eq!(all, (0..1_000).collect::<Vec<_>>());
        let mut seen = Vec::new();
        map.find(0xff << 56, 1_500, &mut seen);
        seen.sort_unstable();
        assert_eq!(seen, (1_000..1_500).collect::<Vec<_>>());
    }
}

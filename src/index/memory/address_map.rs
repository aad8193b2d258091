//! The address map: from the first bytes of an address to rows, at most 10 bytes a grain.
//!
//! It keeps 32 bits of an address and may return rows of other grains. The caller reads the ledger.

use crate::process::RwLock;

/// The address map: sorted lists, with no room between what they hold.
///
/// It keeps 32 bits of an address, so it may return rows of other grains: the caller reads the
/// ledger. Duplicates are kept.
pub(in crate::index) struct AddressMap {
    shards: Vec<RwLock<Shard>>,
}

/// The slots of the addresses that begin with one byte: 24 bits of tag and 40 bits of row, in order.
#[derive(Default)]
struct Shard {
    slots: Vec<u64>,
    /// The newest ones: a few, so that most insertions move little.
    recent: Vec<u64>,
}

impl AddressMap {
    pub(in crate::index) fn new() -> Self {
        Self {
            shards: std::iter::repeat_with(RwLock::default)
                .take(SHARDS)
                .collect(),
        }
    }

    pub(in crate::index) fn insert(&self, prefix: u64, row: u64) {
        if let Some(shard) = self.shard(prefix) {
            shard.write().insert(slot_of(tag_of(prefix), row));
        }
    }

    /// Adds many grains, each as its prefix and its row, whose addresses begin with the same byte.
    pub(in crate::index) fn insert_all(&self, grains: &[(u64, u64)]) {
        let shard = grains.first().and_then(|(prefix, _)| self.shard(*prefix));
        if let Some(shard) = shard {
            let slots = grains.iter();
            let slots = slots.map(|(prefix, row)| slot_of(tag_of(*prefix), *row));
            shard.write().insert_all(slots);
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
            for slots in [&mut shard.slots, &mut shard.recent] {
                slots.retain(|slot| !is_erased(row_of(*slot)));
            }
        }
    }

    /// Removes everything.
    pub(in crate::index) fn clear(&self) {
        for shard in &self.shards {
            *shard.write() = Shard::default();
        }
    }

    #[cfg(test)]
    fn len_bytes(&self) -> usize {
        let slots = self.shards.iter().map(|shard| {
            let shard = shard.read();
            shard.slots.capacity() + shard.recent.capacity()
        });
        slots.sum::<usize>() * size_of::<u64>()
    }

    fn shard(&self, prefix: u64) -> Option<&RwLock<Shard>> {
        self.shards.get(usize::try_from(prefix >> 56).ok()?)
    }
}

impl Shard {
    fn insert(&mut self, slot: u64) {
        if self.recent.len() >= RECENT_MIN.max(self.slots.len() / RECENT_PART) {
            self.merge();
        }
        let at = self.recent.partition_point(|other| *other <= slot);
        self.recent.insert(at, slot);
    }

    fn insert_all(&mut self, slots: impl ExactSizeIterator<Item = u64>) {
        self.merge();
        self.slots.reserve_exact(slots.len());
        self.slots.extend(slots);
        // They come sorted by run, and such a sort merges what is in order.
        self.slots.sort();
    }

    /// Moves the recent slots to the others, the greatest first, in place.
    fn merge(&mut self) {
        let mut rest = self.slots.len();
        // Vectors that double would leave half of their room empty.
        self.slots.reserve_exact(self.recent.len());
        self.slots.resize(rest + self.recent.len(), 0);
        let mut end = self.slots.len();
        while let Some(slot) = self.recent.pop() {
            let from = self.slots.get(..rest).unwrap_or_default();
            let from = from.partition_point(|other| *other <= slot);
            let moved = rest - from;
            self.slots.copy_within(from..rest, end - moved);
            end -= moved + 1;
            if let Some(place) = self.slots.get_mut(end) {
                *place = slot;
            }
            rest = from;
        }
    }

    /// Returns the rows with a tag.
    fn matches(&self, tag: u64) -> impl Iterator<Item = u64> {
        let from = slot_of(tag, 0);
        let recent = self.recent.partition_point(|slot| *slot < from);
        let recent = self.recent.iter().skip(recent);
        let slots = self.slots.iter().skip(self.first_from(from));
        let with_tag = move |slot: &&u64| tag_in(**slot) == tag;
        let slots = slots.take_while(with_tag);
        slots
            .chain(recent.take_while(with_tag))
            .map(|slot| row_of(*slot))
    }

    /// Returns the place of the first slot from a value on. Tags are spread evenly, so it is near
    /// the place that follows from the tag, and the search goes on from there by steps that double.
    fn first_from(&self, from: u64) -> usize {
        let len = self.slots.len();
        let spread = (u128::from(tag_in(from)) * len as u128) >> TAG_BITS;
        let guess = usize::try_from(spread).unwrap_or(0).min(len);
        let is_before = |at: usize| self.slots.get(at).is_some_and(|slot| *slot < from);
        let (mut low, mut high) = (guess, guess);
        let mut step = FIRST_STEP;
        if is_before(guess) {
            while is_before(high) {
                low = high + 1;
                high = (high + step).min(len);
                step *= 2;
            }
        } else {
            while low > 0 && !is_before(low - 1) {
                high = low - 1;
                low = low.saturating_sub(step);
                step *= 2;
            }
        }
        let between = self.slots.get(low..high).unwrap_or_default();
        low + between.partition_point(|slot| *slot < from)
    }
}

const fn slot_of(tag: u64, row: u64) -> u64 {
    debug_assert!(row < ROWS_MAX, "a row has 40 bits");
    tag << ROW_BITS | row
}

const fn tag_in(slot: u64) -> u64 {
    slot >> ROW_BITS
}

const fn row_of(slot: u64) -> u64 {
    slot & (ROWS_MAX - 1)
}

/// The bits of a prefix behind those that choose the shard.
const fn tag_of(prefix: u64) -> u64 {
    prefix << 8 >> (64 - TAG_BITS)
}

const SHARDS: usize = 256;
/// The share of the slots that may be recent, and their number in a small shard.
const RECENT_PART: usize = 16;
const RECENT_MIN: usize = 16;
/// About as far as a slot is from the place that follows from its tag.
const FIRST_STEP: usize = 8;
const TAG_BITS: u32 = 24;
const ROW_BITS: u32 = 40;
const ROWS_MAX: u64 = 1 << ROW_BITS;

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
        assert!(len <= 10 * usize::try_from(count).unwrap(), "{len} bytes");
        map.forget(&|row| row % 2 == 0);
        for row in 0..count {
            assert_eq!(rows(&map, mixed(row)).contains(&row), row % 2 == 1);
        }
    }

    #[test]
    fn many_at_once_are_found_as_one_after_the_other() {
        let (one_by_one, at_once) = (AddressMap::new(), AddressMap::new());
        for part in 0..3 {
            let grains: Vec<_> = (part * 5_000..(part + 1) * 5_000)
                .map(|row| (mixed(row), row))
                .collect();
            for (prefix, row) in &grains {
                one_by_one.insert(*prefix, *row);
            }
            for byte in 0..=u64::from(u8::MAX) {
                let mut of_byte = grains.clone();
                of_byte.retain(|(prefix, _)| prefix >> 56 == byte);
                at_once.insert_all(&of_byte);
            }
        }
        at_once.insert_all(&[]);
        at_once.insert(mixed(15_000), 15_000);
        one_by_one.insert(mixed(15_000), 15_000);
        for row in 0..=15_000 {
            let mut found = rows(&at_once, mixed(row));
            assert!(found.contains(&row));
            let mut other = rows(&one_by_one, mixed(row));
            found.sort_unstable();
            other.sort_unstable();
            assert_eq!(found, other);
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

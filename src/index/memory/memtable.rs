//! Memtables: sorted keys of consecutive entries, in memory.
//!
//! A memtable never changes once it is built; four of a size are merged into one.

use std::ops::Range;

use crate::index::Family;
use crate::index::key::encoding::{Key, Pair, Single};

/// The sorted keys of consecutive ledger entries.
#[derive(Debug, Default)]
pub(in crate::index) struct Memtable {
    /// The entries it covers.
    pub(in crate::index) rows: Range<u64>,
    /// The number of merges behind it, which is its size class.
    pub(in crate::index) level: u32,
    /// Rows of grains, in order.
    pub(in crate::index) grains: Vec<u64>,
    singles: [Vec<Single>; Family::SINGLES.len()],
    pairs: [Vec<Pair>; Family::PAIRS.len()],
}

/// A key that a [`Memtable`] has lists of.
pub(in crate::index) trait MemtableKey: Key {
    fn lists(memtable: &Memtable) -> &[Vec<Self>];
    fn lists_mut(memtable: &mut Memtable) -> &mut [Vec<Self>];
}

impl MemtableKey for Single {
    fn lists(memtable: &Memtable) -> &[Vec<Self>] {
        &memtable.singles
    }

    fn lists_mut(memtable: &mut Memtable) -> &mut [Vec<Self>] {
        &mut memtable.singles
    }
}

impl MemtableKey for Pair {
    fn lists(memtable: &Memtable) -> &[Vec<Self>] {
        &memtable.pairs
    }

    fn lists_mut(memtable: &mut Memtable) -> &mut [Vec<Self>] {
        &mut memtable.pairs
    }
}

impl Memtable {
    /// Sorts keys that were gathered in any order.
    pub(in crate::index) fn sort(&mut self) {
        // A grain that has a value twice has one key for it.
        for list in &mut self.singles {
            list.sort_unstable();
            list.dedup();
        }
        for list in &mut self.pairs {
            list.sort_unstable();
        }
    }

    /// Returns the keys of a family; `K` is the kind of key that the family has.
    pub(in crate::index) fn keys<K: MemtableKey>(&self, family: Family) -> &[K] {
        debug_assert_eq!(family.is_pair(), K::PARTS == 2);
        let list = K::lists(self).get(family.slot());
        list.map_or(&[], Vec::as_slice)
    }

    pub(in crate::index) fn push<K: MemtableKey>(&mut self, family: Family, key: K) {
        debug_assert_eq!(family.is_pair(), K::PARTS == 2);
        if let Some(list) = K::lists_mut(self).get_mut(family.slot()) {
            list.push(key);
        }
    }

    /// Returns the keys of a family from `low` to `high`.
    pub(in crate::index) fn range<K: MemtableKey>(&self, family: Family, low: K, high: K) -> &[K] {
        let keys = self.keys::<K>(family);
        let from = keys.split_at(keys.partition_point(|key| *key < low)).1;
        from.split_at(from.partition_point(|key| *key <= high)).0
    }

    /// Returns whether an entry for which `is_visible` holds made the grain of a row not current.
    pub(in crate::index) fn is_not_current(
        &self,
        row: u64,
        is_visible: impl FnMut(u64) -> bool,
    ) -> bool {
        let low = Single::new([row, 0], 0);
        let high = Single::new([row, 0], u64::MAX);
        let ends = self.range(Family::NotCurrent, low, high);
        ends.iter().map(|key| key.row()).any(is_visible)
    }

    /// Merges consecutive memtables.
    pub(in crate::index) fn merge(parts: &[&Self]) -> Self {
        let mut merged = Self {
            rows: span(parts),
            level: parts.iter().map(|part| part.level + 1).max().unwrap_or(0),
            grains: parts
                .iter()
                .flat_map(|part| part.grains.iter().copied())
                .collect(),
            ..Self::default()
        };
        merge_lists::<Single>(&mut merged, parts);
        merge_lists::<Pair>(&mut merged, parts);
        merged
    }

    /// Returns the memtable without the keys of rows for which `is_erased` holds.
    pub(in crate::index) fn without(&self, is_erased: &dyn Fn(u64) -> bool) -> Self {
        let keep = |row: &u64| !is_erased(*row);
        let mut kept = Self {
            rows: self.rows.clone(),
            level: self.level,
            grains: self.grains.iter().copied().filter(keep).collect(),
            pairs: self.pairs.clone(),
            singles: self.singles.clone(),
        };
        for list in &mut kept.pairs {
            list.retain(|key| !is_erased(key.row()));
        }
        for (list, family) in kept.singles.iter_mut().zip(Family::SINGLES) {
            list.retain(|key| !key_is_erased(family, *key, is_erased));
        }
        kept
    }
}

/// Returns whether a key goes with an erased row: with the entry that made it, or with the grain
/// that it is about.
pub(in crate::index) fn key_is_erased<K: Key>(
    family: Family,
    key: K,
    is_erased: &dyn Fn(u64) -> bool,
) -> bool {
    let [first, ..] = key.parts();
    is_erased(key.row()) || family.grain_in(first).is_some_and(is_erased)
}

/// Returns the keys of a family in several memtables, in order.
pub(in crate::index) fn merged<K: MemtableKey>(family: Family, parts: &[&Memtable]) -> Vec<K> {
    let lists = parts.iter().map(|part| part.keys::<K>(family));
    let mut keys = Vec::with_capacity(lists.clone().map(<[K]>::len).sum());
    lists.for_each(|list| keys.extend_from_slice(list));
    // The stable sort detects sorted runs and merges them.
    keys.sort();
    keys
}

fn merge_lists<K: MemtableKey>(into: &mut Memtable, parts: &[&Memtable]) {
    let families: &[Family] = match K::PARTS {
        1 => &Family::SINGLES,
        _ => &Family::PAIRS,
    };
    for (list, family) in K::lists_mut(into).iter_mut().zip(families) {
        *list = merged(*family, parts);
    }
}

/// Returns the rows that consecutive memtables cover.
pub(in crate::index) fn span(parts: &[&Memtable]) -> Range<u64> {
    let first = parts.first().map_or(0, |part| part.rows.start);
    first..parts.last().map_or(0, |part| part.rows.end)
}

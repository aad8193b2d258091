//! A map from names to small values, at 8 bytes a name: the memory of a file with millions of
//! records.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};

/// Values by the hash of a name.
///
/// The hash is keyed anew for each table, so that an attacker cannot construct a collision; a
/// collision by chance has a probability below 10^-5 for ten million names.
pub(crate) struct CompactTable<V> {
    hasher: RandomState,
    /// Sorted by hash; recent entries are not in it yet.
    sorted: Vec<(u64, V)>,
    recent: HashMap<u64, V>,
}

impl<V: Copy> CompactTable<V> {
    pub(crate) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            sorted: Vec::new(),
            recent: HashMap::new(),
        }
    }

    /// Returns the key of a name.
    pub(crate) fn key(&self, name: impl Hash) -> u64 {
        self.hasher.hash_one(name)
    }

    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        let at = self.sorted.binary_search_by_key(&key, |(key, _)| *key);
        match at {
            Ok(at) => self.sorted.get(at).map(|(_, value)| value),
            Err(_) => self.recent.get(&key),
        }
    }

    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let at = self.sorted.binary_search_by_key(&key, |(key, _)| *key);
        match at {
            Ok(at) => self.sorted.get_mut(at).map(|(_, value)| value),
            Err(_) => self.recent.get_mut(&key),
        }
    }

    /// Adds an entry whose key is new.
    pub(crate) fn insert(&mut self, key: u64, value: V) {
        self.recent.insert(key, value);
        if self.recent.len() >= RECENT_MAX {
            self.merge();
        }
    }

    /// Returns whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.sorted.is_empty() && self.recent.is_empty()
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.sorted = Vec::new();
        self.recent = HashMap::new();
    }

    /// Merges from the back, in place, since a second copy could exceed the memory.
    fn merge(&mut self) {
        let mut recent: Vec<(u64, V)> = self.recent.drain().collect();
        recent.sort_unstable_by_key(|(key, _)| *key);
        let mut old = self.sorted.len();
        self.sorted.reserve_exact(recent.len());
        self.sorted.extend_from_slice(&recent);
        let mut free = self.sorted.len();
        while let Some(next) = recent.last().copied() {
            free = free.saturating_sub(1);
            let before = old
                .checked_sub(1)
                .and_then(|at| self.sorted.get(at).copied());
            let largest = match before {
                Some(before) if before.0 > next.0 => {
                    old = old.saturating_sub(1);
                    before
                }
                _ => {
                    recent.pop();
                    next
                }
            };
            if let Some(slot) = self.sorted.get_mut(free) {
                *slot = largest;
            }
        }
    }
}

impl<V: Copy> Default for CompactTable<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl CompactTable<()> {
    /// Adds a name; returns whether it is new.
    pub(crate) fn add(&mut self, key: u64) -> bool {
        let is_new = self.get(key).is_none();
        if is_new {
            self.insert(key, ());
        }
        is_new
    }
}

/// Few entries beside the rest, and few merges.
const RECENT_MAX: usize = if cfg!(test) { 7 } else { 32_768 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_what_was_put_in_it() {
        let mut table = CompactTable::new();
        for n in 0..100_u32 {
            let key = table.key(n);
            assert_eq!(table.get(key), None);
            table.insert(key, n);
        }
        for n in 0..100_u32 {
            let key = table.key(n);
            *table.get_mut(key).unwrap() += 1;
            assert_eq!(table.get(key), Some(&(n + 1)));
        }
        assert_eq!(table.get(table.key("x")), None);
        assert!(table.sorted.is_sorted_by_key(|(key, _)| *key));
        table.clear();
        assert_eq!(table.get(table.key(1_u32)), None);
    }
}

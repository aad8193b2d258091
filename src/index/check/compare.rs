//! The full check of the index: every key compared with a fold of the ledger, by sums of hashes.
//!
//! The memory it takes does not grow with either.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::ledger::{EntryId, EntryLocation};

use crate::index::engine::shared::Engine;
use crate::index::engine::version::Version;
use crate::index::key::encoding::{Key, Pair, Single, fingerprint};
use crate::index::memory::memtable::{Memtable, MemtableKey};
use crate::index::run::{Run, RunKey, Stream};
use crate::index::{Batch, Error, Family, Index};

/// A comparison of an index with a fold of the ledger, in bounded memory.
///
/// Of the keys of each family in each run, only the number and the sum of their hashes are kept:
/// different sets have equal sums with a chance of one in 2^100.
#[derive(Debug)]
pub struct Comparison {
    engine: Arc<Engine>,
    version: Arc<Version>,
    /// The sums that the ledger gives for each run and, last, for the memtables.
    expected: Vec<Sums>,
}

/// For each family, the number of keys and the sum of their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sums {
    families: [(u64, u128); FAMILIES],
    grains: (u64, u128),
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            families: [(0, 0); FAMILIES],
            grains: (0, 0),
        }
    }
}

const FAMILIES: usize = Family::END;

impl Comparison {
    /// Starts a comparison of the present version of an index.
    pub fn of(index: &Index) -> Self {
        let version = index.engine().version();
        Self {
            engine: Arc::clone(index.engine()),
            expected: vec![Sums::default(); version.runs.len() + 1],
            version,
        }
    }

    /// Adds the keys of a batch, as the ledger gives them.
    pub fn add(&mut self, batch: Batch) {
        let (memtable, _) = batch.finish(0..0);
        // The keys about an erased grain were erased with it.
        let memtable = match self.engine.erased() {
            Some(erased) => memtable.without(&|row| erased.contains(row)),
            None => memtable,
        };
        self.add_keys::<Pair>(&memtable, &Family::PAIRS);
        self.add_keys::<Single>(&memtable, &Family::SINGLES);
        for row in &memtable.grains {
            if let Some(sums) = self.source_of(*row) {
                sums.grain(*row);
            }
        }
    }

    fn add_keys<K: MemtableKey>(&mut self, memtable: &Memtable, families: &[Family]) {
        for family in families {
            for key in memtable.keys::<K>(*family) {
                if let Some(sums) = self.source_of(key.row()) {
                    sums.add(*family, *key);
                }
            }
        }
    }

    /// Invariant: a key lies in the run of the entry that made it.
    fn source_of(&mut self, row: u64) -> Option<&mut Sums> {
        let at = self.version.runs.partition_point(|run| run.rows.end <= row);
        self.expected.get_mut(at)
    }

    /// Reads all keys of the index and returns the differences in words. `locations` returns the
    /// locations of a range of ledger entries.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; damage is a difference.
    pub fn finish(
        self,
        locations: &dyn Fn(Range<EntryId>) -> Vec<EntryLocation>,
    ) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let mut expected = self.expected.iter();
        for run in &self.version.runs {
            let name = format!("run {}", run.number);
            let outcome = sums_of(run, &mut found)
                .and_then(|sums| check_locations(run, locations, &mut found).map(|()| sums));
            match (outcome, expected.next()) {
                (Ok(sums), Some(expected)) => sums.differ(expected, &name, &mut found),
                (Err(error @ Error::Damaged { .. }), _) => found.push(error.to_string()),
                (Err(error), _) => return Err(error),
                (Ok(_), None) => {}
            }
        }
        let mut memory = Sums::default();
        for memtable in &self.version.memtables {
            memory.memtable(memtable);
        }
        if let Some(expected) = expected.next() {
            memory.differ(expected, "memory", &mut found);
        }
        Ok(found)
    }

    /// Returns whether the index finds the grain of a row by its address.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn finds(
        &self,
        address: &crate::codec::ContentAddress,
        row: EntryId,
    ) -> Result<bool, Error> {
        Ok(self
            .engine
            .candidates(&self.version, address)?
            .contains(row))
    }
}

/// Reads all blocks of a run, proves their order, and sums up their keys.
fn sums_of(run: &Arc<Run>, found: &mut Vec<String>) -> Result<Sums, Error> {
    let mut sums = Sums::default();
    for family in Family::PAIRS {
        sums.section::<Pair>(run, family, found)?;
    }
    for family in Family::SINGLES {
        sums.section::<Single>(run, family, found)?;
    }
    run.grains.iter().for_each(|row| sums.grain(row));
    let mut not_current = RoaringTreemap::new();
    let mut keys = Stream::<Single>::new(Arc::clone(run), Family::NotCurrent);
    while let Some(key) = keys.next()? {
        let [grain, ..] = key.parts();
        not_current.insert(grain);
    }
    if not_current != run.not_current {
        found.push(format!(
            "run {}: its rows that are not current differ",
            run.number
        ));
    }
    let filter = run.read_filter()?;
    let mut addresses = Stream::<Single>::new(Arc::clone(run), Family::Address);
    while let Some(key) = addresses.next()? {
        let [prefix, ..] = key.parts();
        if !filter.may_contain(prefix) {
            found.push(format!(
                "run {}: its filter denies entry {}",
                run.number,
                key.row()
            ));
        }
    }
    Ok(sums)
}

fn check_locations(
    run: &Run,
    locations: &dyn Fn(Range<EntryId>) -> Vec<EntryLocation>,
    found: &mut Vec<String>,
) -> Result<(), Error> {
    let mut row = run.rows.start;
    run.locations(&mut |stored| {
        let end = row + stored.len() as u64;
        if locations(EntryId::new(row)..EntryId::new(end)) != stored {
            found.push(format!(
                "run {}: locations of entries {row} to {end} differ",
                run.number
            ));
        }
        row = end;
        Ok(())
    })
}

impl Sums {
    fn add<K: Key>(&mut self, family: Family, key: K) {
        if let Some(sum) = self.families.get_mut(usize::from(family as u8)) {
            *sum = (sum.0 + 1, sum.1.wrapping_add(fingerprint(family, key)));
        }
    }

    fn grain(&mut self, row: u64) {
        let hash = fingerprint(Family::Type, Single::new([0; 2], row));
        self.grains = (self.grains.0 + 1, self.grains.1.wrapping_add(hash));
    }

    fn memtable(&mut self, memtable: &Memtable) {
        for family in Family::PAIRS {
            memtable
                .keys::<Pair>(family)
                .iter()
                .for_each(|key| self.add(family, *key));
        }
        for family in Family::SINGLES {
            memtable
                .keys::<Single>(family)
                .iter()
                .for_each(|key| self.add(family, *key));
        }
        memtable.grains.iter().for_each(|row| self.grain(*row));
    }

    fn section<K: RunKey>(
        &mut self,
        run: &Arc<Run>,
        family: Family,
        found: &mut Vec<String>,
    ) -> Result<(), Error> {
        let mut keys = Stream::<K>::new(Arc::clone(run), family);
        let mut last = None;
        while let Some(key) = keys.next()? {
            if last.is_some_and(|last| last >= key) {
                found.push(format!("run {}, {family:?}: keys out of order", run.number));
            }
            last = Some(key);
            self.add(family, key);
        }
        Ok(())
    }

    fn differ(&self, expected: &Self, place: &str, found: &mut Vec<String>) {
        let mut compare = |what: &str, (count, sum): (u64, u128), wanted: (u64, u128)| {
            if count != wanted.0 {
                let wanted = wanted.0;
                found.push(format!("{place}, {what}: {count} keys, not {wanted}"));
            } else if sum != wanted.1 {
                found.push(format!("{place}, {what}: not the keys of the ledger"));
            }
        };
        for family in Family::PAIRS.into_iter().chain(Family::SINGLES) {
            let at = usize::from(family as u8);
            let sum = |sums: &Self| sums.families.get(at).copied().unwrap_or_default();
            compare(&format!("{family:?}"), sum(self), sum(expected));
        }
        compare("grains", self.grains, expected.grains);
    }
}

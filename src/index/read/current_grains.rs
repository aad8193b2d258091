//! Currency and verification: which grains are current, which were current at a time, and which
//! have a verification status.

use std::collections::HashMap;
use std::sync::Arc;

use crate::grain::{Time, Verification};
use crate::index::engine::result_cache::CurrentRows;
use crate::index::key::encoding::{Key, Single};
use crate::index::key::family::VERIFICATION_BITS;
use crate::index::memory::batch::number_of;
use crate::index::row_set::RowSet;
use crate::index::{Error, Family, Snapshot};
use crate::ledger::EntryId;

impl Snapshot {
    /// Returns the rows of the grains that are current.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn current(&self) -> Result<Arc<RowSet>, Error> {
        let (engine, _) = self.parts();
        let version = self.version();
        // Asked first: what is erased after it makes another set.
        let erased = engine.erased();
        let find = |known: &Option<CurrentRows>| known.as_ref()?.of(version, erased.as_ref());
        let known = find(&engine.current.lock());
        if let Some(rows) = known {
            return Ok(rows);
        }
        let mut rows = self.grains();
        self.retain_current(&mut rows)?;
        let rows = Arc::new(rows);
        let found = CurrentRows::new(version, erased, Arc::clone(&rows));
        *engine.current.lock() = Some(found);
        Ok(rows)
    }

    /// Removes the rows of grains that are not current.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn retain_current(&self, rows: &mut RowSet) -> Result<(), Error> {
        let (_, version) = self.parts();
        for run in &version.runs {
            rows.0 -= self.not_current_in(run);
        }
        let ends: usize = version
            .in_memory()
            .map(|memtable| memtable.keys::<Single>(Family::NotCurrent).len())
            .sum();
        if rows.len() < ends as u64 {
            rows.retain(|row| {
                !version.in_memory().any(|memtable| {
                    memtable.is_not_current(row.get(), |entry| version.is_visible(entry))
                })
            });
            return Ok(());
        }
        for memtable in version.in_memory() {
            for key in memtable.keys::<Single>(Family::NotCurrent) {
                if version.is_visible(key.row()) {
                    let [grain, ..] = key.parts();
                    rows.remove(EntryId::new(grain));
                }
            }
        }
        Ok(())
    }

    /// Returns the rows of grains that were no longer current at a time. The last entry that made a
    /// grain not current gives the time: its `system_valid_to`, else its own.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn not_current_at(&self, time: Time) -> Result<RowSet, Error> {
        let entries = self
            .in_time(Family::SystemValidTo, None, Some(time))
            .set()?;
        let mut not_current = RowSet::default();
        self.each(Family::NotCurrent, &mut |grain, entry| {
            if entries.contains(EntryId::new(entry)) {
                not_current.insert(EntryId::new(grain));
            } else {
                not_current.remove(EntryId::new(grain));
            }
        })?;
        Ok(not_current)
    }

    /// Returns the rows of grains that were given a verification status.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn verified_as(&self, verification: Verification) -> Result<RowSet, Error> {
        // Keys of a grain are ordered by status number, not by entry, so the latest is found by
        // comparing.
        let mut latest: HashMap<u64, (u64, u64)> = HashMap::new();
        self.each(Family::Verification, &mut |part, entry| {
            let said = (entry, part & ((1 << VERIFICATION_BITS) - 1));
            let slot = latest.entry(part >> VERIFICATION_BITS).or_insert(said);
            *slot = (*slot).max(said);
        })?;
        let wanted = number_of(verification);
        let latest = latest.into_iter();
        let rows = latest.filter_map(|(grain, (_, said))| (said == wanted).then_some(grain));
        Ok(RowSet::of_unsorted(rows.collect()))
    }
}

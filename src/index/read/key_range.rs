//! A range of keys of one family, over the runs and memtables of a version.
//!
//! The generic half of `Scan`.

use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::index::engine::result_cache::{CachedResult, ResultKey, ResultKind};
use crate::index::engine::shared::Engine;
use crate::index::engine::version::Version;
use crate::index::run::{Run, RunCursor, RunKey};
use crate::index::{Error, Family, RowSet, Rows};
use crate::ledger::EntryId;

/// The keys of a family between two bounds, in all runs and memtables of a version.
#[derive(Debug)]
pub(super) struct KeyRange<'a, K> {
    pub(super) engine: &'a Engine,
    pub(super) version: &'a Version,
    pub(super) erased: Option<Arc<RoaringTreemap>>,
    /// The visible keys of the overlays that were not returned, in the order of rows.
    pub(super) overlaid: std::vec::IntoIter<K>,
    /// A key of the runs and memtables that comes after one of an overlay.
    pub(super) held: Option<K>,
    pub(super) family: Family,
    pub(super) low: K,
    pub(super) high: K,
    /// Whether results may be cached.
    pub(super) is_cacheable: bool,
    /// The number of sources that are done.
    pub(super) done: usize,
    pub(super) at: Option<Position<'a, K>>,
}

/// The position of a scan in one source.
#[derive(Debug)]
pub(super) enum Position<'a, K> {
    Memory(std::slice::Iter<'a, K>),
    Run(Box<RunCursor<'a, K>>),
}

impl<'a, K: RunKey> KeyRange<'a, K> {
    pub(super) fn rows(mut self) -> Result<Rows, Error> {
        let mut rows = Vec::new();
        while let Some(row) = self.next_row()? {
            rows.push(row);
        }
        Ok(Rows::from(rows))
    }

    pub(super) fn next_row(&mut self) -> Result<Option<EntryId>, Error> {
        Ok(self.next_key()?.map(|key| EntryId::new(key.row())))
    }

    /// Returns the next key: first of the runs and then of the memtables, in order within each. A
    /// key of an overlay comes before the first of a higher row.
    pub(super) fn next_key(&mut self) -> Result<Option<K>, Error> {
        let Some(overlaid) = self.overlaid.as_slice().first() else {
            return match self.held.take() {
                None => self.next_below(),
                held => Ok(held),
            };
        };
        let row = overlaid.row();
        let below = match self.held.take() {
            None => self.next_below()?,
            held => held,
        };
        match below {
            Some(key) if key.row() < row => Ok(Some(key)),
            below => {
                self.held = below;
                Ok(self.overlaid.next())
            }
        }
    }

    /// Returns the next key of the runs and memtables.
    fn next_below(&mut self) -> Result<Option<K>, Error> {
        loop {
            let key = match &mut self.at {
                None => None,
                Some(Position::Memory(keys)) => keys.next().copied(),
                Some(Position::Run(run)) => match run.next(&self.engine.cache, self.high) {
                    Ok(key) => key,
                    Err(error) => {
                        // After an error the scan is over, so that a caller who goes on never takes
                        // a part for the whole.
                        self.at = None;
                        self.done = usize::MAX;
                        return Err(error);
                    }
                },
            };
            match key {
                Some(key) if self.is_visible(key) => return Ok(Some(key)),
                Some(_) => {}
                None => {
                    if !self.next_source()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn is_visible(&self, key: K) -> bool {
        let erased = self.erased.as_ref();
        // A view of an earlier moment can end inside a run or a memtable.
        self.version.is_visible(key.row())
            && !erased.is_some_and(|erased| erased.contains(key.row()))
    }

    pub(super) fn set(&self) -> Result<RowSet, Error> {
        let mut set = RowSet::default();
        for run in &self.version.runs {
            match &*self.rows_in(run)? {
                CachedResult::Rows(rows) => set.unite(rows),
                CachedResult::Components(_) => {}
            }
        }
        for memtable in self.version.in_memory() {
            let keys = memtable.range(self.family, self.low, self.high);
            let rows = keys.iter().map(|key| key.row()).collect();
            set.unite(&RowSet::of_unsorted(rows));
        }
        let mut fallbacks = self
            .version
            .fallbacks
            .as_deref()
            .cloned()
            .unwrap_or_default();
        fallbacks &= &set.0;
        set.remove_from(self.version.watermark..);
        set.0 |= fallbacks;
        if let Some(erased) = &self.erased {
            set.0 -= &**erased;
        }
        Ok(set)
    }

    pub(super) fn among(&self, rows: &RowSet) -> Result<RowSet, Error> {
        let mut among = RowSet::default();
        for run in &self.version.runs {
            if let CachedResult::Rows(inside) = &*self.rows_in(run)? {
                // An intersection copies the bitmaps of one: the hits of a search are fewer than those
                // of a type have words, and most ranges have no row at all.
                let [few, many] = match inside.len() < rows.len() {
                    true => [&inside.0, &rows.0],
                    false => [&rows.0, &inside.0],
                };
                if few.len() <= LOOKED_UP_MAX {
                    let few = few.iter();
                    among.0.extend(few.filter(|row| many.contains(*row)));
                } else {
                    among.0 |= few & many;
                }
            }
        }
        for memtable in self.version.in_memory() {
            let keys = memtable.range(self.family, self.low, self.high);
            let inside = keys.iter().map(|key| key.row());
            among.0.extend(inside.filter(|row| rows.0.contains(*row)));
        }
        Ok(among)
    }

    /// Returns the rows of a run, cached or read.
    fn rows_in(&self, run: &Run) -> Result<Arc<CachedResult>, Error> {
        if let Some(kept) = self.cached(run) {
            return Ok(kept);
        }
        let mut rows = Vec::new();
        let cache = &self.engine.cache;
        let within = RunCursor::new(run, self.family, cache, self.low, self.high)?;
        if let Some(mut within) = within {
            while let Some(key) = within.next(cache, self.high)? {
                rows.push(key.row());
            }
        }
        let is_kept = rows.len() >= CACHED_ROWS_MIN && self.is_cacheable;
        let result = Arc::new(CachedResult::Rows(RowSet::of_unsorted(rows)));
        if is_kept {
            self.engine
                .results
                .insert(self.id(run), Arc::clone(&result));
        }
        Ok(result)
    }

    fn cached(&self, run: &Run) -> Option<Arc<CachedResult>> {
        self.is_cacheable
            .then(|| self.engine.results.get(self.id(run)))
            .flatten()
    }

    fn id(&self, run: &Run) -> ResultKey {
        ResultKey {
            run: run.number,
            family: self.family as u8,
            what: ResultKind::Rows(self.low.parts(), self.high.parts()),
        }
    }

    pub(super) fn estimate(&self) -> Result<Estimate, Error> {
        let mut sum = Estimate::default();
        for run in &self.version.runs {
            let Some(section) = run.section::<K>(self.family) else {
                continue;
            };
            let (blocks, about) = section.between(self.low, self.high);
            if blocks == 0 {
                continue;
            }
            if let Some(CachedResult::Rows(rows)) = self.cached(run).as_deref() {
                sum.rows += rows.len();
            } else if blocks <= 2 {
                let rows = self.count_in(run)?;
                sum.rows += rows;
                sum.keys += rows;
            } else {
                sum.rows += about;
                sum.keys += about;
            }
        }
        for memtable in self.version.in_memory() {
            let rows = memtable.range(self.family, self.low, self.high).len() as u64;
            sum.rows += rows;
            sum.keys += rows;
        }
        Ok(sum)
    }

    fn count_in(&self, run: &Run) -> Result<u64, Error> {
        let cache = &self.engine.cache;
        let mut count = 0;
        if let Some(mut within) = RunCursor::new(run, self.family, cache, self.low, self.high)? {
            while within.next(cache, self.high)?.is_some() {
                count += 1;
            }
        }
        Ok(count)
    }

    /// Moves on to the next run or memtable; returns whether there was one.
    fn next_source(&mut self) -> Result<bool, Error> {
        let version = self.version;
        let done = self.done;
        self.done = done.saturating_add(1);
        self.at = if let Some(run) = version.runs.get(done) {
            let within = RunCursor::new(run, self.family, &self.engine.cache, self.low, self.high)?;
            within.map(|within| Position::Run(Box::new(within)))
        } else if let Some(memtable) = done
            .checked_sub(version.runs.len())
            .and_then(|at| version.memtables.get(at))
        {
            let keys = memtable.range(self.family, self.low, self.high);
            Some(Position::Memory(keys.iter()))
        } else {
            self.done = usize::MAX;
            return Ok(false);
        };
        Ok(true)
    }
}

/// The estimated size of a scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    /// The estimated number of rows.
    pub rows: u64,
    /// The estimated number of keys to read.
    pub keys: u64,
}

/// The number of rows from which a result is cached: fewer are read about as fast as they are found.
const CACHED_ROWS_MIN: usize = 128;

/// So few rows are looked up in others rather than intersected with them.
const LOOKED_UP_MAX: u64 = 256;

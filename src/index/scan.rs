use std::sync::Arc;

use roaring::RoaringTreemap;

use super::block::{Block, Walk};
use super::cache::Blocks;
use super::derived::{Derived, DerivedId, What};
use super::engine::Engine;
use super::run::{Run, Section, Stored};
use super::state::State;
use super::{Error, Family, RowSet, Rows};

/// The rows of a question: one by one as they come, or all in order.
///
/// ```
/// # use std::sync::Arc;
/// # use grainstore::grain::{Draft, Time};
/// # use grainstore::index::{Batch, Index, Options, Pattern, TermKey};
/// # use grainstore::ledger::{Disk, MemoryDisk, StoreId};
/// # let terms = TermKey::new([7; 16]);
/// # let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
/// # let (index, _) = Index::open(&disk, StoreId::new([7; 16]), terms, Options::default())?;
/// let mut batch = index.batch();
/// for row in 0..9 {
///     let draft = Draft::belief("user", "likes", format!("tea {row}")).confidence(0.5);
///     batch.grain(row, &draft.created_at(Time::from_ms(0)).finish(Default::default())?, 0);
/// }
/// index.publish(batch, 9);
/// let snapshot = index.snapshot();
/// let pattern = Pattern { subject: Some("user"), ..Pattern::default() };
/// assert_eq!(snapshot.triples(&pattern).take(3).count(), 3);
/// assert_eq!(snapshot.triples(&pattern).rows()?.len(), 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// As an iterator it gives a row for each key that fits, in the order of the keys, first of the
/// runs and then of the memory; nothing is read before it is needed.
#[derive(Debug)]
pub struct Scan<'a>(Kind<'a>);

#[derive(Debug)]
enum Kind<'a> {
    Single(Ranged<'a, super::key::Single>),
    Triple(Ranged<'a, super::key::Triple>),
}

impl<'a> Scan<'a> {
    pub(super) const fn singles(ranged: Ranged<'a, super::key::Single>) -> Self {
        Self(Kind::Single(ranged))
    }

    pub(super) const fn triples(ranged: Ranged<'a, super::key::Triple>) -> Self {
        Self(Kind::Triple(ranged))
    }

    /// Returns all rows, lowest first.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn rows(self) -> Result<Rows, Error> {
        match self.0 {
            Kind::Single(ranged) => ranged.rows(),
            Kind::Triple(ranged) => ranged.rows(),
        }
    }
}

impl Scan<'_> {
    /// Returns all rows as a set; what many rows have is remembered for the next time.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn set(self) -> Result<RowSet, Error> {
        match self.0 {
            Kind::Single(ranged) => ranged.set(),
            Kind::Triple(ranged) => ranged.set(),
        }
    }

    /// Returns which of some rows are among these, and copies no list for it.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn among(self, rows: &RowSet) -> Result<RowSet, Error> {
        match self.0 {
            Kind::Single(ranged) => ranged.among(rows),
            Kind::Triple(ranged) => ranged.among(rows),
        }
    }

    /// Has the rows remembered although they are of a range: it will be asked for again.
    #[must_use]
    pub const fn recurring(mut self) -> Self {
        match &mut self.0 {
            Kind::Single(ranged) => ranged.recurs = true,
            Kind::Triple(ranged) => ranged.recurs = true,
        }
        self
    }

    /// Returns about how many rows there are: exactly if they are few or remembered, else from how
    /// many blocks of the runs they lie in.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn estimate(&self) -> Result<Estimate, Error> {
        match &self.0 {
            Kind::Single(ranged) => ranged.estimate(),
            Kind::Triple(ranged) => ranged.estimate(),
        }
    }
}

/// What a scan comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// About how many rows there are.
    pub rows: u64,
    /// About how many keys would have to be read.
    pub keys: u64,
}

impl Iterator for Scan<'_> {
    type Item = Result<u64, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Kind::Single(ranged) => ranged.next_row().transpose(),
            Kind::Triple(ranged) => ranged.next_row().transpose(),
        }
    }
}

/// The keys of a family from one to another, of everything a state holds.
#[derive(Debug)]
pub(super) struct Ranged<'a, K> {
    pub(super) engine: &'a Engine,
    pub(super) state: &'a State,
    pub(super) erased: Option<Arc<RoaringTreemap>>,
    pub(super) family: Family,
    pub(super) low: K,
    pub(super) high: K,
    /// Whether it is worth remembering what it comes to.
    pub(super) recurs: bool,
    /// How many sources are done.
    pub(super) done: usize,
    pub(super) at: Option<Position<'a, K>>,
}

/// Where a scan stands in one source.
#[derive(Debug)]
pub(super) enum Position<'a, K> {
    Memory(std::slice::Iter<'a, K>),
    Run(Box<InRun<'a, K>>),
}

impl<'a, K: Stored> Ranged<'a, K> {
    fn rows(mut self) -> Result<Rows, Error> {
        let mut rows = Vec::new();
        while let Some(row) = self.next_row()? {
            rows.push(row);
        }
        Ok(Rows::from(rows))
    }

    fn next_row(&mut self) -> Result<Option<u64>, Error> {
        Ok(self.next_key()?.map(K::row))
    }

    /// Returns the next key: in the order of keys, first of the runs and then of the memory.
    pub(super) fn next_key(&mut self) -> Result<Option<K>, Error> {
        loop {
            let key = match &mut self.at {
                None => None,
                Some(Position::Memory(keys)) => keys.next().copied(),
                Some(Position::Run(run)) => match run.next(&self.engine.cache, self.high) {
                    Ok(key) => key,
                    Err(error) => {
                        // Whoever goes on after an error must not take the rest for all.
                        self.at = None;
                        self.done = usize::MAX;
                        return Err(error);
                    }
                },
            };
            match key {
                Some(key) if self.shows(key) => return Ok(Some(key)),
                Some(_) => {}
                None => {
                    if !self.next_source()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn shows(&self, key: K) -> bool {
        let erased = self.erased.as_ref();
        // A view of an earlier moment ends inside a run or a chunk.
        self.state.shows(key.row()) && !erased.is_some_and(|erased| erased.contains(key.row()))
    }

    fn set(&self) -> Result<RowSet, Error> {
        let mut set = RowSet::default();
        for run in &self.state.runs {
            match &*self.rows_in(run)? {
                Derived::Rows(rows) => set.unite(rows),
                Derived::Components(_) => {}
            }
        }
        for chunk in &self.state.memory {
            let keys = chunk.range(self.family, self.low, self.high);
            let rows = keys.iter().map(|key| key.row()).collect();
            set.unite(&RowSet::of_unsorted(rows));
        }
        let mut later = self.state.later.as_deref().cloned().unwrap_or_default();
        later &= &set.0;
        set.cut(self.state.watermark..);
        set.0 |= later;
        if let Some(erased) = &self.erased {
            set.0 -= &**erased;
        }
        Ok(set)
    }

    fn among(&self, rows: &RowSet) -> Result<RowSet, Error> {
        let mut among = RowSet::default();
        for run in &self.state.runs {
            if let Derived::Rows(inside) = &*self.rows_in(run)? {
                among.0 |= &inside.0 & &rows.0;
            }
        }
        for chunk in &self.state.memory {
            let keys = chunk.range(self.family, self.low, self.high);
            let inside = keys.iter().map(|key| key.row());
            among.0.extend(inside.filter(|row| rows.contains(*row)));
        }
        Ok(among)
    }

    /// Returns the rows of a run, remembered or read.
    fn rows_in(&self, run: &Run) -> Result<Arc<Derived>, Error> {
        if let Some(kept) = self.remembered(run) {
            return Ok(kept);
        }
        let mut rows = Vec::new();
        let cache = &self.engine.cache;
        let within = InRun::new(run, self.family, cache, self.low, self.high)?;
        if let Some(mut within) = within {
            while let Some(key) = within.next(cache, self.high)? {
                rows.push(key.row());
            }
        }
        let is_kept = rows.len() >= KEPT_MIN && self.recurs;
        let made = Arc::new(Derived::Rows(RowSet::of_unsorted(rows)));
        if is_kept {
            self.engine.derived.insert(self.id(run), Arc::clone(&made));
        }
        Ok(made)
    }

    fn remembered(&self, run: &Run) -> Option<Arc<Derived>> {
        self.recurs
            .then(|| self.engine.derived.get(self.id(run)))
            .flatten()
    }

    fn id(&self, run: &Run) -> DerivedId {
        DerivedId {
            run: run.number,
            family: self.family as u8,
            what: What::Rows(self.low.parts(), self.high.parts()),
        }
    }

    fn estimate(&self) -> Result<Estimate, Error> {
        let mut sum = Estimate::default();
        for run in &self.state.runs {
            let Some(section) = run.section::<K>(self.family) else {
                continue;
            };
            let (blocks, about) = section.between(self.low, self.high);
            if blocks == 0 {
                continue;
            }
            if let Some(Derived::Rows(rows)) = self.remembered(run).as_deref() {
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
        for chunk in &self.state.memory {
            let rows = chunk.range(self.family, self.low, self.high).len() as u64;
            sum.rows += rows;
            sum.keys += rows;
        }
        Ok(sum)
    }

    fn count_in(&self, run: &Run) -> Result<u64, Error> {
        let cache = &self.engine.cache;
        let mut count = 0;
        if let Some(mut within) = InRun::new(run, self.family, cache, self.low, self.high)? {
            while within.next(cache, self.high)?.is_some() {
                count += 1;
            }
        }
        Ok(count)
    }

    /// Moves on to the next run, then to the memory; returns whether there was one.
    fn next_source(&mut self) -> Result<bool, Error> {
        let state = self.state;
        let done = self.done;
        self.done = done.saturating_add(1);
        self.at = if let Some(run) = state.runs.get(done) {
            let within = InRun::new(run, self.family, &self.engine.cache, self.low, self.high)?;
            within.map(|within| Position::Run(Box::new(within)))
        } else if let Some(chunk) = done
            .checked_sub(state.runs.len())
            .and_then(|at| state.memory.get(at))
        {
            let keys = chunk.range(self.family, self.low, self.high);
            Some(Position::Memory(keys.iter()))
        } else {
            self.done = usize::MAX;
            return Ok(false);
        };
        Ok(true)
    }
}

impl<K: Stored> Section<K> {
    /// Returns how many blocks may hold keys from `low` to `high`, and about how many keys.
    fn between(&self, low: K, high: K) -> (usize, u64) {
        if self.last < Some(low) {
            return (0, 0);
        }
        let from = self.fences.partition_point(|fence| *fence <= low);
        let to = self.fences.partition_point(|fence| *fence <= high);
        let blocks = to.saturating_sub(from.saturating_sub(1));
        let all = self.fences.len().max(1) as u64;
        // The first and the last are hardly full of them.
        let full = blocks.saturating_sub(1) as u64;
        (blocks, self.keys * full / all)
    }
}

/// Rows that are worth remembering: fewer are read in a few microseconds.
const KEPT_MIN: usize = 1_024;

/// Walks a range of keys of one run.
#[derive(Debug)]
pub(super) struct InRun<'a, K> {
    run: &'a Run,
    /// Where the block begins and ends, then where the next ones end.
    offsets: &'a [u64],
    block: Arc<Block>,
    walk: Walk<K>,
    /// A key that was read while looking for the first.
    ahead: Option<K>,
}

impl<'a, K: Stored> InRun<'a, K> {
    /// Goes to the first key from `low` on; none if the run has none up to `high`.
    pub(super) fn new(
        run: &'a Run,
        family: Family,
        cache: &Blocks,
        low: K,
        high: K,
    ) -> Result<Option<Self>, Error> {
        let Some(section) = run.section::<K>(family) else {
            return Ok(None);
        };
        if section.last < Some(low) || section.fences.first().is_none_or(|first| *first > high) {
            return Ok(None);
        }
        let after = section.fences.partition_point(|fence| *fence <= low);
        let offsets = section.offsets.get(after.saturating_sub(1)..);
        let Some(offsets @ [offset, end, ..]) = offsets else {
            return Ok(None);
        };
        let block = run.block(cache, *offset, *end)?;
        let mut within = Self {
            run,
            offsets,
            walk: Walk::near(run.shape, &block, low),
            block,
            ahead: None,
        };
        loop {
            match within.next(cache, high)? {
                None => return Ok(None),
                Some(key) if key < low => {}
                found => {
                    within.ahead = found;
                    return Ok(Some(within));
                }
            }
        }
    }

    pub(super) fn next(&mut self, cache: &Blocks, high: K) -> Result<Option<K>, Error> {
        if let Some(key) = self.ahead.take() {
            return Ok((key <= high).then_some(key));
        }
        loop {
            let key = self.walk.next(&self.block);
            let at = self.offsets.first().copied().unwrap_or(0);
            if let Some(key) = key.map_err(|reason| self.run.damaged(at, reason))? {
                return Ok((key <= high).then_some(key));
            }
            self.offsets = self.offsets.split_first().map_or(&[], |(_, rest)| rest);
            let [offset, end, ..] = self.offsets else {
                return Ok(None);
            };
            self.block = self.run.block(cache, *offset, *end)?;
            self.walk = Walk::new(self.run.shape);
        }
    }
}

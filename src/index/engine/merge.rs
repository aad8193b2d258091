//! Flushing and merging: memtables become runs, runs become fewer runs, erased rows disappear.
//!
//! A run that is written is published by `CURRENT` and only then visible.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::ledger::{EntryLocation, LedgerPosition};

use super::current::CurrentFile;
use super::open;
use super::shared::{Engine, Maintenance};
use super::version::{FAN_IN, ImmutableMemtable, Version};
use crate::index::key::encoding::{Key, Pair, Single};
use crate::index::memory::memtable::{Memtable, key_is_erased, merged};
use crate::index::run::filter::Filter;
use crate::index::run::{self, Run, RunCursor, RunKey, RunWriter, Source, Stream};
use crate::index::{Addresses, Error, Family};

/// The input of a run that is written.
enum Input<'a> {
    Memory(&'a [Arc<Memtable>], &'a ImmutableMemtable),
    Runs(&'a [Arc<Run>]),
}

impl Engine {
    /// Writes all immutable memtables to runs.
    pub(in crate::index) fn flush(&self, maintenance: &mut Maintenance) -> Result<(), Error> {
        loop {
            let version = self.version();
            let Some(immutable) = version.immutable.first() else {
                return Ok(());
            };
            open::attach(self, maintenance)?;
            let memtables = version.memtables.iter();
            let memtables: Vec<_> = memtables
                .take_while(|memtable| memtable.rows.end <= immutable.end)
                .cloned()
                .collect();
            let input = Input::Memory(&memtables, immutable);
            let run = self.write(maintenance.take_number(), &input, &mut || Ok(()))?;
            self.publish_version(maintenance, &version, |next| {
                next.set_flushed(Arc::clone(&run));
            })?;
            // Under the lock of the waiting writers, so that none misses the signal.
            let _waiting = self.signal.lock();
            self.room.notify_all();
        }
    }

    /// Merges as long as there are [`FAN_IN`] runs of a size.
    pub(super) fn merge_due(&self, maintenance: &mut Maintenance) -> Result<(), Error> {
        loop {
            let version = self.version();
            let due = self.due_runs(&version);
            if due < FAN_IN {
                return Ok(());
            }
            let from = version.runs.len().saturating_sub(due);
            self.merge(version.runs.split_at(from).1, maintenance)?;
        }
    }

    /// Merges all runs into one.
    pub(super) fn merge_all(&self, maintenance: &mut Maintenance) -> Result<(), Error> {
        let version = self.version();
        if version.runs.len() > 1 {
            self.merge(&version.runs, maintenance)?;
        }
        Ok(())
    }

    /// Returns the number of runs, from the last back, whose size class is at most that of the
    /// last.
    fn due_runs(&self, version: &Version) -> usize {
        let class = |run: &Arc<Run>| {
            let rows = run.rows.end - run.rows.start;
            (rows / self.options.flush_rows.max(1))
                .max(1)
                .ilog(FAN_IN as u64)
        };
        let last = version.runs.last().map_or(0, class);
        let equal = version
            .runs
            .iter()
            .rev()
            .take_while(|run| class(run) <= last);
        equal.count()
    }

    fn merge(&self, runs: &[Arc<Run>], maintenance: &mut Maintenance) -> Result<(), Error> {
        let number = maintenance.take_number();
        let mut pause = || {
            if self.signal.lock().is_stopping {
                return Err(Error::Stopped);
            }
            // A long merge must not make the writer wait for room.
            self.flush(maintenance)
        };
        let run = self.write(number, &Input::Runs(runs), &mut pause)?;
        let version = self.version();
        self.publish_version(maintenance, &version, |next| {
            next.set_merged(Arc::clone(&run));
        })?;
        for old in runs {
            old.retire(&self.is_open);
        }
        Ok(())
    }

    /// Rewrites the runs that have keys of erased rows, and removes those keys from memory.
    pub(super) fn expunge(&self, maintenance: &mut Maintenance) -> Result<(), Error> {
        let Some(erased) = self.erased() else {
            return Ok(());
        };
        open::attach(self, maintenance)?;
        self.settle(maintenance)?;
        let fresh = &*erased - &maintenance.expunged;
        let is_erased = |row| fresh.contains(row);
        let version = self.version();
        let mut rewritten = Vec::new();
        for run in &version.runs {
            if self.mentions(run, &fresh)? {
                let input = Input::Runs(std::slice::from_ref(run));
                let new = self.write(maintenance.take_number(), &input, &mut || Ok(()))?;
                rewritten.push((Arc::clone(run), new));
            }
        }
        let replace = |next: &mut Version| {
            for (_, new) in &rewritten {
                next.set_merged(Arc::clone(new));
            }
        };
        if !rewritten.is_empty() {
            self.publish_version(maintenance, &version, replace)?;
        }
        rewritten
            .iter()
            .for_each(|(old, _)| old.retire(&self.is_open));
        self.update(|next| {
            for memtable in &mut next.memtables {
                *memtable = Arc::new(memtable.without(&is_erased));
            }
            for overlay in &mut next.overlays {
                overlay.memtable = Arc::new(overlay.memtable.without(&is_erased));
            }
        });
        if let Some(map) = &self.map {
            map.forget(&is_erased);
        }
        maintenance.expunged |= fresh;
        Ok(())
    }

    /// Returns whether a run has keys that go with erased rows.
    fn mentions(&self, run: &Run, erased: &RoaringTreemap) -> Result<bool, Error> {
        for row in erased {
            let low = Single::new([row, 0], 0);
            let high = Single::new([row, 0], u64::MAX);
            let status = |family| {
                let found = RunCursor::new(run, family, &self.cache, low, high);
                found.map(|found| found.is_some())
            };
            if run.rows.contains(&row)
                || run.not_current.contains(row)
                || status(Family::Status)?
                || status(Family::NotCurrent)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes a change of runs durable, then visible. After an error either version may be the one
    /// on disk: both are whole, and the files of both stay until [`Engine::settle`].
    fn publish_version(
        &self,
        maintenance: &mut Maintenance,
        version: &Version,
        change: impl Fn(&mut Version),
    ) -> Result<(), Error> {
        let mut next = version.clone();
        change(&mut next);
        let named = CurrentFile::of(next.runs.iter().map(|run| &**run));
        if let Err(error) = named.publish(&*self.disk, &self.store_id) {
            let before = CurrentFile::of(version.runs.iter().map(|run| &**run));
            let new = named.runs.iter().filter(|run| !before.runs.contains(run));
            maintenance.doubtful.extend(new.map(|run| run.number));
            return Err(error);
        }
        self.update(change);
        Ok(())
    }

    /// Makes the version on disk the one that is visible, and removes the runs of which publishing
    /// failed. Invariant: no run that the next opening reads has keys of a row whose erasure is
    /// complete, so an erasure must know which runs those are.
    fn settle(&self, maintenance: &mut Maintenance) -> Result<(), Error> {
        if maintenance.doubtful.is_empty() {
            return Ok(());
        }
        let version = CurrentFile::of(self.version().runs.iter().map(|run| &**run));
        version.publish(&*self.disk, &self.store_id)?;
        while let Some(number) = maintenance.doubtful.last() {
            let name = run::name_of(*number);
            match self.disk.remove(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &name)(error));
                }
                _ => drop(maintenance.doubtful.pop()),
            }
        }
        Ok(())
    }

    /// Writes a run and opens it. `pause` is called between families.
    fn write(
        &self,
        number: u64,
        input: &Input<'_>,
        pause: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<Arc<Run>, Error> {
        let run = self.try_write(number, input, pause).and_then(|()| {
            let opened = Run::open(&self.disk, &self.store_id, number);
            let mut run = opened.map_err(|fault| fault.into_error(number))?;
            if self.options.addresses == Addresses::Filters {
                run.load_filter()?;
            }
            Ok(run)
        });
        // No version names it, so a partial run only wastes space.
        let run = run.inspect_err(|_| drop(self.disk.remove(&run::name_of(number))))?;
        Ok(Arc::new(run))
    }

    fn try_write(
        &self,
        number: u64,
        input: &Input<'_>,
        pause: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let erased = self.erased();
        let is_erased = |row| erased.as_ref().is_some_and(|erased| erased.contains(row));
        let mut writer = RunWriter::create(&self.disk, self.store_id, number, &input.rows())?;
        let mut not_current = RoaringTreemap::new();
        let mut filter = Filter::with_keys(input.grain_count());
        for family in Family::SINGLES {
            let mut keep = |key: Single| {
                let [part, ..] = key.parts();
                let is_kept = !key_is_erased(family, key, &is_erased);
                match family {
                    Family::NotCurrent if is_kept => drop(not_current.insert(part)),
                    Family::Address if is_kept => filter.insert(part),
                    _ => {}
                }
                is_kept
            };
            writer.section(family, input.sources(family), &mut keep)?;
            pause()?;
        }
        for family in Family::PAIRS {
            let mut keep = |key: Pair| !is_erased(key.row());
            writer.section(family, input.sources(family), &mut keep)?;
            pause()?;
        }
        input.locations(&mut |locations| writer.locations(locations))?;
        let mut grains = input.grains();
        if let Some(erased) = &erased {
            grains -= &**erased;
        }
        writer.finish(&filter, grains, not_current, input.position())
    }
}

impl Input<'_> {
    fn rows(&self) -> Range<u64> {
        match self {
            Self::Memory(memtables, immutable) => {
                memtables
                    .first()
                    .map_or(immutable.end, |memtable| memtable.rows.start)
                    ..immutable.end
            }
            Self::Runs(runs) => {
                let first = runs.first().map_or(0, |run| run.rows.start);
                first..runs.last().map_or(0, |run| run.rows.end)
            }
        }
    }

    fn sources<K: RunKey>(&self, family: Family) -> Vec<Source<K>> {
        match self {
            Self::Memory(memtables, _) => {
                let memtables: Vec<&Memtable> =
                    memtables.iter().map(|memtable| &**memtable).collect();
                vec![Source::List(merged(family, &memtables).into_iter())]
            }
            Self::Runs(runs) => runs
                .iter()
                .map(|run| Source::Run(Box::new(Stream::new(Arc::clone(run), family))))
                .collect(),
        }
    }

    fn grains(&self) -> RoaringTreemap {
        match self {
            Self::Memory(memtables, _) => {
                let rows = memtables
                    .iter()
                    .flat_map(|memtable| memtable.grains.iter().copied());
                rows.collect()
            }
            Self::Runs(runs) => {
                let rows = runs.iter().map(|run| &run.grains);
                rows.fold(RoaringTreemap::new(), |all, rows| all | rows)
            }
        }
    }

    fn grain_count(&self) -> u64 {
        match self {
            Self::Memory(memtables, _) => memtables
                .iter()
                .map(|memtable| memtable.grains.len() as u64)
                .sum(),
            Self::Runs(runs) => runs.iter().map(|run| run.grains.len()).sum(),
        }
    }

    fn locations(
        &self,
        visit: &mut dyn FnMut(&[EntryLocation]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Self::Memory(_, immutable) => visit(&immutable.locations),
            Self::Runs(runs) => runs.iter().try_for_each(|run| run.locations(visit)),
        }
    }

    fn position(&self) -> Option<LedgerPosition> {
        match self {
            Self::Memory(_, immutable) => immutable.position,
            Self::Runs(runs) => runs.last().and_then(|run| run.position),
        }
    }
}

impl Maintenance {
    const fn take_number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

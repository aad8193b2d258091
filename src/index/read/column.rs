//! Columns: one component by row, for sorting.
//!
//! Only families with at most one key a row have columns.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::codec::{ContentAddress, Value};
use crate::grain::Time;
use crate::index::engine::result_cache::{CachedResult, ResultKey, ResultKind};
use crate::index::engine::shared::Engine;
use crate::index::engine::version::Version;
use crate::index::key::encoding::{Key, Single, ordered, ordered_number, prefix_of};
use crate::index::run::{Run, Stream};
use crate::index::{Error, Family, RowSet, Snapshot};
use crate::ledger::EntryId;

/// The component of one family by row, to sort by.
#[derive(Debug)]
pub(crate) struct Column {
    /// The parts, each with its first row, in the order of rows.
    parts: Vec<(u64, Part)>,
    /// The components of the rows of overlays, in the order of rows.
    overlaid: Vec<(u64, u64)>,
}

#[derive(Debug)]
enum Part {
    Cached(Arc<CachedResult>),
    Computed(Vec<u64>),
}

impl Part {
    fn components(&self) -> &[u64] {
        match self {
            Self::Computed(components) => components,
            Self::Cached(kept) => match &**kept {
                CachedResult::Components(components) => components,
                CachedResult::Rows(_) => &[],
            },
        }
    }
}

impl Column {
    /// Returns those of the rows whose time is in `from..=to`; those without a time if
    /// `with_none` says so.
    pub(crate) fn with_times(
        &self,
        rows: &RowSet,
        from: Option<Time>,
        to: Option<Time>,
        with_none: bool,
    ) -> RowSet {
        let low = from.map_or(0, |from| ordered(from.ms()));
        let high = to.map_or(u64::MAX, |to| ordered(to.ms()));
        self.within(rows, &(low..=high), with_none)
    }

    /// Returns those of the rows whose number is in `from..=to`.
    pub(crate) fn with_numbers(&self, rows: &RowSet, from: Option<f64>, to: Option<f64>) -> RowSet {
        let low = from.map_or(0, ordered_number);
        let high = to.map_or(u64::MAX, ordered_number);
        self.within(rows, &(low..=high), false)
    }

    fn within(&self, rows: &RowSet, range: &RangeInclusive<u64>, with_none: bool) -> RowSet {
        let holds = |component: Option<u64>| component.map_or(with_none, |it| range.contains(&it));
        if !self.overlaid.is_empty() {
            return rows.iter().filter(|row| holds(self.get(*row))).collect();
        }
        // Rows ascend, and so do the parts: each is looked up once.
        let mut parts = self.parts.iter().peekable();
        let (mut first, mut components): (u64, &[u64]) = (0, &[]);
        let mut kept = Vec::new();
        for row in rows.iter().map(EntryId::get) {
            while let Some((start, part)) = parts.next_if(|(start, _)| *start <= row) {
                (first, components) = (*start, part.components());
            }
            let at = usize::try_from(row - first).unwrap_or(usize::MAX);
            let component = components.get(at).copied();
            if holds(component.filter(|component| *component != 0)) {
                kept.push(row);
            }
        }
        RowSet::of_unsorted(kept)
    }

    /// Returns the component of a time or a number.
    pub(crate) fn component(value: &Value) -> Option<u64> {
        let time = value.as_i64().map(ordered);
        time.or_else(|| value.as_f64().map(ordered_number))
    }

    /// Returns the component of an address in [`Family::Address`]: its first eight bytes.
    pub(crate) fn address(address: &ContentAddress) -> u64 {
        prefix_of(address)
    }

    /// Returns the component of a row; `None` if the row has no key of the family.
    pub(crate) fn get(&self, row: EntryId) -> Option<u64> {
        let row = row.get();
        if let Ok(at) = self.overlaid.binary_search_by_key(&row, |(row, _)| *row) {
            let found = self.overlaid.get(at).map(|(_, component)| *component);
            return found.filter(|component| *component != 0);
        }
        let after = self.parts.partition_point(|(first, _)| *first <= row);
        let (first, part) = self.parts.get(after.checked_sub(1)?)?;
        let component = part.components().get(usize::try_from(row - first).ok()?)?;
        (*component != 0).then_some(*component)
    }
}

impl Snapshot {
    /// Returns the components of a family by row, for a family with at most one key a row.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub(crate) fn column(&self, family: Family) -> Result<Column, Error> {
        let (engine, version) = self.parts();
        let mut parts = Vec::new();
        for run in &version.runs {
            parts.push((run.rows.start, Part::Cached(of_run(engine, run, family)?)));
        }
        parts.extend(of_memory(version, family));
        let overlays = version.overlays.iter();
        let keys = overlays.flat_map(|overlay| overlay.memtable.keys::<Single>(family));
        let mut overlaid: Vec<_> = keys
            .map(|key| {
                let [component, ..] = key.parts();
                (key.row(), component)
            })
            .collect();
        overlaid.sort_unstable();
        Ok(Column { parts, overlaid })
    }
}

fn of_run(engine: &Engine, run: &Arc<Run>, family: Family) -> Result<Arc<CachedResult>, Error> {
    let id = ResultKey {
        run: run.number,
        family: family as u8,
        what: ResultKind::Components,
    };
    if let Some(kept) = engine.results.get(id) {
        return Ok(kept);
    }
    let mut components = zeros(run.rows.end - run.rows.start);
    let mut keys = Stream::<Single>::new(Arc::clone(run), family);
    while let Some(key) = keys.next()? {
        set(&mut components, run.rows.start, key);
    }
    let made = Arc::new(CachedResult::Components(components));
    engine.results.insert(id, Arc::clone(&made));
    Ok(made)
}

fn of_memory(version: &Version, family: Family) -> impl Iterator<Item = (u64, Part)> {
    version.memtables.iter().map(move |memtable| {
        let mut components = zeros(memtable.rows.end - memtable.rows.start);
        for key in memtable.keys::<Single>(family) {
            set(&mut components, memtable.rows.start, *key);
        }
        (memtable.rows.start, Part::Computed(components))
    })
}

fn zeros(len: u64) -> Vec<u64> {
    vec![0; usize::try_from(len).unwrap_or(0)]
}

fn set(components: &mut [u64], first: u64, key: Single) {
    let [component, ..] = key.parts();
    let slot = usize::try_from(key.row().wrapping_sub(first)).ok();
    if let Some(slot) = slot.and_then(|at| components.get_mut(at)) {
        *slot = component;
    }
}

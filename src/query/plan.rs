//! The query planner and its evaluation: orders the conditions of a filter by their estimated rows,
//! chooses an access path for each, and intersects row sets.
//!
//! [`QueryPlan`] reports these steps to the caller.

use std::fmt;
use std::sync::Arc;

use crate::grain::{ENVELOPE_TAG, Time};
use crate::index::{Estimate, Family, RowSet, Snapshot};
use crate::store::governance::united;
use crate::store::read::version_at;
use crate::store::{Access, read};

use super::condition::{Condition, IndexSource};
use super::filter::VersionScope;
use super::{Error, Filter};

/// The evaluation of a query: its steps in order, and the number of rows left after each.
///
/// ```
/// use grainstore::{Draft, Filter, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::belief("user", "prefers", "dark mode").confidence(0.9))?;
/// let plan = store.maintenance()?.explain(&Filter::new().subject("user"))?;
/// assert_eq!(plan.steps[0].condition, "subject = \"user\"");
/// assert_eq!(plan.total(), 1);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryPlan {
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
}

/// A step of the evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// The condition.
    pub condition: String,
    /// How it was evaluated, in words: `rows that fit`, `without rows that do not`, `value by value`,
    /// `grain by grain`, `all grains`.
    pub access_path: &'static str,
    /// The estimated number of rows that the index lists for the condition; `None` if the index was
    /// not used.
    pub estimate: Option<u64>,
    /// The number of rows left.
    pub left: u64,
}

/// How a condition is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccessPath {
    /// All grains.
    All,
    /// The index lists the rows that meet the condition.
    List,
    /// The index lists the rows that fail the condition.
    Exclusion,
    /// The value of each remaining row is looked up.
    Values,
    /// Each remaining grain is read.
    Grains,
}

impl QueryPlan {
    /// Returns the number of grains that passed.
    pub fn total(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.left)
    }
}

impl fmt::Display for QueryPlan {
    /// Writes one line per step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.steps.iter().enumerate() {
            let end = if n == 0 { "" } else { "\n" };
            let about = step.estimate.map(|rows| format!(", about {rows}"));
            write!(
                f,
                "{end}{}: {}{}, {} left",
                step.condition,
                step.access_path,
                about.unwrap_or_default(),
                step.left
            )?;
        }
        Ok(())
    }
}

impl AccessPath {
    const fn name(self) -> &'static str {
        match self {
            Self::All => "all grains",
            Self::List => "rows that fit",
            Self::Exclusion => "without rows that do not",
            Self::Values => "value by value",
            Self::Grains => "grain by grain",
        }
    }
}

/// See [`Maintenance::explain`](crate::Maintenance::explain).
pub(crate) fn explain(store: &Access, filter: &Filter) -> Result<QueryPlan, Error> {
    let snapshot = store.snapshot();
    let trace = Some(QueryPlan::default());
    let plan = Plan::of(store, &snapshot, filter, read::now(store), trace)?;
    Ok(plan.trace.unwrap_or_default())
}

/// Returns the rows of the grains that pass a filter now.
pub(crate) fn rows(
    store: &Access,
    snapshot: &Snapshot,
    filter: &Filter,
) -> Result<Arc<RowSet>, Error> {
    rows_at(store, snapshot, filter, read::now(store))
}

/// Returns the rows that a search, a recall or a vector search may rank: those that pass a
/// filter, without the cold ones unless it asks for them (OMS 22.8).
pub(super) fn rows_to_rank(
    store: &Access,
    snapshot: &Snapshot,
    filter: &Filter,
) -> Result<Arc<RowSet>, Error> {
    let mut rows = rows(store, snapshot, filter)?;
    if !filter.shows_cold() {
        let cold = snapshot.with_facet("recall_priority", "cold").set()?;
        if !cold.is_empty() {
            Arc::make_mut(&mut rows).subtract(&cold);
        }
    }
    Ok(rows)
}

/// Returns the rows of the grains that pass a filter and have not expired by a time.
pub(super) fn rows_at(
    store: &Access,
    snapshot: &Snapshot,
    filter: &Filter,
    now: Time,
) -> Result<Arc<RowSet>, Error> {
    Ok(Plan::of(store, snapshot, filter, now, None)?.rows)
}

/// Returns the rows of the grains that pass, and the number withheld for a missing consent.
#[cfg(feature = "interchange")]
pub(super) fn rows_and_withheld(
    store: &Access,
    snapshot: &Snapshot,
    filter: &Filter,
) -> Result<(RowSet, u64), Error> {
    let plan = Plan::of(store, snapshot, filter, read::now(store), None)?;
    Ok((Arc::unwrap_or_clone(plan.rows), plan.consent_withheld))
}

/// Returns the conditions of a filter; where one names a user, it asks for every user id of the person
/// (ruling I29). A handle of one user stays with that one.
pub(super) fn conditions_of(
    store: &Access,
    snapshot: &Snapshot,
    filter: &Filter,
) -> Result<Vec<Condition>, Error> {
    let mut conditions = filter.conditions();
    let is_of_one = store.capability().is_some_and(|it| it.user().is_some());
    if is_of_one || !filter.names_user() {
        return Ok(conditions);
    }
    for condition in &mut conditions {
        let Condition::Text {
            family: Family::User,
            text,
            ..
        } = condition
        else {
            continue;
        };
        let users = united(store, snapshot, vec![text.clone()])?;
        if users.len() > 1 {
            *condition = Condition::Users(users);
        }
    }
    Ok(conditions)
}

/// A query during evaluation.
#[derive(Default)]
struct Plan {
    /// Shared with other questions as long as nothing narrows them.
    rows: Arc<RowSet>,
    /// `None` unless the caller asked for the plan.
    trace: Option<QueryPlan>,
    /// The number of grains withheld for a missing consent.
    consent_withheld: u64,
}

impl Plan {
    /// Evaluates the condition first whose rows are had at the least cost. A condition whose list is not worth reading is
    /// tested row by row.
    fn of(
        store: &Access,
        snapshot: &Snapshot,
        filter: &Filter,
        now: Time,
        trace: Option<QueryPlan>,
    ) -> Result<Self, Error> {
        filter.validate()?;
        let mut plan = Self {
            trace,
            ..Self::default()
        };
        let conditions = conditions_of(store, snapshot, filter)?;
        let mut sources = Vec::with_capacity(conditions.len());
        for condition in &conditions {
            sources.push((condition, condition.source(snapshot)?));
        }
        sources.sort_by_key(|(_, source)| (source.excludes, cost(source.estimate)));
        let mut sources = sources.into_iter().peekable();
        let (mut by_grain, mut is_current) = (Vec::new(), false);
        match sources.next_if(|(_, source)| !source.excludes) {
            Some((condition, source)) => {
                let estimate = Some(source.estimate.rows);
                plan.rows = Arc::new(source.rows()?);
                plan.step(condition, AccessPath::List, estimate);
                by_grain.extend((!condition.is_indexed()).then_some(condition));
            }
            // `explain` lists these as two steps.
            None if plan.trace.is_none() && is_of_current(filter) => {
                plan.rows = snapshot.current()?;
                is_current = true;
            }
            None => {
                plan.rows = Arc::new(snapshot.grains());
                plan.step(&"stored", AccessPath::All, None);
            }
        }
        if !is_current {
            plan.state(snapshot, filter)?;
        }
        // Lists at hand narrow first: of the few rows that they leave, values are looked up, and no
        // long list is read.
        let mut sources: Vec<_> = sources.collect();
        sources.sort_by_key(|(_, source)| source.estimate.keys);
        for (condition, source) in sources {
            match plan.access_path(condition, &source) {
                AccessPath::Grains => by_grain.push(condition),
                access_path => {
                    plan.narrow(snapshot, condition, source, access_path)?;
                    by_grain.extend((!condition.is_indexed()).then_some(condition));
                }
            }
        }
        plan.read(store, snapshot, &by_grain)?;
        if !filter.shows_expired() {
            plan.exclude_expired(&read::expired(store, snapshot, &plan.rows, now)?);
        }
        plan.exclude_unconsented(&*read::unconsented(store, snapshot)?);
        if filter.names_user() {
            let held = read::held(store, snapshot)?;
            if !held.is_empty() {
                plan.exclude(&held);
                plan.step(&"of a user", AccessPath::Exclusion, None);
            }
        }
        if !filter.shows_envelopes() {
            plan.exclude_envelopes(snapshot)?;
        }
        if !filter.shows_unreviewed() {
            plan.exclude_unreviewed(&*read::unreviewed(store)?);
        }
        Ok(plan)
    }

    fn exclude(&mut self, rows: &RowSet) {
        if !rows.is_empty() {
            Arc::make_mut(&mut self.rows).subtract(rows);
        }
    }

    /// Excludes grains whose consent does not hold (OMS 8.10).
    fn exclude_unconsented(&mut self, unconsented: &RowSet) {
        if unconsented.is_empty() {
            return;
        }
        let before = self.rows.len();
        self.exclude(unconsented);
        self.consent_withheld = before - self.rows.len();
        self.step(&"consented to", AccessPath::Exclusion, None);
    }

    /// Excludes grains that are no longer valid, and goals past their deadline (ruling I23).
    fn exclude_expired(&mut self, expired: &RowSet) {
        if !expired.is_empty() {
            self.exclude(expired);
            self.step(&"not expired", AccessPath::Exclusion, None);
        }
    }

    /// Excludes the envelopes of imported files.
    fn exclude_envelopes(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        let envelopes = snapshot.with_text(Family::Tag, ENVELOPE_TAG);
        let envelopes = envelopes.among(&self.rows)?;
        if !envelopes.is_empty() {
            self.exclude(&envelopes);
            self.step(&"no envelope of a file", AccessPath::Exclusion, None);
        }
        Ok(())
    }

    /// Excludes grains that await human review (OMS 6.1).
    fn exclude_unreviewed(&mut self, unreviewed: &RowSet) {
        if !unreviewed.is_empty() {
            self.exclude(unreviewed);
            self.step(&"reviewed", AccessPath::Exclusion, None);
        }
    }

    /// Chooses the access path of a condition.
    fn access_path(&self, condition: &Condition, source: &IndexSource<'_>) -> AccessPath {
        let left = self.rows.len();
        let keys = source.estimate.keys;
        if keys > left.saturating_mul(KEYS_PER_GRAIN) && left <= FEW {
            AccessPath::Grains
        } else if condition.column().is_some() && is_quicker_by_value(keys, left) {
            AccessPath::Values
        } else if source.excludes {
            AccessPath::Exclusion
        } else {
            AccessPath::List
        }
    }

    fn narrow(
        &mut self,
        snapshot: &Snapshot,
        condition: &Condition,
        source: IndexSource<'_>,
        access_path: AccessPath,
    ) -> Result<(), Error> {
        let estimate = Some(source.estimate.rows);
        match (access_path, condition.column()) {
            (AccessPath::Values, Some(family)) => {
                let column = snapshot.column(family)?;
                self.rows = Arc::new(condition.among_values(&column, &self.rows));
            }
            (AccessPath::Exclusion, _) => self.exclude(&source.among(&self.rows)?),
            _ => self.rows = Arc::new(source.among(&self.rows)?),
        }
        self.step(condition, access_path, estimate);
        Ok(())
    }

    /// Keeps the versions that the filter selects, as of now or of the time asked about.
    fn state(&mut self, snapshot: &Snapshot, filter: &Filter) -> Result<(), Error> {
        let before = match filter.state() {
            VersionScope::Any => return Ok(()),
            VersionScope::Current => None,
            VersionScope::Ended => Some(Arc::clone(&self.rows)),
        };
        match filter.known_at_time() {
            Some(time) => self.exclude(&snapshot.not_current_at(time)?),
            None => snapshot.retain_current(Arc::make_mut(&mut self.rows))?,
        }
        let mut condition = "current";
        if let Some(before) = before {
            let current = std::mem::replace(&mut self.rows, before);
            self.exclude(&current);
            condition = "no longer current";
        }
        match filter.known_at_time() {
            Some(time) => self.step(
                &format_args!("{condition} at {time}"),
                AccessPath::Exclusion,
                None,
            ),
            None => self.step(&condition, AccessPath::Exclusion, None),
        }
        Ok(())
    }

    /// Reads the remaining grains and keeps those that meet the remaining conditions.
    fn read(
        &mut self,
        store: &Access,
        snapshot: &Snapshot,
        conditions: &[&Condition],
    ) -> Result<(), Error> {
        if conditions.is_empty() {
            return Ok(());
        }
        let mut kept = RowSet::default();
        for row in self.rows.iter() {
            let version = version_at(store, snapshot, row)?;
            if conditions.iter().all(|condition| condition.holds(&version)) {
                kept.insert(row);
            }
        }
        self.rows = Arc::new(kept);
        let conditions: Vec<_> = conditions.iter().map(ToString::to_string).collect();
        self.step(&conditions.join("; "), AccessPath::Grains, None);
        Ok(())
    }

    fn step(&mut self, condition: &impl ToString, access_path: AccessPath, estimate: Option<u64>) {
        if let Some(trace) = &mut self.trace {
            trace.steps.push(PlanStep {
                condition: condition.to_string(),
                access_path: access_path.name(),
                estimate,
                left: self.rows.len(),
            });
        }
    }
}

/// Returns whether a filter selects the grains that are current now.
fn is_of_current(filter: &Filter) -> bool {
    filter.state() == VersionScope::Current && filter.known_at_time().is_none()
}

/// Returns what the rows of a list cost, in keys of the index: those at hand little.
const fn cost(estimate: Estimate) -> u64 {
    estimate.keys.saturating_add(estimate.rows / ROWS_PER_KEY)
}

/// Returns whether looking up `left` values is cheaper than reading `keys` keys and sorting them by
/// row.
const fn is_quicker_by_value(keys: u64, left: u64) -> bool {
    keys > left.saturating_mul(KEYS_PER_VALUE) || (keys > KEYS_MANY && keys > left / 2)
}

/// The rows of a cached list that cost as much as a key that is read.
const ROWS_PER_KEY: u64 = 8;

/// The cost of reading a grain, in keys of the index.
const KEYS_PER_GRAIN: u64 = 100;

/// The cost of looking up a value, in keys of the index. For few rows it is dominated by building
/// the column of what is in memory.
const KEYS_PER_VALUE: u64 = 4;

/// Above this number of keys building the column is cheaper, and a value then costs a fraction of a
/// key.
const KEYS_MANY: u64 = 4_096;

/// At most this many grains are read instead of a long list, even though the list would be cached.
const FEW: u64 = 48;

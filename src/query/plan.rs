use std::fmt;

use crate::grain::Time;
use crate::index::{RowSet, Snapshot};
use crate::store::Store;

use super::condition::{Condition, Part};
use super::filter::State;
use super::{Error, Filter};

/// How a question was answered: what was asked in which order, and what was left after each.
///
/// ```
/// use grainstore::{Draft, Filter, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::belief("user", "prefers", "dark mode").confidence(0.9))?;
/// let plan = store.explain(&Filter::new().subject("user"))?;
/// assert_eq!(plan.steps[0].condition, "subject = \"user\"");
/// assert_eq!(plan.total(), 1);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What had to hold.
    pub condition: String,
    /// How it was found out.
    pub way: Way,
    /// About how many rows of the index say that it holds, or that it does not; none where the
    /// index was not asked.
    pub estimate: Option<u64>,
    /// How many rows were left.
    pub left: u64,
}

/// How a condition is found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// From all grains there are.
    All,
    /// From the list of the rows that fit.
    List,
    /// From the list of the rows that do not.
    Exclusion,
    /// By the value of each row that was left.
    Values,
    /// By reading each grain that was left.
    Grains,
}

impl Explanation {
    /// Returns how many grains passed.
    pub fn total(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.left)
    }
}

impl fmt::Display for Explanation {
    /// Writes a line for each step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.steps.iter().enumerate() {
            let end = if n == 0 { "" } else { "\n" };
            let about = step.estimate.map(|rows| format!(", about {rows}"));
            write!(
                f,
                "{end}{}: {}{}, {} left",
                step.condition,
                step.way,
                about.unwrap_or_default(),
                step.left
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all grains",
            Self::List => "rows that fit",
            Self::Exclusion => "without rows that do not",
            Self::Values => "value by value",
            Self::Grains => "grain by grain",
        })
    }
}

impl Store {
    /// Answers a question and tells how.
    ///
    /// # Errors
    /// As [`Store::query`].
    pub fn explain(&self, filter: &Filter) -> Result<Explanation, Error> {
        let snapshot = self.snapshot();
        let explanation = Some(Explanation::default());
        let plan = Plan::of(self, &snapshot, filter, self.now(), explanation)?;
        Ok(plan.explanation.unwrap_or_default())
    }

    /// Returns the rows of the grains that pass a filter now.
    pub(super) fn rows(&self, snapshot: &Snapshot, filter: &Filter) -> Result<RowSet, Error> {
        self.rows_at(snapshot, filter, self.now())
    }

    /// Returns the rows of the grains that pass a filter, of which none has expired by a time.
    pub(super) fn rows_at(
        &self,
        snapshot: &Snapshot,
        filter: &Filter,
        now: Time,
    ) -> Result<RowSet, Error> {
        Ok(Plan::of(self, snapshot, filter, now, None)?.rows)
    }

    /// Returns the rows of the grains that pass, and how many more a missing consent keeps back.
    pub(super) fn rows_told(
        &self,
        snapshot: &Snapshot,
        filter: &Filter,
    ) -> Result<(RowSet, u64), Error> {
        let plan = Plan::of(self, snapshot, filter, self.now(), None)?;
        Ok((plan.rows, plan.kept_back))
    }
}

/// An answer in the making.
#[derive(Default)]
struct Plan {
    rows: RowSet,
    /// None where nobody asks how: every question has a plan, and few are to be told.
    explanation: Option<Explanation>,
    /// Grains that a missing consent keeps back.
    kept_back: u64,
}

impl Plan {
    /// Asks the index for the fewest rows first; what is not worth a list is looked at row by row.
    fn of(
        store: &Store,
        snapshot: &Snapshot,
        filter: &Filter,
        now: Time,
        explanation: Option<Explanation>,
    ) -> Result<Self, Error> {
        filter.validate()?;
        let mut plan = Self {
            explanation,
            ..Self::default()
        };
        let conditions = filter.conditions();
        let mut asked = Vec::with_capacity(conditions.len());
        for condition in &conditions {
            asked.push((condition, condition.part(snapshot)?));
        }
        asked.sort_by_key(|(_, part)| (part.excludes, part.estimate.rows));
        let mut asked = asked.into_iter().peekable();
        let mut by_grain = Vec::new();
        match asked.next_if(|(_, part)| !part.excludes) {
            Some((condition, part)) => {
                let estimate = Some(part.estimate.rows);
                plan.rows = part.rows()?;
                plan.step(condition, Way::List, estimate);
                by_grain.extend((!condition.is_indexed()).then_some(condition));
            }
            None => {
                plan.rows = snapshot.grains();
                plan.step(&"stored", Way::All, None);
            }
        }
        plan.state(snapshot, filter)?;
        for (condition, part) in asked {
            match plan.way(condition, &part) {
                Way::Grains => by_grain.push(condition),
                way => {
                    plan.narrow(snapshot, condition, part, way)?;
                    by_grain.extend((!condition.is_indexed()).then_some(condition));
                }
            }
        }
        plan.read(store, snapshot, &by_grain)?;
        if !filter.shows_expired() {
            plan.leave_out_expired(&store.expired(snapshot, &plan.rows, now)?);
        }
        plan.keep_back(&*store.unconsented(snapshot)?);
        if !filter.shows_unreviewed() {
            plan.leave_out(&*store.unreviewed()?);
        }
        Ok(plan)
    }

    /// Leaves out what rests on a consent that does not hold (OMS 8.10).
    fn keep_back(&mut self, unconsented: &RowSet) {
        if unconsented.is_empty() {
            return;
        }
        let before = self.rows.len();
        self.rows.subtract(unconsented);
        self.kept_back = before - self.rows.len();
        self.step(&"consented to", Way::Exclusion, None);
    }

    /// Leaves out what is no longer true, and goals that are no longer pursued (ruling I23).
    fn leave_out_expired(&mut self, expired: &RowSet) {
        if !expired.is_empty() {
            self.rows.subtract(expired);
            self.step(&"not expired", Way::Exclusion, None);
        }
    }

    /// Leaves out what waits for a person's review (OMS 6.1).
    fn leave_out(&mut self, unreviewed: &RowSet) {
        if !unreviewed.is_empty() {
            self.rows.subtract(unreviewed);
            self.step(&"reviewed", Way::Exclusion, None);
        }
    }

    /// Decides how to find a condition out.
    fn way(&self, condition: &Condition, part: &Part<'_>) -> Way {
        let left = self.rows.len();
        let keys = part.estimate.keys;
        if keys > left.saturating_mul(KEYS_PER_GRAIN) && left <= FEW {
            Way::Grains
        } else if condition.column().is_some() && is_quicker_by_value(keys, left) {
            Way::Values
        } else if part.excludes {
            Way::Exclusion
        } else {
            Way::List
        }
    }

    fn narrow(
        &mut self,
        snapshot: &Snapshot,
        condition: &Condition,
        part: Part<'_>,
        way: Way,
    ) -> Result<(), Error> {
        let estimate = Some(part.estimate.rows);
        match (way, condition.column()) {
            (Way::Values, Some(family)) => {
                let column = snapshot.column(family)?;
                self.rows.retain(|row| condition.holds_in(&column, row));
            }
            (Way::Exclusion, _) => self.rows.subtract(&part.rows()?),
            _ => self.rows.intersect(&part.rows()?),
        }
        self.step(condition, way, estimate);
        Ok(())
    }

    /// Keeps the grains that are current, or were at the moment asked about, or are not.
    fn state(&mut self, snapshot: &Snapshot, filter: &Filter) -> Result<(), Error> {
        let before = match filter.state() {
            State::Any => return Ok(()),
            State::Current => None,
            State::Ended => Some(self.rows.clone()),
        };
        match filter.moment() {
            Some(time) => self.rows.subtract(&snapshot.not_current_at(time)?),
            None => snapshot.retain_current(&mut self.rows)?,
        }
        let mut condition = "current";
        if let Some(before) = before {
            let current = std::mem::replace(&mut self.rows, before);
            self.rows.subtract(&current);
            condition = "no longer current";
        }
        match filter.moment() {
            Some(time) => self.step(&format_args!("{condition} at {time}"), Way::Exclusion, None),
            None => self.step(&condition, Way::Exclusion, None),
        }
        Ok(())
    }

    /// Reads what is left and keeps the grains of which everything else holds.
    fn read(
        &mut self,
        store: &Store,
        snapshot: &Snapshot,
        conditions: &[&Condition],
    ) -> Result<(), Error> {
        if conditions.is_empty() {
            return Ok(());
        }
        let mut kept = RowSet::default();
        for row in self.rows.iter() {
            let version = store.version_at(snapshot, row)?;
            if conditions.iter().all(|condition| condition.holds(&version)) {
                kept.insert(row);
            }
        }
        self.rows = kept;
        let conditions: Vec<_> = conditions.iter().map(ToString::to_string).collect();
        self.step(&conditions.join("; "), Way::Grains, None);
        Ok(())
    }

    fn step(&mut self, condition: &impl ToString, way: Way, estimate: Option<u64>) {
        if let Some(explanation) = &mut self.explanation {
            explanation.steps.push(Step {
                condition: condition.to_string(),
                way,
                estimate,
                left: self.rows.len(),
            });
        }
    }
}

/// Returns whether so many values are looked up sooner than so many keys are read and put in the
/// order of rows.
const fn is_quicker_by_value(keys: u64, left: u64) -> bool {
    keys > left.saturating_mul(KEYS_PER_VALUE) || (keys > KEYS_MANY && keys > left / 2)
}

/// What reading a grain costs, in keys of the index.
const KEYS_PER_GRAIN: u64 = 100;

/// What looking a value up costs, in keys of the index: where there are few, the values of what is
/// in memory have to be laid out first.
const KEYS_PER_VALUE: u64 = 4;

/// So many keys cost more than laying values out; a value then costs a fraction of a key.
const KEYS_MANY: u64 = 4_096;

/// So few grains are read rather than a long list, though the list would be remembered.
const FEW: u64 = 48;

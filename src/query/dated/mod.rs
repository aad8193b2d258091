//! The rows of the times that a question names.
//!
//! A time alone is a filter: nothing else was asked for. Beside other words it only makes candidates,
//! since what happened on a day is often told on another.

mod occasion;

use std::ops::Range;
use std::sync::Arc;

use crate::grain::Time;
use crate::index::{RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::store::{Access, read};
use crate::text::{Dated, Order, Ranking};

use super::when::When;
use super::{Error, Filter, Sort, SortBy};
use occasion::date_of;

/// The times of a question, and rows of them.
#[derive(Debug, Default)]
pub(super) struct Named {
    order: Option<Order>,
    windows: Vec<Range<i64>>,
    rows: Vec<EntryId>,
}

impl Named {
    pub(super) fn dated(&self) -> Dated<'_> {
        Dated {
            order: self.order,
            windows: &self.windows,
            rows: &self.rows,
        }
    }
}

/// Reads the time of a question about `rows`.
pub(crate) fn when(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
    question: &str,
    ranking: &Ranking,
) -> Result<When, Error> {
    let calendar = ranking.calendar();
    let now = calendar.now.unwrap_or_else(|| read::now(store));
    When::of(question, now, &calendar, |occasion| {
        date_of(store, snapshot, rows, occasion)
    })
}

/// Returns the times of a question, and those of `rows` that may answer it without a word of it.
pub(crate) fn named(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
    when: &When,
    ranking: &Ranking,
) -> Result<Named, Error> {
    let windows = when.told();
    let mut found = RowSet::default();
    // A month without a year is of no one time.
    if let ([window], true) = (windows.as_slice(), ranking.within > 0.0) {
        found = within(store, snapshot, rows, window)?;
    }
    if found.len() > ROWS_MAX {
        found = RowSet::default();
    }
    Ok(Named {
        order: when.order,
        windows,
        rows: found.iter().collect(),
    })
}

/// Returns those of `rows` that a question asks for by their time alone, in its order; `None` if it
/// asks for anything else, or there is nothing then.
pub(super) fn asked_by_time(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
    when: &When,
) -> Result<Option<Vec<EntryId>>, Error> {
    if !when.is_bare {
        return Ok(None);
    }
    let mut found = match when.sessions {
        Some(sessions) => of_sessions(store, rows, sessions)?,
        None => RowSet::default(),
    };
    let slack = when.windows.first().map(|window| {
        let (start, end) = (window.start, window.end);
        start.saturating_sub(SLACK_MS)..end.saturating_add(SLACK_MS)
    });
    let part = when.part.iter();
    for window in part.chain(&when.windows).chain(&slack) {
        if !found.is_empty() {
            break;
        }
        found = within(store, snapshot, rows, window)?;
    }
    if found.is_empty() {
        return Ok(None);
    }
    let (places, _) = Sort::by(SortBy::Time).page(store, snapshot, &found, None, SHOWN_MAX)?;
    let rows = places.iter().map(|[.., row]| EntryId::new(*row));
    Ok(Some(rows.collect()))
}

/// Returns those of `rows` that happened within a window.
fn within(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
    window: &Range<i64>,
) -> Result<RowSet, Error> {
    let last = window.end.saturating_sub(1);
    let filter = Filter::new()
        .with_superseded()
        .with_expired()
        .with_unreviewed()
        .since(Time::from_ms(window.start))
        .until(Time::from_ms(last));
    let mut found = Arc::unwrap_or_clone(super::plan::rows(store, snapshot, &filter)?);
    found.intersect(rows);
    Ok(found)
}

/// Returns those of `rows` that are of sessions by number, in the order in which they began.
fn of_sessions(store: &Access, rows: &RowSet, [first, last]: [i64; 2]) -> Result<RowSet, Error> {
    let accept = |row: EntryId| rows.contains(row);
    let sessions = store.text_view()?.sessions(&accept)?;
    let count = i64::try_from(sessions.len()).unwrap_or(i64::MAX);
    // From 1, or from the end.
    let place = |number: i64| {
        if number < 0 {
            count + number
        } else {
            number - 1
        }
    };
    let (first, last) = (place(first).max(0), place(last));
    let named = sessions.into_iter().zip(0..);
    let named = named.filter(|(_, at)| (first..=last).contains(at));
    Ok(named.flat_map(|(rows, _)| rows).collect())
}

/// More rows of a time than these are candidates by their words alone.
const ROWS_MAX: u64 = 256;

/// The rows of a time that are read, at most.
const SHOWN_MAX: usize = 2_000;

/// An empty window is looked at with a day before and behind.
const SLACK_MS: i64 = 86_400_000;

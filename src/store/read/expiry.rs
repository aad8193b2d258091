//! Expiry: the rows that have expired by a time, which answers leave out (OMS 15.1, 23.9, ruling
//! I23).

use crate::codec::Value;
use crate::grain::{Grain, Time, Type};
use crate::index::{Family, RowSet, Snapshot};

use crate::store::Access;
use crate::store::Error;
use crate::store::engine::Engine;

/// Returns the time by the store's clock.
pub(crate) fn now(store: &Access) -> Time {
    store.engine.now()
}

/// Returns which of some rows have expired by a time: grains whose `valid_to` is before it, and
/// goals that are inactive by then (OMS 15.1, 23.9, ruling I23).
pub(crate) fn expired(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
    now: Time,
) -> Result<RowSet, Error> {
    if rows.is_empty() {
        return Ok(RowSet::default());
    }
    let mut expired = over(snapshot, rows, now)?;
    // The window of an Observation is the time observed (OMS 25), and policy judges that of a
    // Consent (8.10): neither grain expires.
    for of in [Type::Observation, Type::Consent] {
        if !expired.is_empty() {
            let kept = snapshot.of_type(of).among(&expired)?;
            expired.subtract(&kept);
        }
    }
    expired.unite(&inactive(&store.engine, snapshot, rows, now)?);
    Ok(expired)
}

/// Returns which of some rows have a `valid_to` before a time.
fn over(snapshot: &Snapshot, rows: &RowSet, now: Time) -> Result<RowSet, Error> {
    let Some(last) = now.ms().checked_sub(1) else {
        return Ok(RowSet::default());
    };
    let up_to = |from: Option<i64>, to: i64| {
        let (from, to) = (from.map(Time::from_ms), Time::from_ms(to));
        snapshot.in_time(Family::ValidTo, from, Some(to))
    };
    // The list up to the hour is the same for an hour and is cached; only the rest is read each
    // time.
    let hour = now.ms().div_euclid(HOUR_MS).saturating_mul(HOUR_MS);
    let Some(before) = hour.checked_sub(1).filter(|before| *before < last) else {
        return Ok(up_to(None, last).cacheable().among(rows)?);
    };
    let mut over = up_to(None, before).cacheable().among(rows)?;
    over.unite(&up_to(Some(hour), last).among(rows)?);
    Ok(over)
}

/// Returns which of some rows are goals that an `expiry_policy` makes inactive after a
/// `deadline` before a time.
fn inactive(
    engine: &Engine,
    snapshot: &Snapshot,
    rows: &RowSet,
    now: Time,
) -> Result<RowSet, Error> {
    let goals = snapshot.of_type(Type::Goal).among(rows)?;
    if goals.is_empty() {
        return Ok(goals);
    }
    let unread = engine.caches().deadlines.unread_of(&goals);
    let mut ends = Vec::new();
    for row in unread.iter() {
        let end = end_of(&engine.grain(row)?.1);
        ends.extend(end.map(|end| (end, row)));
    }
    engine.caches().deadlines.learn(&unread, ends);
    Ok(engine.caches().deadlines.ended_of(&goals, now))
}

/// Returns the time after which a goal is inactive; the application applies the rest of its policy.
fn end_of(goal: &Grain) -> Option<Time> {
    goal.text("expiry_policy")?;
    goal.field("deadline")
        .and_then(Value::as_i64)
        .map(Time::from_ms)
}

const HOUR_MS: i64 = 3_600_000;

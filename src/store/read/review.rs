//! Grains on which no program acts before a person has reviewed them (OMS 6.1), and the reviews.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::index::{Family, RowSet};
use crate::ledger::{EntryId, Kind};
use crate::policy::{Capability, RecordedAuthorization};
use crate::store::engine::Engine;
use crate::store::records::{Record, ReviewRecord};
use crate::store::rules::requires_review;
use crate::store::{Access, Error};

/// A permitted operation that a person should review (OMS 23.2, `soft_locked`), or a grain on which
/// no decision may be based before a review (OMS 6.1, `requires_human_review`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The number of its ledger entry.
    pub id: EntryId,
    /// The grain concerned.
    pub address: ContentAddress,
    /// The operation on it; `rely`: use of the grain, which waits for the review.
    pub operation: String,
    /// When the review was opened.
    pub since: Time,
    /// The reviewer and the result; `None` while it is open.
    pub cleared: Option<RecordedAuthorization>,
}

/// Returns whether a grain requires a review, and none has cleared it (OMS 6.1).
///
/// # Errors
/// Storage errors.
pub(crate) fn grain_awaits_review(store: &Access, grain: &Grain) -> Result<bool, Error> {
    if !requires_review(grain) {
        return Ok(false);
    }
    let snapshot = store.snapshot();
    let mentions = snapshot.pointing_at(Family::Mentions, &grain.address());
    let reviews = reviews_in(&store.engine, mentions.rows()?.iter())?;
    let mut asked = reviews.values().filter(|review| {
        review.operation == ReviewRecord::RELY && review.address == grain.address()
    });
    Ok(!asked.any(|review| review.cleared.is_some()))
}

/// Returns the rows of the grains that wait for a review now, also for a query about an earlier
/// time.
pub(crate) fn unreviewed(store: &Access) -> Result<Arc<RowSet>, Error> {
    let engine = &*store.engine;
    engine.caches().unreviewed.get_or(|| {
        let unreviewed: Vec<_> = engine.state().reviews().unreviewed().copied().collect();
        let snapshot = engine.snapshot();
        let mut rows = RowSet::default();
        for address in &unreviewed {
            let row = engine.as_of(&snapshot).locate(address)?;
            row.into_iter().for_each(|row| rows.insert(row));
        }
        Ok(rows)
    })
}

/// Reads the reviews among entries, by the entry that opened each.
pub(crate) fn reviews_in(
    engine: &Engine,
    rows: impl Iterator<Item = EntryId>,
) -> Result<BTreeMap<EntryId, Review>, Error> {
    let mut reviews = BTreeMap::new();
    for row in rows {
        let entry = engine.entry(row)?;
        if entry.header.kind != Kind::Review {
            continue;
        }
        match Record::decode(Kind::Review, &entry.body) {
            Some(Record::Review(ReviewRecord::Opened { of, operation })) => {
                let review = Review {
                    id: row,
                    address: of,
                    operation,
                    since: Time::from_ms(entry.header.time_ms),
                    cleared: None,
                };
                reviews.insert(row, review);
            }
            Some(Record::Review(ReviewRecord::Cleared {
                opened,
                authorization,
                ..
            })) => {
                if let Some(review) = reviews.get_mut(&opened) {
                    review.cleared = Some(authorization);
                }
            }
            _ => {}
        }
    }
    Ok(reviews)
}

/// Returns whether the reader behind an access may act on a grain (OMS 6.1): a program waits until a
/// person has cleared it.
///
/// # Errors
/// Storage errors.
pub(crate) fn may_rely_on(store: &Access, grain: &Grain) -> Result<bool, Error> {
    let is_person = store.capability().is_none_or(Capability::reviews);
    Ok(is_person || !grain_awaits_review(store, grain)?)
}

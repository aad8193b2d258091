//! Reviews by a person: listing and clearing them. They are opened by changes and by grains that
//! require them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::index::{Family, RowSet};
use crate::ledger::{EntryId, Kind};
use crate::policy::{Authorization, RecordedAuthorization};
use crate::store::engine::Engine;
use crate::store::governance::regime::authorized;
use crate::store::records::{Record, ReviewRecord};
use crate::store::rules::{Deed, requires_review};
use crate::store::{Admin, Error, Store};

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

impl Admin<'_> {
    /// Returns the reviews, oldest first, with their results.
    ///
    /// ```
    /// use grainstore::store::Authorization;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let json = r#"{"type":"reasoning","conclusion":"deny the loan","created_at":1,
    ///     "requires_human_review":true}"#;
    /// let address = store.put(Draft::from_json(json)?)?;
    /// let review = store.admin()?.reviews()?.remove(0);
    /// assert_eq!((review.address, review.operation.as_str()), (address, "rely"));
    /// assert!(store.admin()?.awaits_review(&address)?);
    /// store.admin()?.clear_review(review.id, Authorization { reason: "it is right", authority: "Ada" })?;
    /// assert!(!store.admin()?.awaits_review(&address)?);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn reviews(self) -> Result<Vec<Review>, Error> {
        self.authorize_whole()?;
        let rows = self.store().snapshot().of_kind(Kind::Review).rows()?;
        let reviews = reviews_in(self.engine(), rows.iter())?;
        Ok(reviews.into_values().collect())
    }

    /// Records the result of a review. Returns whether it was still open.
    ///
    /// # Errors
    /// `ERR_REVIEW` for an entry that opened no review; `ERR_AUTHORITY` without a reason or an
    /// authority; storage errors.
    pub fn clear_review(
        self,
        id: EntryId,
        authorization: Authorization<'_>,
    ) -> Result<bool, Error> {
        let (permit, authorization) = authorized(Deed::ClearReview, authorization)?;
        let mut txn = self.begin()?;
        let mut reviews = self.reviews()?;
        let review = reviews.iter().position(|review| review.id == id);
        let review = review.map(|at| reviews.swap_remove(at));
        let review = review.ok_or(Error::NoReview { id })?;
        if review.cleared.is_some() {
            return Ok(false);
        }
        txn.change(
            &permit,
            &Record::Review(ReviewRecord::Cleared {
                of: review.address,
                opened: review.id,
                authorization,
            }),
        )?;
        txn.commit()?;
        Ok(true)
    }

    /// Returns whether a grain must not drive an automated decision: it requires human review and
    /// has not been cleared (OMS 6.1, 8.8).
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn awaits_review(self, address: &ContentAddress) -> Result<bool, Error> {
        self.authorize_reach(address)?;
        let grain = self.store().peek(address)?;
        let grain = grain.ok_or(Error::NotFound { address: *address })?;
        self.store().grain_awaits_review(&grain)
    }
}

impl Store {
    pub(crate) fn grain_awaits_review(&self, grain: &Grain) -> Result<bool, Error> {
        if !requires_review(grain) {
            return Ok(false);
        }
        let snapshot = self.snapshot();
        let mentions = snapshot.pointing_at(Family::Mentions, &grain.address());
        let reviews = reviews_in(&self.engine, mentions.rows()?.iter())?;
        let mut asked = reviews.values().filter(|review| {
            review.operation == ReviewRecord::RELY && review.address == grain.address()
        });
        Ok(!asked.any(|review| review.cleared.is_some()))
    }

    /// Returns the rows of the grains that wait for a review now, also for a query about an earlier
    /// time.
    pub(crate) fn unreviewed(&self) -> Result<Arc<RowSet>, Error> {
        let engine = &*self.engine;
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
}

/// Reads the reviews among entries, by the entry that opened each.
fn reviews_in(
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

//! Reviews by a person: listing and clearing them. They are opened by changes and by grains that
//! require them.

use crate::codec::ContentAddress;
use crate::ledger::{EntryId, Kind};
use crate::policy::Authorization;
use crate::store::governance::regime::authorized;
use crate::store::read::{Review, reviews_in};
use crate::store::read::{authorize_reach, grain_awaits_review, peek};
use crate::store::records::{Record, ReviewRecord};
use crate::store::rules::Deed;
use crate::store::{Error, Owner};

/// See [`Admin::reviews`](crate::Admin::reviews).
pub(crate) fn reviews(owner: Owner<'_>) -> Result<Vec<Review>, Error> {
    owner.authorize_whole()?;
    let rows = owner.store().snapshot().of_kind(Kind::Review).rows()?;
    let reviews = reviews_in(owner.engine(), rows.iter())?;
    Ok(reviews.into_values().collect())
}

/// See [`Admin::clear_review`](crate::Admin::clear_review).
pub(crate) fn clear_review(
    owner: Owner<'_>,
    id: EntryId,
    authorization: Authorization<'_>,
) -> Result<bool, Error> {
    let (permit, authorization) = authorized(Deed::ClearReview, authorization)?;
    let mut txn = owner.begin()?;
    let mut reviews = reviews(owner)?;
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

/// See [`Admin::awaits_review`](crate::Admin::awaits_review).
pub(crate) fn awaits_review(owner: Owner<'_>, address: &ContentAddress) -> Result<bool, Error> {
    authorize_reach(owner, address)?;
    let grain = peek(owner.store(), address)?;
    let grain = grain.ok_or(Error::NotFound { address: *address })?;
    grain_awaits_review(owner.store(), &grain)
}

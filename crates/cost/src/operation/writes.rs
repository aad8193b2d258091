//! Operations that make grains or store them.

use std::hint::black_box;

use grainstore::codec::Profile;
use grainstore::{Draft, Grain, Time};

use super::{ROUNDS, Rounds};
use crate::Result;
use crate::fixture::{Fixture, grains};

/// A draft becomes a blob with its address.
pub(super) fn encode(_: &Fixture, rounds: Rounds) -> Result<()> {
    let all = grains(DRAFTS * ROUNDS)?;
    let mut drafts = all.drafts.into_iter();
    for _ in rounds {
        for draft in drafts.by_ref().take(DRAFTS) {
            black_box(draft.finish(Profile::Extended)?);
        }
    }
    Ok(())
}

/// A blob becomes a grain with its address, and every rule is checked.
pub(super) fn decode(_: &Fixture, rounds: Rounds) -> Result<()> {
    let all = grains(DRAFTS * ROUNDS)?;
    let mut blobs = all.blobs.into_iter();
    for _ in rounds {
        for blob in blobs.by_ref().take(DRAFTS) {
            black_box(Grain::from_blob(blob, Profile::Extended)?);
        }
    }
    Ok(())
}

/// One grain at a time, each durable before the next.
pub(super) fn put(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let all = grains(SINGLE_PUTS * ROUNDS)?;
    let store = fixture.empty(0, false)?;
    let mut drafts = all.drafts.into_iter();
    for _ in rounds {
        for draft in drafts.by_ref().take(SINGLE_PUTS) {
            black_box(store.put(draft)?);
        }
    }
    Ok(())
}

/// Batches of a thousand. Closing the store writes the index.
pub(super) fn put_batch(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let all = grains(GRAINS * ROUNDS)?;
    let mut batches = all.batches(BATCH_LEN).into_iter();
    for round in rounds {
        let store = fixture.empty(round, false)?;
        for batch in batches.by_ref().take(GRAINS / BATCH_LEN) {
            black_box(store.put_batch(batch)?);
        }
    }
    Ok(())
}

/// The same batches, each prepared while the one before it is made durable.
pub(super) fn put_batches(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let all = grains(GRAINS * ROUNDS)?;
    let mut batches = all.batches(BATCH_LEN).into_iter();
    for round in rounds {
        let store = fixture.empty(round, false)?;
        for stored in store.put_batches(batches.by_ref().take(GRAINS / BATCH_LEN)) {
            black_box(stored?);
        }
    }
    Ok(())
}

/// Batches of a thousand, until every word is in the committed text index.
pub(super) fn put_text(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let all = grains(TEXTS * ROUNDS)?;
    let mut batches = all.batches(BATCH_LEN).into_iter();
    let store = fixture.empty(0, true)?;
    for _ in rounds {
        for batch in batches.by_ref().take(TEXTS / BATCH_LEN) {
            black_box(store.put_batch(batch)?);
        }
        store.maintenance()?.flush_text()?;
    }
    Ok(())
}

/// A grain takes the place of another, one at a time.
pub(super) fn supersede(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let all = grains(SINGLE_PUTS * ROUNDS)?;
    let store = fixture.empty(0, false)?;
    store.put_batch(all.drafts)?;
    let mut olds = all.addresses.iter();
    for _ in rounds {
        for old in olds.by_ref().take(SINGLE_PUTS) {
            let new = Draft::belief("person 1", "rel_001", format!("instead of {old}"))
                .confidence(0.5)
                .created_at(Time::from_ms(1_767_000_000_000))
                .derived_from(*old);
            black_box(store.supersede(old, new, Some("it changed"))?);
        }
    }
    Ok(())
}

pub(super) const DRAFTS: usize = 1_000;
/// As many as are written to a run of the index when the store is closed.
pub(super) const GRAINS: usize = 5_000;
pub(super) const SINGLE_PUTS: usize = 500;
pub(super) const TEXTS: usize = 2_000;
const BATCH_LEN: usize = 1_000;

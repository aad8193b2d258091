//! The consents that reading rests on (OMS 8.10, ruling P10): those that a namespace demands, in force
//! for the person that a grain is about and the party that reads it, and those withdrawn since.

use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Type};
use crate::index::{RowSet, Snapshot};
use crate::policy::Party;
use crate::store::engine::Engine;
use crate::store::view::Version;
use crate::store::{Access, Error};

/// Returns the rows that no query of this handle shows for want of a consent.
pub(crate) fn unconsented(store: &Access, snapshot: &Snapshot) -> Result<Arc<RowSet>, Error> {
    let withdrawn = withdrawn_rows(&store.engine)?;
    let view = store.engine.as_of(snapshot);
    view.unconsented(&Party::of(store.capability()), withdrawn)
}

/// Returns whether a consent may keep any grain from this handle.
pub(super) fn is_consent_asked_to_read(store: &Access) -> bool {
    let state = store.engine.known_state();
    let consents = state.consents();
    consents.is_any_required_to_read()
        || (store.capability().is_some() && !consents.withdrawals().is_empty())
}

/// Refuses to show a grain that rests on a withdrawn consent to a narrowed handle, and to any
/// handle a grain without the consent that its namespace requires.
///
/// # Errors
/// `ERR_CONSENT`; storage errors.
pub(super) fn authorize_read(
    store: &Access,
    snapshot: &Snapshot,
    grain: &Grain,
) -> Result<(), Error> {
    // Checked before any field of the grain is read: fields are decoded on first use.
    if !is_consent_asked_to_read(store) || grain.type_() == Type::Consent {
        return Ok(());
    }
    let party = Party::of(store.capability());
    store.engine.as_of(snapshot).authorize_read(grain, &party)
}

/// Returns whether the Consent that a grain rests on is stored here, applies to it, and was not
/// withdrawn (OMS A.3, A.6). One that cannot be read documents nothing.
pub(crate) fn is_documented(store: &Access, grain: &Grain, consent: &ContentAddress) -> bool {
    store
        .engine
        .as_of(&store.engine.snapshot())
        .is_documented(grain, consent)
        .unwrap_or(false)
}

/// Leaves out grains that this handle may not read.
pub(crate) fn keep_readable(
    store: &Access,
    snapshot: &Snapshot,
    versions: Vec<Version>,
) -> Result<Vec<Version>, Error> {
    let mut kept = Vec::with_capacity(versions.len());
    for version in versions {
        match authorize_read(store, snapshot, &version.grain) {
            Err(Error::Denied { .. }) => {}
            allowed => {
                allowed?;
                kept.push(version);
            }
        }
    }
    Ok(kept)
}

/// Returns the rows that rest on withdrawn consents now, also for a query about an earlier
/// time.
fn withdrawn_rows(engine: &Engine) -> Result<Arc<RowSet>, Error> {
    engine.caches().withdrawn.get_or(|| {
        let mut rows = RowSet::default();
        for (_, _, resting) in engine.as_of(&engine.snapshot()).cascades()? {
            resting.iter().for_each(|row| rows.insert(row));
        }
        Ok(rows)
    })
}

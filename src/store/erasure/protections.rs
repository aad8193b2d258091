//! Protection outlives its grain: the protections that other grains have from those that are about
//! to be erased stay as tombstones with their rules (OMS 23.6, 23.7). Else the deletion of an old
//! version or of an ancestor would open what was derived from it.

use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::index::{Family, Snapshot};
use crate::ledger::EntryId;
use crate::policy::{Protection, Scope};
use crate::store::engine::Engine;
use crate::store::read::{authorize_reach, reached};
use crate::store::records::ProtectionTombstone;
use crate::store::view::names;
use crate::store::{Error, Owner};

/// See [`Admin::resting_on`](crate::Admin::resting_on).
pub(crate) fn resting_on(
    owner: Owner<'_>,
    address: &ContentAddress,
) -> Result<Vec<ContentAddress>, Error> {
    authorize_reach(owner, address)?;
    let engine = owner.engine();
    let snapshot = engine.snapshot();
    let row = engine.as_of(&snapshot).row_of(address)?;
    let mut rows = BTreeSet::new();
    for family in [Family::DerivedFrom, Family::ProcessingBasis] {
        for row in snapshot.pointing_at(family, address).rows()?.iter() {
            let grain = engine.as_of(&snapshot).version_at(row)?.grain;
            // The index holds hashes of addresses.
            if names(&grain, address) || grain.link("processing_basis") == Some(*address) {
                rows.insert(row);
            }
        }
    }
    rows.extend(
        engine
            .as_of(&snapshot)
            .replaced_by(address)?
            .iter()
            .map(|(row, _)| *row),
    );
    if let Some(by) = engine.as_of(&snapshot).status_at(row)?.superseded_by {
        rows.extend(engine.as_of(&snapshot).locate(&by)?);
    }
    let grains = rows
        .into_iter()
        .map(|row| Ok(engine.as_of(&snapshot).version_at(row)?.grain.address()));
    let grains: Result<Vec<_>, Error> = grains.collect();
    reached(owner, grains?, |address| *address)
}

/// See [`Admin::protected_by`](crate::Admin::protected_by).
pub(crate) fn protected_by(
    owner: Owner<'_>,
    address: &ContentAddress,
) -> Result<Vec<ContentAddress>, Error> {
    owner.authorize_whole()?;
    let engine = owner.engine();
    let snapshot = engine.snapshot();
    let mut seen = BTreeSet::from([*address]);
    let mut pending = resting_on(owner, address)?;
    let mut protected = Vec::new();
    while let Some(at) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        let row = engine.as_of(&snapshot).row_of(&at)?;
        let target = engine.as_of(&snapshot).version_at(row)?;
        let facts = engine
            .as_of(&snapshot)
            .effective_protection(row, &target, None)?;
        if facts.sources().contains(address) {
            protected.push(at);
        }
        pending.extend(resting_on(owner, &at)?);
    }
    protected.sort_unstable();
    Ok(protected)
}

/// Returns what is left of the protections of grains that are about to be erased.
///
/// # Errors
/// Storage errors.
pub(super) fn protections_left_by(
    engine: &Engine,
    snapshot: &Snapshot,
    targets: &[(EntryId, ContentAddress)],
) -> Result<Vec<ProtectionTombstone>, Error> {
    let mut left = Vec::new();
    if !engine.has_protections() {
        return Ok(left);
    }
    let key = engine.manifest().tombstone_key();
    let mut leave = |of: &ContentAddress, is_below, protections: &[Protection]| {
        let of = key.of_address(of);
        for protection in protections.iter().filter(|it| !it.is_open()) {
            let tombstone = ProtectionTombstone {
                of,
                is_below,
                protection: protection.clone(),
            };
            if !left.contains(&tombstone) {
                left.push(tombstone);
            }
        }
        Ok::<(), Error>(())
    };
    for (row, address) in targets {
        let target = engine.as_of(snapshot).version_at(*row)?;
        let own = engine.own_protection(&target.grain);
        let mut below = engine.as_of(snapshot).protections_above(&target.grain)?;
        let mut along = engine.as_of(snapshot).protections_along(*row, &target)?;
        along.push(own.clone());
        if own.scope() == Scope::Subtree {
            below.push(own);
        }
        leave(address, true, &below)?;
        if let Some(successor) = target.status.superseded_by
            && let Some(row) = engine.as_of(snapshot).locate(&successor)?
            && names(&engine.grain_at(row, &successor)?, address)
        {
            leave(&successor, false, &along)?;
        }
        // A later version protects an earlier one by the scope `lineage` alone.
        along.retain(|protection| protection.scope() == Scope::Lineage);
        for (_, earlier) in engine.as_of(snapshot).replaced_by(address)? {
            if names(&target.grain, &earlier) {
                leave(&earlier, false, &along)?;
            }
        }
    }
    Ok(left)
}

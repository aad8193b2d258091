//! Legal holds on grains: placing, lifting and listing them (OMS 23.2).

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::policy::{Authorization, RecordedAuthorization};
use crate::store::governance::regime::authorized;
use crate::store::read::{begin_about, reaches};
use crate::store::records::{HoldRecord, Record};
use crate::store::rules::Deed;
use crate::store::{Error, Owner};

/// A legal hold on a grain, as an operator placed it (OMS 23.2, ruling I12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The grain that is held.
    pub address: ContentAddress,
    /// When the hold was placed.
    pub since: Time,
    /// The reason and the authority.
    pub authorization: RecordedAuthorization,
}

/// See [`Admin::place_hold`](crate::Admin::place_hold).
pub(crate) fn place_hold(
    owner: Owner<'_>,
    address: &ContentAddress,
    authorization: Authorization<'_>,
) -> Result<(), Error> {
    let (permit, authorization) = authorized(Deed::Hold, authorization)?;
    let mut txn = begin_about(&owner, address)?;
    let found = txn.view().locate(address)?;
    found.ok_or(Error::NotFound { address: *address })?;
    txn.change(
        &permit,
        &Record::Hold(HoldRecord {
            of: *address,
            is_placed: true,
            authorization,
        }),
    )?;
    txn.commit()?;
    Ok(())
}

/// See [`Admin::lift_hold`](crate::Admin::lift_hold).
pub(crate) fn lift_hold(
    owner: Owner<'_>,
    address: &ContentAddress,
    authorization: Authorization<'_>,
) -> Result<bool, Error> {
    let engine = owner.engine();
    let (permit, authorization) = authorized(Deed::Hold, authorization)?;
    let mut txn = begin_about(&owner, address)?;
    let row = txn.view().locate(address)?;
    let row = row.ok_or(Error::NotFound { address: *address })?;
    let is_held = match engine.grain_at(row, address) {
        // The policy of a grain whose bytes are damaged is unknown: it may hold the grain.
        Err(error) if error.code() == ErrorCode::StorageDamaged => true,
        grain => {
            let grain = grain?;
            engine.own_protection(&grain).can_hold() || engine.is_held(&grain)
        }
    };
    if !is_held {
        return Ok(false);
    }
    txn.change(
        &permit,
        &Record::Hold(HoldRecord {
            of: *address,
            is_placed: false,
            authorization,
        }),
    )?;
    txn.commit()?;
    Ok(true)
}

/// See [`Admin::holds`](crate::Admin::holds).
pub(crate) fn holds(owner: Owner<'_>) -> Vec<Hold> {
    let state = owner.engine().state();
    let holds = state.holds().iter();
    let holds = holds.map(|(address, since, authorization)| Hold {
        address: *address,
        since,
        authorization: authorization.clone(),
    });
    let mut holds: Vec<_> = holds.collect();
    drop(state);
    holds.retain(|hold| reaches(owner, &hold.address).unwrap_or(false));
    holds
}

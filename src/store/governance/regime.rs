//! Regimes: setting those in force, and the grains that they keep from deletion.

#[cfg(feature = "interchange")]
use std::collections::BTreeSet;

#[cfg(feature = "interchange")]
use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::policy::{Authorization, Mode, RecordedAuthorization, Regime, Regimes, Violation};
use crate::store::records::{PolicyRecord, Record};
use crate::store::rules::{Deed, Guard, Permit, kept_by};
use crate::store::{Access, Error, Owner};

/// See [`Admin::set_regimes`](crate::Admin::set_regimes).
pub(crate) fn set_regimes(
    owner: Owner<'_>,
    regimes: Vec<Regime>,
    authorization: Authorization<'_>,
) -> Result<(), Error> {
    let documents = regimes.into_iter().map(|regime| regime.text().to_owned());
    let documents = documents.collect();
    set(owner, authorization, |authorization| {
        PolicyRecord::Regimes {
            documents,
            authorization,
        }
    })
}

/// Records a setting of the store, with its reason and its authority.
///
/// # Errors
/// `ERR_AUTHORITY` without them; storage errors.
pub(crate) fn set(
    owner: Owner<'_>,
    authorization: Authorization<'_>,
    setting: impl FnOnce(RecordedAuthorization) -> PolicyRecord,
) -> Result<(), Error> {
    let (permit, authorization) = authorized(Deed::Set, authorization)?;
    let mut txn = owner.begin()?;
    txn.change(&permit, &Record::Policy(setting(authorization)))?;
    txn.commit()?;
    Ok(())
}

/// See [`Admin::regimes`](crate::Admin::regimes).
pub(crate) fn regimes(owner: Owner<'_>) -> Regimes {
    owner.engine().state().regimes().all().clone()
}

/// Returns whether a hold keeps a grain from deletion: that of its own policy, or a legal one.
pub(crate) fn is_on_hold(store: &Access, grain: &Grain) -> bool {
    store.engine.own_protection(grain).mode() == Mode::Hold || store.engine.is_held(grain)
}

/// Returns why operators hold a grain, which is no part of it: each reason and authority once.
#[cfg(feature = "interchange")]
pub(crate) fn holds_on(
    store: &Access,
    address: &ContentAddress,
) -> BTreeSet<RecordedAuthorization> {
    store.engine.state().holds().on(address).cloned().collect()
}

pub(crate) fn kept_here(store: &Access, grain: &Grain) -> Option<Violation> {
    kept_by(&store.engine, grain)
}

/// Returns an authorization as the ledger keeps it.
///
/// # Errors
/// `ERR_AUTHORITY` of one without a reason or an authority.
pub(crate) fn recorded(authorization: Authorization<'_>) -> Result<RecordedAuthorization, Error> {
    authorization.recorded().ok_or(Error::NoAuthorization)
}

/// Asks a change for a reason and an authority, its only rule. Returns its permit and what the ledger
/// keeps.
///
/// # Errors
/// As [`recorded`].
pub(crate) fn authorized(
    deed: Deed,
    authorization: Authorization<'_>,
) -> Result<(Permit, RecordedAuthorization), Error> {
    let mut permit = Permit::of(deed);
    permit.asks(Guard::Authority);
    Ok((permit, recorded(authorization)?))
}

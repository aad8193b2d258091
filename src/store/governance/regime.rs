//! Regimes: setting those in force, and the grains that they keep from deletion.

#[cfg(feature = "interchange")]
use std::collections::BTreeSet;

#[cfg(feature = "interchange")]
use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::policy::{Authorization, Mode, RecordedAuthorization, Regime, Regimes, Violation};
use crate::store::records::{PolicyRecord, Record};
use crate::store::rules::{Deed, Guard, Permit, kept_by};
use crate::store::{Admin, Error, Store};

impl Admin<'_> {
    /// Sets the regimes in force, in place of those before; an empty list lifts them. The documents
    /// and the reason go into the ledger. Grains stored before stay as they are.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason and an authority; storage errors.
    pub fn set_regimes(
        self,
        regimes: Vec<Regime>,
        authorization: Authorization<'_>,
    ) -> Result<(), Error> {
        let documents = regimes.into_iter().map(|regime| regime.text().to_owned());
        let documents = documents.collect();
        self.set(authorization, |authorization| PolicyRecord::Regimes {
            documents,
            authorization,
        })
    }

    /// Records a setting of the store, with its reason and its authority.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without them; storage errors.
    pub(in crate::store) fn set(
        self,
        authorization: Authorization<'_>,
        setting: impl FnOnce(RecordedAuthorization) -> PolicyRecord,
    ) -> Result<(), Error> {
        let (permit, authorization) = authorized(Deed::Set, authorization)?;
        let mut txn = self.begin()?;
        txn.change(&permit, &Record::Policy(setting(authorization)))?;
        txn.commit()?;
        Ok(())
    }

    /// Returns the regimes in force.
    pub fn regimes(self) -> Regimes {
        self.engine().state().regimes().all().clone()
    }
}

impl Store {
    /// Returns whether a hold keeps a grain from deletion: that of its own policy, or a legal one.
    pub(crate) fn is_on_hold(&self, grain: &Grain) -> bool {
        self.engine.own_protection(grain).mode() == Mode::Hold || self.engine.is_held(grain)
    }

    /// Returns why operators hold a grain, which is no part of it: each reason and authority once.
    #[cfg(feature = "interchange")]
    pub(crate) fn holds_on(&self, address: &ContentAddress) -> BTreeSet<RecordedAuthorization> {
        self.engine.state().holds().on(address).cloned().collect()
    }

    pub(crate) fn kept_here(&self, grain: &Grain) -> Option<Violation> {
        kept_by(&self.engine, grain)
    }
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

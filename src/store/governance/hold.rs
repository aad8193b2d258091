//! Legal holds on grains: placing, lifting and listing them (OMS 23.2).

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::policy::{Authorization, RecordedAuthorization};
use crate::store::governance::regime::authorized;
use crate::store::records::{HoldRecord, Record};
use crate::store::rules::Deed;
use crate::store::{Admin, Error};

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

impl Admin<'_> {
    /// Places a legal hold: from now on the grain is not replaced, contradicted, verified, deleted
    /// or erased, whatever else permits it (OMS 23.2, ruling I12).
    ///
    /// ```
    /// use grainstore::store::Authorization;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("the contract was signed"))?;
    /// store.admin()?.place_hold(&address, Authorization { reason: "Doe v. Acme", authority: "legal" })?;
    /// let office = Authorization { reason: "asked", authority: "the office" };
    /// assert_eq!(store.admin()?.delete(&address, office).unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn place_hold(
        self,
        address: &ContentAddress,
        authorization: Authorization<'_>,
    ) -> Result<(), Error> {
        let (permit, authorization) = authorized(Deed::Hold, authorization)?;
        let mut txn = self.begin_about(address)?;
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

    /// Lifts every legal hold on a grain, and the mode `hold` of its own policy (ruling I19), with the
    /// hold on those that name it in `legal:hold_ref` (OMS A.2). Returns whether there was anything to
    /// lift.
    ///
    /// # Errors
    /// As [`Admin::place_hold`](crate::store::Admin::place_hold).
    pub fn lift_hold(
        self,
        address: &ContentAddress,
        authorization: Authorization<'_>,
    ) -> Result<bool, Error> {
        let engine = self.engine();
        let (permit, authorization) = authorized(Deed::Hold, authorization)?;
        let mut txn = self.begin_about(address)?;
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

    /// Returns the legal holds in force, by the address of the grain.
    pub fn holds(self) -> Vec<Hold> {
        let state = self.engine().state();
        let holds = state.holds().iter();
        let holds = holds.map(|(address, since, authorization)| Hold {
            address: *address,
            since,
            authorization: authorization.clone(),
        });
        let mut holds: Vec<_> = holds.collect();
        drop(state);
        holds.retain(|hold| self.reaches(&hold.address).unwrap_or(false));
        holds
    }
}

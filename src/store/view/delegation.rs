//! Delegations between agents (OMS 6.11, 28.7): what a delegated author may do.

use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::grain::{Grain, Status, Time, Verification};
use crate::index::{Family, Pattern};
use crate::policy::{self, Capability, DelegatedOperation, Delegation, Rule, StoredDelegation};
use crate::store::Error;
use crate::store::view::{Origin, Version, View};

impl View<'_> {
    /// OMS 6.11: refuses what a delegated author writes outside its delegations.
    ///
    /// A delegation is also judged as an operation of its delegator, for every writer:
    /// `delegation_depth` limits how often it may be delegated further. A grain without an author is
    /// judged as one of its writer.
    pub(crate) fn authorize_delegated(
        &self,
        grain: &Grain,
        writer: Option<&Did>,
    ) -> Result<Result<(), Rule>, Error> {
        if !self.known_state().presence().delegations() {
            return Ok(Ok(()));
        }
        let now = self.entry_time();
        let operation = DelegatedOperation::put(grain);
        let delegator = Delegation::of(grain);
        let delegator = delegator.as_ref().map(Delegation::from);
        let author = grain.text("author_did").or(writer.map(Did::as_str));
        for who in author
            .into_iter()
            .chain(delegator.filter(|who| author != Some(who)))
        {
            if let Err(rule) = self.authority(who, &operation, now)? {
                return Ok(Err(rule));
            }
        }
        Ok(Ok(()))
    }

    /// Returns whether a handle sees a grain: by its capability, and for a delegated author also by its
    /// delegations (OMS 6.11: "may read and write").
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn sees(&self, capability: &Capability, grain: &Grain) -> Result<bool, Error> {
        if !capability.sees(grain) {
            return Ok(false);
        }
        let Some(author) = capability.acts_as() else {
            return Ok(true);
        };
        let operation = DelegatedOperation::touch(grain);
        let judged = self.authority(author.as_str(), &operation, self.now())?;
        Ok(judged.is_ok())
    }

    /// Decides whether an author may perform an operation, by the stored delegations.
    pub(crate) fn authority(
        &self,
        author: &str,
        operation: &DelegatedOperation<'_>,
        now: Time,
    ) -> Result<Result<(), Rule>, Error> {
        if !self.known_state().presence().delegations() {
            return Ok(Ok(()));
        }
        policy::authorize_delegated(author, operation, now, &mut |who| {
            self.delegations_to(who, operation)
        })
    }

    /// Returns every delegation to an author whose delegator is known, including those that have
    /// ended.
    fn delegations_to(
        &self,
        author: &str,
        operation: &DelegatedOperation<'_>,
    ) -> Result<Vec<StoredDelegation>, Error> {
        let namespace = operation.namespace.unwrap_or_default();
        let pattern = Pattern {
            relation: Some(Delegation::RELATION),
            object: Some(author),
            ..Pattern::default()
        };
        let mut held = Vec::new();
        for row in self.snapshot().triples(&pattern).rows()?.iter() {
            let version = self.version_at(row)?;
            // The index holds hashes, so the grain itself is checked.
            let Some(delegation) = Delegation::of(&version.grain).filter(|one| one.to() == author)
            else {
                continue;
            };
            let address = version.grain.address();
            let origin = self.origin(row, &address)?;
            let is_vouched =
                origin == Origin::Owner || version.status.verification == Verification::Verified;
            // Ruling I26: neither a file nor the handle of another proves who delegates.
            if !is_vouched && !origin.is_of(delegation.from()) {
                continue;
            }
            // One that an agent stored for a person neither binds nor permits anything about another:
            // its delegator may do nothing there.
            let person = version.grain.text("user_id");
            if !is_vouched && person.is_some() && person != operation.user {
                continue;
            }
            held.push(StoredDelegation {
                in_force: self.is_in_force(&version, &origin, author)?,
                binds: is_vouched || delegation.names(namespace),
                delegation,
            });
        }
        Ok(held)
    }

    fn is_in_force(
        &self,
        version: &Version,
        origin: &Origin,
        delegatee: &str,
    ) -> Result<bool, Error> {
        let Status { verification, .. } = version.status;
        let disputed = matches!(
            verification,
            Verification::Contested | Verification::Retracted
        );
        let address = version.grain.address();
        if !version.status.is_current() || disputed {
            return Ok(false);
        }
        Ok(!self.was_handed_back(&address, origin, delegatee)?)
    }

    /// OMS 28.7: the delegatee reports completion in a Goal derived from the delegation. One from a
    /// file counts for a delegation from a file only.
    fn was_handed_back(
        &self,
        address: &ContentAddress,
        delegated: &Origin,
        delegatee: &str,
    ) -> Result<bool, Error> {
        let derived = self
            .snapshot()
            .pointing_at(Family::DerivedFrom, address)
            .rows()?;
        for row in derived.iter() {
            let grain = self.version_at(row)?.grain;
            let is_done = matches!(grain.text("goal_state"), Some("satisfied" | "failed"));
            let names = grain.derived_from().any(|parent| parent == *address);
            if is_done && names && grain.text("author_did") == Some(delegatee) {
                let origin = self.origin(row, &grain.address())?;
                match origin {
                    Origin::Owner => return Ok(true),
                    Origin::File if *delegated == Origin::File => return Ok(true),
                    origin if origin.is_of(delegatee) => return Ok(true),
                    Origin::File | Origin::Handle(_) => {}
                }
            }
        }
        Ok(false)
    }
}

//! The admission of a record: its grain is asked the rules of a file's way in, and the grain that it
//! replaces those of a change, so that a file cannot bypass them.

use std::mem;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::interchange::Record;
use crate::ledger::EntryId;
use crate::policy::{Actor, Operation};
use crate::store::Error;
use crate::store::lineage::Change;
use crate::store::rules::{
    Admitted, Deed, Guard, Permit, Proposed, Way, admit, authorize_successor, authorize_unreviewed,
    required_reason,
};
use crate::store::txn::Transaction;
use crate::store::view::Version;

use super::batch::Importer;

impl Importer<'_> {
    /// Notes the warnings of a record, and the rules that it is stored in spite of.
    pub(super) fn tell(&mut self, record: &Record, admitted: Option<&mut Admitted>) {
        let notes = admitted.map(|admitted| mem::take(&mut admitted.notes));
        let place = &record.place;
        for warning in &record.warnings {
            self.findings.note(place.clone(), warning.to_string());
            self.warnings.note(place.clone(), warning.to_string());
        }
        for note in notes.into_iter().flatten() {
            if let Error::ImplicitSupersession { address } = note {
                let fork = [address, record.grain.address()];
                self.forks.insert(fork, place.clone());
            }
            let message = match note {
                // A copy of the owner's own states that itself, and it is decided at the end.
                Error::ImplicitSupersession { .. } if self.is_own => continue,
                Error::ImplicitSupersession { address } => {
                    format!("stored, but does not supersede {address} as it implies")
                }
                Error::Denied { rule, .. } => {
                    format!("stored although it requires {}", rule.wants())
                }
                note => note.to_string(),
            };
            self.findings.note(place.clone(), message);
        }
    }

    /// Asks a grain the rules of its way in, so that a file cannot bypass them. Returns the
    /// admission or the refusal.
    pub(super) fn judge(
        &self,
        grain: &Grain,
        replaces: Option<ContentAddress>,
    ) -> Result<Result<Admitted, Error>, Error> {
        let target = match replaces {
            Some(replaced) => self.version(&replaced)?,
            None => None,
        };
        let proposed = Proposed {
            grain,
            way: match self.caller.is_owner() {
                true => Way::OwnersFile,
                false => Way::ActorsFile,
            },
            capability: self.caller.capability.map(|it| &**it),
            actor: self.caller.actor,
            is_again: false,
            non_superseding: &[],
            replaces: target.as_ref().map(|(row, version)| (*row, version)),
        };
        let snapshot = self.engine.snapshot();
        let pending = |address: &ContentAddress| match self.caller.is_owner() {
            // A later record of the owner's file may name an earlier one: policy decides.
            true => None,
            false => self.pending(address),
        };
        match admit(
            &self.engine.as_of(&snapshot),
            &self.frame,
            &pending,
            &proposed,
        ) {
            Err(
                refused @ (Error::View { .. }
                | Error::Violation(_)
                | Error::Ownership { .. }
                | Error::Untrusted { .. }
                | Error::Locked
                | Error::NamesSealed { .. }
                | Error::Erased { .. }
                | Error::Denied { .. }
                | Error::Refused { .. }
                | Error::ImplicitSupersession { .. }),
            ) => Ok(Err(refused)),
            Err(error) => Err(error),
            Ok(admitted) => Ok(Ok(admitted)),
        }
    }

    /// Returns the admission of a grain, which is asked now if it was not before.
    pub(super) fn admitted(
        &self,
        grain: &Grain,
        admitted: Option<Admitted>,
        replaces: Option<ContentAddress>,
    ) -> Result<Result<Admitted, Error>, Error> {
        match admitted {
            Some(admitted) => Ok(Ok(admitted)),
            None => self.judge(grain, replaces),
        }
    }

    pub(super) const fn deed(&self) -> Deed {
        match self.caller.is_owner() {
            true => Deed::OwnersVersion,
            false => Deed::ActorsVersion,
        }
    }

    /// Decides whether a grain replaces another as if that were asked for here.
    pub(super) fn authorize_replacement(
        &self,
        txn: &mut Transaction<'_>,
        row: EntryId,
        target: &Version,
        new: &Grain,
    ) -> Result<Permit, Error> {
        let mut permit = Permit::of(self.deed());
        if permit.asks(Guard::Sight) {
            self.caller.authorize_sight(&target.grain)?;
        }
        if permit.asks(Guard::Writer) {
            txn.authorize_change(new.text("author_did"), &target.grain)?;
        }
        if permit.asks(Guard::Signers) {
            authorize_successor(self.engine, &[], new, &target.grain)?;
        }
        let snapshot = self.engine.snapshot();
        let view = self.engine.as_of(&snapshot);
        if permit.asks(Guard::Review) {
            let capability = self.caller.capability.map(|it| &**it);
            authorize_unreviewed(&view, capability, &target.grain, new)?;
        }
        let protection = view.effective_protection(row, target, Some(new))?;
        let address = target.grain.address();
        let signers = self.engine.signers(new, &address)?;
        let voices = self.engine.voices(&signers, &protection);
        let change = Change {
            operation: Operation::Import,
            target: &address,
            facts: protection.facts(Some(new)),
            actor: Actor {
                signers: &voices,
                is_job: self.caller.is_job(),
                ..Actor::default()
            },
        };
        let reason = new.text("supersession_justification");
        let is_reviewed =
            permit.asks(Guard::Reason) && required_reason(self.engine, &target.grain, &[reason])?;
        if permit.asks(Guard::Policy) {
            self.authorize_here(txn, &change, is_reviewed)?;
        }
        Ok(permit)
    }

    /// Asks the policy, which a dry run records nothing of. A review is an entry of its own, since
    /// the frame may hold several permitted changes.
    pub(super) fn authorize_here(
        &self,
        txn: &mut Transaction<'_>,
        change: &Change<'_>,
        is_reviewed: bool,
    ) -> Result<(), Error> {
        if self.preview.is_some() {
            return change.preview(self.engine);
        }
        change.authorize(txn, is_reviewed)?;
        txn.commit()?;
        Ok(())
    }
}

//! Supersession: a new grain is stored and the old one ends, in one frame (OMS 28.4).

use crate::codec::ContentAddress;
use crate::crypto::Signers;
use crate::grain::{Grain, StatusChange};
use crate::ledger::EntryId;
use crate::policy::{Actor, Operation};
use crate::store::commit::NewGrain;
use crate::store::engine::{Caller, Engine};
use crate::store::lineage::change::Change;
use crate::store::records::{Record, StatusRecord};
use crate::store::rules::{
    Admitted, Deed, Guard, Permit, Proposed, Way, authorize_successor, authorize_unreviewed,
    stronger_signature,
};
use crate::store::txn::{Transaction, authorize_put};
use crate::store::view::{Version, names_replaced};
use crate::store::{Access, Error};

/// See [`Store::supersede`](crate::Store::supersede).
pub(crate) fn supersede(
    store: &Access,
    old: &ContentAddress,
    new: impl Into<NewGrain>,
    justification: Option<&str>,
) -> Result<ContentAddress, Error> {
    let caller = store.caller()?;
    supersede_by(
        &store.engine,
        old,
        new.into().replacing(*old),
        justification,
        caller,
    )
}

fn supersede_by(
    engine: &Engine,
    old: &ContentAddress,
    new: NewGrain,
    justification: Option<&str>,
    caller: Caller<'_>,
) -> Result<ContentAddress, Error> {
    let new = new.finish(engine.now(), engine.options(), caller)?;
    authorize_put(engine, caller, &new)?;
    let replacement = Replacement::new(engine, *old, new)?;
    let mut txn = Transaction::begin(engine, caller)?;
    if let Some(added) = replacement.add(&mut txn, justification)? {
        txn.commit()?;
        added.inherit(engine);
    }
    Ok(replacement.address())
}

/// A grain that replaces a stored one.
pub(super) struct Replacement {
    old: ContentAddress,
    new: Grain,
    signers: Signers,
}

/// A replacement in the frame of a transaction.
pub(super) struct Added {
    /// The grain that ends.
    target: Grain,
    new: ContentAddress,
    is_new: bool,
}

impl Added {
    /// Passes on what protects the old grain, once the frame is durable.
    pub(super) fn inherit(&self, engine: &Engine) {
        if self.is_new {
            engine.inherit(&self.target, self.new);
        }
    }
}

impl Replacement {
    /// Verifies the signatures before the right to write is taken, since a caller's resolver may be slow.
    pub(super) fn new(engine: &Engine, old: ContentAddress, new: Grain) -> Result<Self, Error> {
        let signers = engine.signers(&new, &old)?;
        Ok(Self { old, new, signers })
    }

    pub(super) fn address(&self) -> ContentAddress {
        self.new.address()
    }

    /// Adds the new grain and the end of the old one to the frame; a refusal leaves the frame as it is.
    /// `None` if that is done already: a retry after an unknown outcome.
    pub(super) fn add(
        &self,
        txn: &mut Transaction<'_>,
        justification: Option<&str>,
    ) -> Result<Option<Added>, Error> {
        let Self { old, new, .. } = self;
        let (address, caller) = (new.address(), txn.caller());
        let mut permit = Permit::of(Deed::Supersede);
        let row = txn.view().row_of(old)?;
        let target = txn.view().version_at(row)?;
        if permit.asks(Guard::Sight) {
            caller.authorize_sight(&target.grain)?;
        }
        match target.status.superseded_by {
            Some(by) if by == address => return Ok(None),
            Some(by) => return Err(Error::Conflict { address: *old, by }),
            None if !target.status.is_current() => {
                return Err(Error::NotCurrent { address: *old });
            }
            None => {}
        }
        check_names(new, &target.grain)?;
        if permit.asks(Guard::Writer) {
            txn.authorize_change(new.text("author_did"), &target.grain)?;
        }
        if permit.asks(Guard::Review) {
            let capability = caller.capability.map(|it| &**it);
            authorize_unreviewed(&txn.view(), capability, &target.grain, new)?;
        }
        let is_new = txn.view().locate(&address)?.is_none();
        let admitted = admit_successor(txn, new, is_new, (row, &target))?;
        self.authorize(txn, &mut permit, (row, &target), justification)?;
        add_successor(txn, &admitted, new, is_new)?;
        let change = StatusChange {
            superseded_by: Some(address),
            system_valid_to: Some(txn.entry_time()),
            ..StatusChange::default()
        };
        let status = StatusRecord::of(*old, change).because(justification);
        txn.change(&permit, &Record::Status(status))?;
        Ok(Some(Added {
            target: target.grain,
            new: address,
            is_new,
        }))
    }

    /// Asks the signers, the reason and the policies that protect the old grain.
    fn authorize(
        &self,
        txn: &mut Transaction<'_>,
        permit: &mut Permit,
        (row, target): (EntryId, &Version),
        justification: Option<&str>,
    ) -> Result<(), Error> {
        let Self { old, new, signers } = self;
        if permit.asks(Guard::Signers) {
            let judged = authorize_successor(txn, &signers.voices(), new, &target.grain);
            txn.recorded(judged)?;
        }
        let protection = txn.view().effective_protection(row, target, Some(new))?;
        let voices = txn.voices(signers, &protection);
        let operation = Operation::Supersede;
        let change = Change {
            operation,
            target: old,
            facts: protection.facts(Some(new)),
            actor: Actor {
                signers: &voices,
                justification,
                is_job: txn.caller().is_job(),
                ..Actor::default()
            },
        };
        let reasons = [justification, new.text("supersession_justification")];
        let is_reviewed = permit.asks(Guard::Reason)
            && txn.authorize_reason(operation, &target.grain, reasons)?;
        if permit.asks(Guard::Policy) {
            change.authorize(txn, is_reviewed)?;
        }
        Ok(())
    }
}

/// Asks a superseding grain the rules of its way in; the refusal is recorded.
fn admit_successor(
    txn: &mut Transaction<'_>,
    new: &Grain,
    is_new: bool,
    (row, target): (EntryId, &Version),
) -> Result<Admitted, Error> {
    let caller = txn.caller();
    let proposed = Proposed {
        grain: new,
        way: match is_new {
            true => Way::Supersede,
            false => Way::SupersedeByStored,
        },
        capability: caller.capability.map(|it| &**it),
        actor: caller.actor,
        is_again: false,
        non_superseding: &[],
        replaces: Some((row, target)),
    };
    let judged = txn
        .admit(&|_| None, &proposed)
        .map_err(|error| match error {
            // The change of the grain that it supersedes is denied.
            Error::Denied { rule, .. } => {
                let address = target.grain.address();
                (Error::Denied { address, rule }, Operation::Supersede.name())
            }
            error => (error, "put"),
        });
    txn.recorded_as(judged)
}

/// Adds a superseding grain to the frame of its supersession, or its signature if the grain is
/// stored already.
fn add_successor(
    txn: &mut Transaction<'_>,
    admitted: &Admitted,
    new: &Grain,
    is_new: bool,
) -> Result<(), Error> {
    if !is_new {
        let judged = stronger_signature(&txn.view(), None, new);
        let signature = txn.recorded(judged)?;
        return Ok(signature.iter().try_for_each(|it| txn.record(it))?);
    }
    txn.frame_mut().grain(admitted, new.clone())?;
    // The status entry of the supersession joins them.
    txn.record_consequences(new, None)
}

/// OMS 23.1, ruling I5: a superseding grain names the superseded one.
fn check_names(new: &Grain, old: &Grain) -> Result<(), Error> {
    let address = old.address();
    // A grain cannot replace itself, as it cannot name its own address.
    if names_replaced(new, old) && new.address() != address {
        Ok(())
    } else {
        Err(Error::NotDerived { address })
    }
}

//! Supersession: a new grain is stored and the old one ends, in one frame (OMS 28.4).

use crate::codec::ContentAddress;
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
    supersede_by(&store.engine, old, new.into(), justification, caller)
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
    let address = new.address();
    // Before the right to write is taken, since a caller's resolver may be slow.
    let signers = engine.signers(&new, old)?;

    let mut txn = Transaction::begin(engine, caller)?;
    let mut permit = Permit::of(Deed::Supersede);
    let row = txn.view().row_of(old)?;
    let target = txn.view().version_at(row)?;
    if permit.asks(Guard::Sight) {
        caller.authorize_sight(&target.grain)?;
    }
    match target.status.superseded_by {
        // A retry after an unknown outcome: it is done already.
        Some(by) if by == address => return Ok(address),
        Some(by) => return Err(Error::Conflict { address: *old, by }),
        None if !target.status.is_current() => {
            return Err(Error::NotCurrent { address: *old });
        }
        None => {}
    }
    check_names(&new, &target.grain)?;
    if permit.asks(Guard::Writer) {
        txn.authorize_change(new.text("author_did"), &target.grain)?;
    }
    if permit.asks(Guard::Review) {
        let capability = caller.capability.map(|it| &**it);
        authorize_unreviewed(&txn.view(), capability, &target.grain, &new)?;
    }
    let is_new = txn.view().locate(&address)?.is_none();
    let admitted = admit_successor(&mut txn, &new, is_new, (row, &target))?;
    if permit.asks(Guard::Signers) {
        let judged = authorize_successor(engine, &signers.voices(), &new, &target.grain);
        txn.recorded(judged)?;
    }
    let protection = txn.view().effective_protection(row, &target, Some(&new))?;
    let voices = engine.voices(&signers, &protection);
    let operation = Operation::Supersede;
    let change = Change {
        operation,
        target: old,
        facts: protection.facts(Some(&new)),
        actor: Actor {
            signers: &voices,
            justification,
            is_job: caller.is_job(),
            ..Actor::default()
        },
    };
    let reasons = [justification, new.text("supersession_justification")];
    let is_reviewed =
        permit.asks(Guard::Reason) && txn.authorize_reason(operation, &target.grain, reasons)?;
    if permit.asks(Guard::Policy) {
        change.authorize(&mut txn, is_reviewed)?;
    }
    add_successor(&mut txn, &admitted, &new, is_new)?;
    let change = StatusChange {
        superseded_by: Some(address),
        system_valid_to: Some(txn.entry_time()),
        ..StatusChange::default()
    };
    let status = StatusRecord::of(*old, change).because(justification);
    txn.change(&permit, &Record::Status(status))?;
    txn.commit()?;
    if is_new {
        engine.inherit(&target.grain, address);
    }
    Ok(address)
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

//! Contradiction and verification of stored grains (OMS 6.1, 28.3).

use crate::codec::ContentAddress;
use crate::crypto::Statement;
use crate::grain::{Status, StatusChange, Type, Verification};
use crate::index::Snapshot;
use crate::policy::{Actor, Delegation, Operation, Rule};
use crate::store::engine::{Caller, Engine};
use crate::store::governance::justification::Justification;
use crate::store::lineage::Change;
use crate::store::read::{self, unites};
use crate::store::records::{DenialRecord, Record, StatusRecord};
use crate::store::rules::{Deed, Guard, Permit, authorize_signers};
use crate::store::txn::Transaction;
use crate::store::{Access, Error};

/// An operation on the status of a grain, and its justification.
struct Request<'a> {
    deed: Deed,
    operation: Operation,
    /// The statement that a signature must agree to.
    statement: Statement,
    justification: Justification<'a>,
}

/// See [`Store::contradict`](crate::Store::contradict).
pub(crate) fn contradict<'a>(
    store: &Access,
    address: &ContentAddress,
    justification: impl Into<Justification<'a>>,
) -> Result<(), Error> {
    let caller = store.caller()?;
    contradict_by(&store.engine, address, justification.into(), caller)
}

/// See [`Store::set_verification`](crate::Store::set_verification).
pub(crate) fn set_verification<'a>(
    store: &Access,
    address: &ContentAddress,
    verification: Verification,
    justification: impl Into<Justification<'a>>,
) -> Result<(), Error> {
    let caller = store.caller()?;
    let justification = justification.into();
    set_verification_by(&store.engine, address, verification, justification, caller)
}

/// Returns these user ids and those that the owner said are the same person (ruling I29).
pub(crate) fn united(
    store: &Access,
    snapshot: &Snapshot,
    ids: Vec<String>,
) -> Result<Vec<String>, Error> {
    read::united(&store.engine, snapshot, ids)
}

/// Returns the name of the person with a user id: the first of their ids in order.
#[cfg(feature = "interchange")]
pub(crate) fn person(store: &Access, snapshot: &Snapshot, user: &str) -> Result<String, Error> {
    read::person_of_user(&store.engine, snapshot, user)
}

fn contradict_by(
    engine: &Engine,
    address: &ContentAddress,
    justification: Justification<'_>,
    caller: Caller<'_>,
) -> Result<(), Error> {
    let request = Request {
        deed: Deed::Contradict,
        operation: Operation::Contradict,
        statement: Statement::contradict(*address, engine.store_id())?,
        justification,
    };
    change_status(engine, &request, address, caller, |status| {
        (!status.contradicted).then(|| contradiction(engine, status))
    })
}

/// Returns the change that contradicts a grain of some status.
pub(crate) fn contradiction(engine: &Engine, status: &Status) -> StatusChange {
    let is_open = status.system_valid_to.is_none();
    StatusChange {
        contradicted: Some(true),
        verification: Some(Verification::Contested),
        // A grain that has ended keeps its end.
        system_valid_to: is_open.then(|| engine.entry_time()),
        ..StatusChange::default()
    }
}

pub(crate) fn set_verification_by(
    engine: &Engine,
    address: &ContentAddress,
    verification: Verification,
    justification: Justification<'_>,
    caller: Caller<'_>,
) -> Result<(), Error> {
    let request = Request {
        deed: Deed::Verify,
        operation: Operation::Verify,
        statement: Statement::verify(*address, verification, engine.store_id())?,
        justification,
    };
    change_status(engine, &request, address, caller, |status| {
        // Ruling P18: what is withdrawn from use ends as what is superseded does.
        let ends = verification == Verification::Retracted && status.is_current();
        (ends || status.verification != verification).then(|| StatusChange {
            verification: Some(verification),
            system_valid_to: ends.then(|| engine.entry_time()),
            ..StatusChange::default()
        })
    })
}

fn change_status(
    engine: &Engine,
    request: &Request<'_>,
    target: &ContentAddress,
    caller: Caller<'_>,
    change: impl FnOnce(&Status) -> Option<StatusChange>,
) -> Result<(), Error> {
    // Before the right to write is taken, since a caller's resolver may be slow.
    let signatures = request.justification.signatures.iter().map(Vec::as_slice);
    let signers = request.statement.signers(signatures, engine.resolver());
    let justification = request.justification.justification;
    let mut txn = Transaction::begin(engine, caller)?;
    let row = txn.view().row_of(target)?;
    let version = txn.view().version_at(row)?;
    let mut permit = Permit::of(request.deed);
    if permit.asks(Guard::Sight) {
        caller.authorize_sight(&version.grain)?;
    }
    if permit.asks(Guard::Writer) {
        txn.authorize_change(None, &version.grain)?;
    }
    let Some(change) = change(&version.status) else {
        return Ok(());
    };
    let confirms = matches!(
        change.verification,
        Some(Verification::Verified | Verification::Unverified)
    );
    // Rulings I26, I29, P10: an agent that could verify a delegation, a consent or who is who could
    // give itself any authority.
    let gives = Delegation::of(&version.grain).is_some()
        || version.grain.type_() == Type::Consent
        || unites(&version.grain);
    if permit.asks(Guard::OwnersJudgement) && confirms && gives && !caller.is_owner() {
        let rule = Rule::Owner;
        let operation = request.operation.name();
        txn.refuse(DenialRecord::new(Some(*target), operation, rule.name()))?;
        return Err(Error::Refused { rule });
    }
    if permit.asks(Guard::Signers) {
        let judged = authorize_signers(engine, &signers.voices(), &version.grain);
        txn.recorded(judged)?;
    }
    // A retraction that any caller could undo would protect nothing.
    let reopens = version.status.verification != Verification::Unverified;
    let (needs_reason, is_protected) = (permit.asks(Guard::Reason), permit.asks(Guard::Policy));
    if !confirms || reopens {
        let protection = txn.view().effective_protection(row, &version, None)?;
        let voices = engine.voices(&signers, &protection);
        let asked = Change {
            operation: request.operation,
            target,
            facts: protection.facts(None),
            actor: Actor {
                signers: &voices,
                justification,
                is_job: caller.is_job(),
                ..Actor::default()
            },
        };
        let (operation, reasons) = (request.operation, [justification, None]);
        let is_reviewed =
            needs_reason && txn.authorize_reason(operation, &version.grain, reasons)?;
        if is_protected {
            asked.authorize(&mut txn, is_reviewed)?;
        }
    }
    let status = StatusRecord::of(*target, change).because(justification);
    txn.change(&permit, &Record::Status(status))?;
    txn.commit()?;
    Ok(())
}

//! Deletion of grains for compliance (OMS 28.4): the decision which of them may be deleted. The
//! erasure itself is in `erase`.

use crate::codec::ContentAddress;
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::policy::{self, Actor, Authorization, Operation, Rule, Verdict};
use crate::store::engine::{Caller, Engine};
use crate::store::erasure::erase::{ErasedPersons, erase, resume_erasures_as};
use crate::store::erasure::keeper::await_erasures;
use crate::store::lineage::Change;
use crate::store::records::{DenialRecord, Record};
use crate::store::rules::{Deed, Guard, Permit};
use crate::store::txn::Transaction;
use crate::store::{Error, Owner, read};

/// See [`Admin::delete`](crate::Admin::delete).
pub(crate) fn delete(
    owner: Owner<'_>,
    address: &ContentAddress,
    authorization: Authorization<'_>,
) -> Result<(), Error> {
    let mut outcomes = delete_batch(owner, &[*address], authorization)?;
    let none = Err(Error::NotFound { address: *address });
    outcomes.pop().unwrap_or(none)
}

/// See [`Admin::delete_batch`](crate::Admin::delete_batch).
pub(crate) fn delete_batch(
    owner: Owner<'_>,
    addresses: &[ContentAddress],
    authorization: Authorization<'_>,
) -> Result<Vec<Result<(), Error>>, Error> {
    let reached = read::reached(owner, addresses.iter().copied(), |address| *address)?;
    let outcomes = delete_all(owner.engine(), owner.caller()?, &reached, authorization)?;
    let mut outcomes = reached.iter().zip(outcomes).peekable();
    let outcomes = addresses.iter().map(|address| {
        let outcome = outcomes.next_if(|(of, _)| *of == address);
        match outcome.map_or(Deletion::NotStored, |(_, outcome)| outcome) {
            Deletion::Done => Ok(()),
            Deletion::Kept(rule) => Err(kept_by_rule(owner.engine(), address, rule)),
            Deletion::NotStored => Err(Error::NotFound { address: *address }),
        }
    });
    Ok(outcomes.collect())
}

/// The outcome of the deletion of one grain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deletion {
    Done,
    /// The store does not have the grain, or no longer has it.
    NotStored,
    Kept(Rule),
}

/// Deletes grains, many in one turn: files are rewritten once for all of a turn, and not once
/// for each grain. A refusal is recorded. Returns the outcome of each, in their order.
///
/// # Errors
/// Storage errors.
pub(crate) fn delete_all(
    engine: &Engine,
    caller: Caller<'_>,
    addresses: &[ContentAddress],
    authorization: Authorization<'_>,
) -> Result<Vec<Deletion>, Error> {
    let mut all = Vec::with_capacity(addresses.len());
    for addresses in addresses.chunks(ERASED_AT_ONCE) {
        let mut txn = Transaction::begin(engine, caller)?;
        // One erasure at a time waits: another would need the same room.
        resume_erasures_as(engine, &mut txn)?;
        let snapshot = engine.snapshot();
        let mut targets = Vec::new();
        // The policy of a deletion asks for the retention and the authority too, of each grain.
        let mut permit = Permit::of(Deed::Delete);
        permit.asks(Guard::Policy);
        permit.asks(Guard::Retention);
        permit.asks(Guard::Authority);
        for address in addresses {
            let Some(row) = engine.as_of(&snapshot).locate(address)? else {
                all.push(Deletion::NotStored);
                continue;
            };
            match kept_from_deletion(engine, &snapshot, row, address, authorization)? {
                Some(rule) => {
                    txn.record(&denied(address, rule))?;
                    all.push(Deletion::Kept(rule));
                }
                None => {
                    targets.push((row, *address));
                    all.push(Deletion::Done);
                }
            }
        }
        if targets.is_empty() {
            txn.commit()?;
        } else {
            let none = ErasedPersons::default();
            let (begun, _) = erase(
                engine,
                &mut txn,
                &permit,
                &snapshot,
                &targets,
                &none,
                authorization,
            )?;
            drop(txn);
            await_erasures(engine, &begun)?;
        }
    }
    Ok(all)
}

/// Returns the rule that keeps a grain from being deleted under an authorization.
///
/// # Errors
/// Storage errors.
pub(super) fn kept_from_deletion(
    engine: &Engine,
    snapshot: &Snapshot,
    row: EntryId,
    address: &ContentAddress,
    authorization: Authorization<'_>,
) -> Result<Option<Rule>, Error> {
    let Some(target) = engine.as_of(snapshot).sound_version_at(row)? else {
        // The policy inside a damaged grain is lost; a hold on it is not.
        let is_held = engine.state().holds().is_held(address);
        return Ok(is_held.then_some(Rule::LegalHold));
    };
    let protection = engine
        .as_of(snapshot)
        .effective_protection(row, &target, None)?;
    let change = Change {
        operation: Operation::Delete,
        target: address,
        facts: protection.facts(None),
        actor: Actor {
            justification: Some(authorization.reason),
            authority: Some(authorization.authority),
            ..Actor::default()
        },
    };
    Ok(match change.verdict(engine) {
        Verdict::Deny(rule) => Some(rule),
        Verdict::Allow | Verdict::Review => None,
    })
}

/// Returns the error of a grain that a rule keeps, with what the grain itself requires.
pub(super) fn kept_by_rule(engine: &Engine, address: &ContentAddress, rule: Rule) -> Error {
    let address = *address;
    let snapshot = engine.snapshot();
    let view = engine.as_of(&snapshot);
    let grain = match rule {
        Rule::DeletionRequires => view.locate(&address).ok().flatten(),
        _ => None,
    };
    let grain = grain.and_then(|row| view.grain_at(row, &address).ok());
    match grain.as_ref().and_then(policy::deletion_requires) {
        Some(required) => Error::DeletionRequires {
            address,
            required: required.to_owned(),
            regulation: grain
                .as_ref()
                .and_then(policy::regulation)
                .map(str::to_owned),
        },
        None => Error::Denied { address, rule },
    }
}

/// Returns the record of a refused deletion.
pub(super) fn denied(address: &ContentAddress, rule: Rule) -> Record {
    let operation = Operation::Delete.name();
    Record::Denial(DenialRecord::new(Some(*address), operation, rule.name()))
}

/// Many enough to share the cost of rewriting files, and few enough that one entry lists them and
/// writers do not wait for long.
const ERASED_AT_ONCE: usize = 1_000;

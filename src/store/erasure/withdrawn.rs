//! Erasure of the grains that rest on withdrawn consents (OMS 23.2, `consent_cascade`): those
//! pending, and their execution.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::ledger::EntryId;
use crate::policy::{self, Actor, Authorization, Operation, Rule, Verdict};
use crate::store::consent::deadline_ms;
use crate::store::erasure::delete::{Deletion, delete_all};
use crate::store::erasure::waiting;
use crate::store::governance::{recorded, set};
use crate::store::records::{PolicyRecord, Uid};
use crate::store::view::rests_on;
use crate::store::{Error, Owner};

/// A grain whose erasure is pending because its consent was withdrawn (OMS 23.2,
/// `consent_cascade`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingErasure {
    /// The grain.
    pub address: ContentAddress,
    /// The consent in its `processing_basis`.
    pub consent: ContentAddress,
    /// The Consent that withdrew it.
    pub withdrawal: ContentAddress,
    /// When the withdrawal took effect.
    pub withdrawn_at: Time,
    /// The deadline for the erasure.
    pub due_at: Time,
    /// The rule that keeps it; `None` if none does.
    pub kept: Option<Rule>,
}

/// The result of [`Admin::run_consent_erasures`](crate::Admin::run_consent_erasures).
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ErasureReport {
    /// The erased grains.
    pub erased: Vec<ContentAddress>,
    /// The grains that holds and retention keep; their erasure stays pending.
    pub kept: Vec<PendingErasure>,
    /// The ledger entries that rest on a withdrawn consent and whose bytes are damaged: their
    /// addresses are unknown. Deleting the grain by its address erases them.
    pub damaged: Vec<EntryId>,
    /// The locked persons of whom grains may be due, as [`Admin::waiting_persons`](crate::Admin::waiting_persons) has them: the run is
    /// recorded, and carried out at their next unlocking.
    pub waiting: BTreeMap<[u8; 16], Option<u64>>,
}

/// See [`Admin::pending_erasures`](crate::Admin::pending_erasures).
pub(crate) fn pending_erasures(owner: Owner<'_>) -> Result<Vec<PendingErasure>, Error> {
    owner.authorize_whole()?;
    let pending = pending_and_damaged(owner)?.0;
    Ok(pending.into_iter().map(|pending| pending.due).collect())
}

/// See [`Admin::waiting_persons`](crate::Admin::waiting_persons).
pub(crate) fn waiting_persons(owner: Owner<'_>) -> Result<BTreeMap<[u8; 16], Option<u64>>, Error> {
    owner.authorize_whole()?;
    waiting::look_into(owner.engine(), &waiting::unexamined(owner.engine())?)
}

/// See [`Admin::run_consent_erasures`](crate::Admin::run_consent_erasures).
pub(crate) fn run_consent_erasures(
    owner: Owner<'_>,
    authorization: Authorization<'_>,
) -> Result<ErasureReport, Error> {
    recorded(authorization)?;
    owner.authorize_whole()?;
    let engine = owner.engine();
    let unexamined = waiting::unexamined(engine)?;
    let looked = waiting::look_into(engine, &unexamined)?;
    let (mut done, kept) = carry_out(owner, pending_and_damaged(owner)?, authorization)?;
    let waiting: BTreeSet<Uid> = looked.keys().copied().chain(kept).collect();
    if !(unexamined.is_empty() && waiting.is_empty()) {
        let waiting = waiting.into_iter().collect();
        set(owner, authorization, |authorization| {
            PolicyRecord::ConsentRun {
                waiting,
                authorization,
            }
        })?;
    }
    waiting::carry_out_locked(owner, looked, &mut done)?;
    Ok(done)
}

/// Returns the pending erasures, and the entries whose bytes are damaged.
pub(super) fn pending_and_damaged(owner: Owner<'_>) -> Result<(Vec<Pending>, Vec<EntryId>), Error> {
    let mut pending = Vec::new();
    let mut damaged = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let engine = owner.engine();
    let snapshot = engine.snapshot();
    let moment = engine.moment();
    let deadline = deadline_ms(engine);
    for (withdrawal, consent, rows) in engine.as_of(&snapshot).cascades()? {
        for row in rows.iter() {
            let Some(target) = engine.as_of(&snapshot).sound_version_at(row)? else {
                damaged.insert(row);
                continue;
            };
            // A row may appear under two withdrawals.
            if !rests_on(&target.grain, &consent) || !seen.insert(row) {
                continue;
            }
            let protection = engine
                .as_of(&snapshot)
                .effective_protection(row, &target, None)?;
            let actor = Actor {
                justification: Some(WITHDRAWN),
                authority: Some(WITHDRAWN),
                ..Actor::default()
            };
            let facts = protection.facts(None);
            let verdict = policy::decide(Operation::Delete, &facts, &actor, moment);
            let due = PendingErasure {
                address: target.grain.address(),
                consent,
                withdrawal: withdrawal.by,
                withdrawn_at: withdrawal.at,
                due_at: Time::from_ms(withdrawal.at.ms().saturating_add(deadline)),
                kept: match verdict {
                    Verdict::Deny(rule) => Some(rule),
                    Verdict::Allow | Verdict::Review => None,
                },
            };
            let person = snapshot.overlay_of(row);
            pending.push(Pending { due, person });
        }
    }
    Ok((pending, damaged.into_iter().collect()))
}

/// Executes pending erasures. Returns also the sealed persons of whom something is kept.
pub(super) fn carry_out(
    owner: Owner<'_>,
    (pending, damaged): (Vec<Pending>, Vec<EntryId>),
    authorization: Authorization<'_>,
) -> Result<(ErasureReport, BTreeSet<Uid>), Error> {
    let addresses: Vec<ContentAddress> = pending.iter().map(|one| one.due.address).collect();
    let engine = owner.engine();
    let became = delete_all(engine, owner.caller()?, &addresses, authorization)?;
    let mut kept = BTreeSet::new();
    let mut done = ErasureReport {
        damaged,
        ..ErasureReport::default()
    };
    for (Pending { due, person }, became) in pending.into_iter().zip(became) {
        match became {
            Deletion::Done => done.erased.push(due.address),
            Deletion::NotStored => {}
            Deletion::Kept(rule) => {
                kept.extend(person);
                done.kept.push(PendingErasure {
                    kept: Some(rule),
                    ..due
                });
            }
        }
    }
    Ok((done, kept))
}

/// An erasure that is due, with the person for whom the grain is sealed.
pub(super) struct Pending {
    pub(super) due: PendingErasure,
    pub(super) person: Option<Uid>,
}

/// The reason with which the decision is asked for the rules that prevent an erasure.
const WITHDRAWN: &str = "the consent was withdrawn";

//! The rules of consent (OMS 8.10): which grains may be stored, and the effects of a withdrawal.

use crate::codec::ContentAddress;
use crate::grain::{Grain, StatusChange, Type};
use crate::policy::{self, Actor, Operation, Party, Rule, TrustedNow, Verdict};
use crate::store::Error;
use crate::store::records::{Frame, Record, ReviewRecord, StatusRecord};
use crate::store::rules::{authorize_successor, requires_review};
use crate::store::view::{Demand, Origin, View, counts_for_party, effect_of};

/// Decides whether a party may store a grain that gives or withdraws a consent (OMS 8.10).
/// Returns the rule that denies it, if any.
pub(crate) fn authorize_consent(
    view: &View<'_>,
    frame: &Frame,
    grain: &Grain,
    party: impl FnOnce() -> Party,
    origin: impl FnOnce() -> Result<Origin, Error>,
) -> Result<Option<Rule>, Error> {
    if grain.type_() != Type::Consent {
        return Ok(None);
    }
    match counts_for_party(grain, &party()) {
        true => view.authorize_withdrawal(frame, grain, origin()?),
        false => Ok(Some(Rule::Author)),
    }
}

/// Decides whether a party may store a new grain, by its consent (OMS 8.10): its
/// `processing_basis` is not withdrawn, and is in force for the person and the party where its
/// namespace requires one. Returns the rule that denies it, if any. A Consent rests on no other:
/// other grains rest on it.
pub(crate) fn authorize_basis(
    view: &View<'_>,
    frame: &Frame,
    grain: &Grain,
    party: impl FnOnce() -> Party,
) -> Result<Option<Rule>, Error> {
    if grain.type_() == Type::Consent {
        return Ok(None);
    }
    let basis = grain.link("processing_basis");
    if let Some(basis) = &basis
        && view.withdrawal_of(frame, basis)?.is_some()
    {
        return Ok(Some(Rule::Consent));
    }
    let namespace = grain.text("namespace").unwrap_or_default();
    if !view.known_state().consents().required_in(namespace).write {
        return Ok(None);
    }
    let Some(basis) = basis else {
        return Ok(Some(Rule::Consent));
    };
    let party = party();
    let demand = Demand::storing(grain, &party, view.now());
    Ok(match view.is_met(frame, &basis, &demand)? {
        true => None,
        false => Some(Rule::Consent),
    })
}

/// Returns whether storing a grain has further effects: it is a Consent, or requires a review.
pub(crate) fn has_consequences(grain: &Grain) -> bool {
    grain.type_() == Type::Consent || requires_review(grain)
}

/// Records the effects of a grain that was just added to the frame: the effect of a withdrawal,
/// and the review that a grain requires. With a `moment`, a withdrawal supersedes its grant
/// where policy permits it then.
pub(crate) fn record_consequences(
    view: &View<'_>,
    frame: &mut Frame,
    grain: &Grain,
    moment: Option<TrustedNow>,
) -> Result<(), Error> {
    let address = grain.address();
    if requires_review(grain) {
        let review = ReviewRecord::opened(address, ReviewRecord::RELY);
        frame.record(&Record::Review(review))?;
    }
    if grain.type_() != Type::Consent {
        return Ok(());
    }
    if let Some(effect) = effect_of(grain) {
        frame.record(&Record::ConsentEffect(effect))?;
        if let Some(moment) = moment {
            join(view, frame, &effect.consent, grain, moment)?;
        }
    } else if let (Some(moment), Some(withdrawal)) = (moment, view.withdrawal_of(frame, &address)?)
    {
        // Ruling I8: the withdrawal came first, and takes effect now that the grant is stored.
        let found = frame.find(&withdrawal.by).cloned();
        let found = match (found, view.locate(&withdrawal.by)?) {
            (Some(pending), _) => Some(pending),
            (None, Some(row)) => Some(view.grain_at(row, &withdrawal.by)?),
            (None, None) => None,
        };
        if let Some(withdrawing) = found {
            join(view, frame, &address, &withdrawing, moment)?;
        }
    }
    Ok(())
}

/// Marks a grant as superseded by its withdrawal where policy permits it (ruling I7). It is
/// withdrawn in either case.
fn join(
    view: &View<'_>,
    frame: &mut Frame,
    grant: &ContentAddress,
    withdrawal: &Grain,
    moment: TrustedNow,
) -> Result<(), Error> {
    if !view.is_withdrawal_authorized(frame, grant, &withdrawal.address())? {
        return Ok(());
    }
    let (target, protection) = match (frame.find(grant), view.locate(grant)?) {
        (Some(pending), _) => (pending.clone(), view.effective_protection_of_new(pending)),
        (None, Some(row)) if view.snapshot().is_current(row) => {
            let target = view.version_at(row)?;
            let facts = view.effective_protection(row, &target, Some(withdrawal))?;
            (target.grain, facts)
        }
        _ => return Ok(()),
    };
    // Where only trusted signers write, the withdrawal takes effect and ends no grain.
    if authorize_successor(view, &[], withdrawal, &target).is_err() {
        return Ok(());
    }
    let facts = protection.facts(Some(withdrawal));
    let verdict = policy::decide(Operation::Supersede, &facts, &Actor::default(), moment);
    match verdict {
        Verdict::Deny(_) => return Ok(()),
        Verdict::Review => {
            frame.review(grant, Operation::Supersede)?;
        }
        Verdict::Allow => {}
    }
    let change = StatusChange {
        superseded_by: Some(withdrawal.address()),
        system_valid_to: Some(moment.now),
        ..StatusChange::default()
    };
    frame.record(&Record::Status(StatusRecord::of(*grant, change)))?;
    Ok(())
}

//! The rules of consent (OMS 8.10): which grains may be stored, the effects of a withdrawal, and the
//! rows that rest on withdrawn consents. A consent that a namespace demands is judged in `demand`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, StatusChange, Type};
use crate::index::{Family, RowSet, Rows, Snapshot};
use crate::policy::{self, Actor, Operation, Party, Rule, TrustedNow, Verdict};
use crate::store::Error;
use crate::store::governance::{Origin, requires_review};
use crate::store::instance::Inner;
use crate::store::records::{ConsentEffectRecord, Frame, Record, ReviewRecord, StatusRecord};
use crate::store::state::Withdrawal;

use super::demand::Demand;

impl Inner {
    /// Decides whether a party may store a grain that gives or withdraws a consent (OMS 8.10).
    /// Returns the rule that denies it, if any.
    pub(crate) fn authorize_consent(
        &self,
        snapshot: &Snapshot,
        frame: &Frame,
        grain: &Grain,
        party: impl FnOnce() -> Party,
        origin: impl FnOnce() -> Result<Origin, Error>,
    ) -> Result<Option<Rule>, Error> {
        if grain.type_() != Type::Consent {
            return Ok(None);
        }
        match Self::counts_for_party(grain, &party()) {
            true => self.authorize_withdrawal(snapshot, frame, grain, origin()?),
            false => Ok(Some(Rule::Author)),
        }
    }

    /// Decides whether a party may store a new grain, by its consent (OMS 8.10): its
    /// `processing_basis` is not withdrawn, and is in force for the person and the party where its
    /// namespace requires one. Returns the rule that denies it, if any. A Consent rests on no other:
    /// other grains rest on it.
    pub(crate) fn authorize_basis(
        &self,
        snapshot: &Snapshot,
        frame: &Frame,
        grain: &Grain,
        party: impl FnOnce() -> Party,
    ) -> Result<Option<Rule>, Error> {
        if grain.type_() == Type::Consent {
            return Ok(None);
        }
        let basis = grain.link("processing_basis");
        if let Some(basis) = &basis
            && self.withdrawal_of(snapshot, frame, basis)?.is_some()
        {
            return Ok(Some(Rule::Consent));
        }
        let namespace = grain.text("namespace").unwrap_or_default();
        if !self.state().consents().required_in(namespace).write {
            return Ok(None);
        }
        let Some(basis) = basis else {
            return Ok(Some(Rule::Consent));
        };
        let party = party();
        let demand = Demand::storing(grain, &party, self.now());
        Ok(match self.is_met(snapshot, frame, &basis, &demand)? {
            true => None,
            false => Some(Rule::Consent),
        })
    }

    /// Returns a consent and its successors in order, as far as they are stored.
    pub(super) fn renewals(
        &self,
        snapshot: &Snapshot,
        consent: &ContentAddress,
    ) -> Result<Vec<ContentAddress>, Error> {
        let mut all = vec![*consent];
        let mut next = *consent;
        while let Some(row) = self.locate(snapshot, &next)? {
            match self.status_at(snapshot, row)?.superseded_by {
                Some(newer) if !all.contains(&newer) => {
                    all.push(newer);
                    next = newer;
                }
                _ => break,
            }
        }
        Ok(all)
    }

    /// Returns the withdrawal of a consent, or of one of its successors; `None` while it is in
    /// force.
    pub(crate) fn withdrawal_of(
        &self,
        snapshot: &Snapshot,
        frame: &Frame,
        consent: &ContentAddress,
    ) -> Result<Option<Withdrawal>, Error> {
        if self.state().consents().withdrawals().is_empty() && !frame.has_effects() {
            return Ok(None);
        }
        for consent in self.renewals(snapshot, consent)? {
            let mut known = self.state().consents().withdrawals_of(&consent).to_vec();
            let pending = frame.effects().filter(|effect| effect.consent == consent);
            known.extend(pending.map(|effect| Withdrawal {
                by: effect.withdrawal,
                at: self.now(),
            }));
            for withdrawal in known {
                if self.is_withdrawal_authorized(snapshot, frame, &consent, &withdrawal.by)? {
                    return Ok(Some(withdrawal));
                }
            }
        }
        Ok(None)
    }

    /// Returns whether storing a grain has further effects: it is a Consent, or requires a review.
    pub(crate) fn has_consequences(grain: &Grain) -> bool {
        grain.type_() == Type::Consent || requires_review(grain)
    }

    /// Records the effects of a grain that was just added to the frame: the effect of a withdrawal,
    /// and the review that a grain requires. With a `moment`, a withdrawal supersedes its grant
    /// where policy permits it then.
    pub(crate) fn record_consequences(
        &self,
        snapshot: &Snapshot,
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
        if let Some(grant) = withdrawn_by(grain) {
            frame.record(&Record::ConsentEffect(ConsentEffectRecord {
                consent: grant,
                withdrawal: address,
            }))?;
            if let Some(moment) = moment {
                self.join(snapshot, frame, &grant, grain, moment)?;
            }
        } else if let (Some(moment), Some(withdrawal)) =
            (moment, self.withdrawal_of(snapshot, frame, &address)?)
        {
            // Ruling I8: the withdrawal came first, and takes effect now that the grant is stored.
            let found = frame.find(&withdrawal.by).cloned();
            let found = match (found, self.locate(snapshot, &withdrawal.by)?) {
                (Some(pending), _) => Some(pending),
                (None, Some(row)) => Some(self.grain_at(row, &withdrawal.by)?),
                (None, None) => None,
            };
            if let Some(withdrawing) = found {
                self.join(snapshot, frame, &address, &withdrawing, moment)?;
            }
        }
        Ok(())
    }

    /// Marks a grant as superseded by its withdrawal where policy permits it (ruling I7). It is
    /// withdrawn in either case.
    fn join(
        &self,
        snapshot: &Snapshot,
        frame: &mut Frame,
        grant: &ContentAddress,
        withdrawal: &Grain,
        moment: TrustedNow,
    ) -> Result<(), Error> {
        if !self.is_withdrawal_authorized(snapshot, frame, grant, &withdrawal.address())? {
            return Ok(());
        }
        let (target, protection) = match (frame.find(grant), self.locate(snapshot, grant)?) {
            (Some(pending), _) => (pending.clone(), self.effective_protection_of_new(pending)),
            (None, Some(row)) if snapshot.is_current(row) => {
                let target = self.version_at(snapshot, row)?;
                let facts = self.effective_protection(snapshot, row, &target, Some(withdrawal))?;
                (target.grain, facts)
            }
            _ => return Ok(()),
        };
        // Where only trusted signers write, the withdrawal takes effect and ends no grain.
        if self.authorize_successor(&[], withdrawal, &target).is_err() {
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

    /// Returns whether a Consent was withdrawn, or withdraws one: both are retained (OMS 8.10).
    pub(crate) fn is_evidence(&self, snapshot: &Snapshot, grain: &Grain) -> Result<bool, Error> {
        if grain.type_() != Type::Consent {
            return Ok(false);
        }
        let frame = Frame::default();
        Ok(withdrawn_by(grain).is_some()
            || self
                .withdrawal_of(snapshot, &frame, &grain.address())?
                .is_some())
    }

    /// Returns the withdrawn consents, each with its withdrawal and the rows that rest on it: on
    /// the consent itself or on one that it renewed.
    pub(crate) fn cascades(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Vec<(Withdrawal, ContentAddress, Rows)>, Error> {
        let withdrawals = self.state().consents().withdrawals().clone();
        let frame = Frame::default();
        let mut cascades = Vec::new();
        for (consent, known) in withdrawals {
            for withdrawal in known {
                if !self.is_withdrawal_authorized(snapshot, &frame, &consent, &withdrawal.by)? {
                    continue;
                }
                for consent in self.renewed_by(snapshot, &consent)? {
                    let resting = snapshot.pointing_at(Family::ProcessingBasis, &consent);
                    let rows = resting.rows()?;
                    if !rows.is_empty() {
                        cascades.push((withdrawal, consent, rows));
                    }
                }
                // The first withdrawal counts.
                break;
            }
        }
        cascades.sort_by_key(|(withdrawal, consent, _)| (withdrawal.at, *consent));
        Ok(cascades)
    }

    /// Returns a consent and those that it renewed.
    fn renewed_by(
        &self,
        snapshot: &Snapshot,
        consent: &ContentAddress,
    ) -> Result<Vec<ContentAddress>, Error> {
        let mut all = vec![*consent];
        let mut seen = BTreeSet::new();
        let mut at = 0;
        while let Some(newer) = all.get(at).copied() {
            at += 1;
            for (row, earlier) in self.replaced_by(snapshot, &newer)? {
                if seen.insert(row) && self.grain_at(row, &earlier)?.type_() == Type::Consent {
                    all.push(earlier);
                }
            }
        }
        Ok(all)
    }

    /// Returns the rows that rest on withdrawn consents now, also for a query about an earlier
    /// time.
    pub(super) fn withdrawn_rows(&self) -> Result<Arc<RowSet>, Error> {
        self.caches().withdrawn.get_or(|| {
            let mut rows = RowSet::default();
            for (_, _, resting) in self.cascades(&self.snapshot())? {
                resting.iter().for_each(|row| rows.insert(row));
            }
            Ok(rows)
        })
    }
}

/// Returns the consent that a grain withdraws.
pub(crate) fn withdrawn_by(grain: &Grain) -> Option<ContentAddress> {
    is_withdrawal(grain)
        .then(|| grain.link("prior_consent"))
        .flatten()
}

/// Returns whether a grain is a Consent that withdraws another, whatever it names as that.
pub(crate) fn is_withdrawal(grain: &Grain) -> bool {
    let withdraws = grain.field("is_withdrawal").and_then(Value::as_bool) == Some(true);
    withdraws && grain.type_() == Type::Consent
}

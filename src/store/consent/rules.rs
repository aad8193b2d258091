//! The rules of consent (OMS 8.10): which grains may be stored and read, the effects of a
//! withdrawal, and the rows that rest on withdrawn consents.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, StatusChange, Time, Type};
use crate::index::{Family, RowSet, Rows, Snapshot};
use crate::policy::{self, Actor, Consented, Operation, Rule, TrustedNow, Verdict};
use crate::store::governance::{Origin, requires_review};
use crate::store::instance::Inner;
use crate::store::records::{ConsentEffectRecord, Frame, Record, ReviewRecord, StatusRecord};
use crate::store::state::Withdrawal;
use crate::store::{Error, Store, Version};

impl Inner {
    /// Decides whether a new grain may be stored, by its dependencies and its consent (OMS 8.7,
    /// 8.10); `None` if no rule denies it. A Consent rests on no other: other grains rest on it.
    pub(crate) fn authorize_basis(
        &self,
        snapshot: &Snapshot,
        frame: &Frame,
        grain: &Grain,
        origin: impl FnOnce() -> Result<Origin, Error>,
    ) -> Result<Option<Rule>, Error> {
        if self.starts_early(snapshot, frame, grain)? {
            return Ok(Some(Rule::Dependency));
        }
        if grain.type_() == Type::Consent {
            return self.authorize_withdrawal(snapshot, frame, grain, origin()?);
        }
        Ok(match self.has_consent(snapshot, frame, grain)? {
            true => None,
            false => Some(Rule::Consent),
        })
    }

    /// Returns whether consent permits storing a grain: its `processing_basis` is not withdrawn,
    /// and is in force where its namespace requires one.
    fn has_consent(
        &self,
        snapshot: &Snapshot,
        frame: &Frame,
        grain: &Grain,
    ) -> Result<bool, Error> {
        let basis = grain.link("processing_basis");
        if let Some(basis) = &basis
            && self.withdrawal_of(snapshot, frame, basis)?.is_some()
        {
            return Ok(false);
        }
        let namespace = grain.text("namespace").unwrap_or_default();
        if !self.state().consents().required_in(namespace).write {
            return Ok(true);
        }
        let Some(basis) = basis else {
            return Ok(false);
        };
        let now = self.now();
        self.allows(snapshot, frame, &basis, Consented::Store, now)
    }

    /// Returns whether the newest consent of a lineage is in force and permits an operation.
    fn allows(
        &self,
        snapshot: &Snapshot,
        frame: &Frame,
        consent: &ContentAddress,
        operation: Consented,
        now: Time,
    ) -> Result<bool, Error> {
        if let Some(pending) = frame.find(consent) {
            return Ok(policy::holds(pending, operation, now));
        }
        let newest = self.renewals(snapshot, consent)?.pop().unwrap_or(*consent);
        let Some(row) = self.locate(snapshot, &newest)? else {
            return Ok(false);
        };
        let version = self.version_at(snapshot, row)?;
        Ok(version.status.is_current() && policy::holds(&version.grain, operation, now))
    }

    /// Returns a consent and its successors in order, as far as they are stored.
    fn renewals(
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
    /// and the review that a grain requires. With `replaces`, a withdrawal supersedes its grant
    /// where policy permits it.
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

    /// Returns the rows that no query shows: grains that rest on withdrawn consents, and grains
    /// without a consent in namespaces that require one for reading.
    fn unconsented(&self, snapshot: &Snapshot) -> Result<Arc<RowSet>, Error> {
        let withdrawn = self.withdrawn_rows()?;
        let demands: Vec<String> = {
            let state = self.state();
            let demands = state.consents().required().iter();
            let demands = demands.filter(|(_, required)| required.read);
            demands.map(|(namespace, _)| namespace.clone()).collect()
        };
        if demands.is_empty() {
            return Ok(withdrawn);
        }
        let mut rows = RowSet::clone(&withdrawn);
        let allowed = self.readable(snapshot)?;
        for namespace in demands {
            let within = snapshot.with_text(Family::Namespace, &namespace).rows()?;
            for row in within.iter().filter(|row| !allowed.contains(*row)) {
                let grain = self.version_at(snapshot, row)?.grain;
                let own = grain.text("namespace").unwrap_or_default();
                // An inner namespace may require less.
                if grain.type_() != Type::Consent && self.state().consents().required_in(own).read {
                    rows.insert(row);
                }
            }
        }
        Ok(Arc::new(rows))
    }

    /// Returns the rows that rest on withdrawn consents now, also for a query about an earlier
    /// time.
    fn withdrawn_rows(&self) -> Result<Arc<RowSet>, Error> {
        self.caches().withdrawn.get_or(|| {
            let mut rows = RowSet::default();
            for (_, _, resting) in self.cascades(&self.snapshot())? {
                resting.iter().for_each(|row| rows.insert(row));
            }
            Ok(rows)
        })
    }

    /// Returns the rows that rest on a consent that permits reading now.
    fn readable(&self, snapshot: &Snapshot) -> Result<Rows, Error> {
        let (now, frame) = (self.now(), Frame::default());
        let mut rows = Vec::new();
        for row in snapshot.of_type(Type::Consent).rows()?.iter() {
            let consent = self.version_at(snapshot, row)?.grain.address();
            let resting = snapshot.pointing_at(Family::ProcessingBasis, &consent);
            let resting = resting.rows()?;
            if !resting.is_empty()
                && self.allows(snapshot, &frame, &consent, Consented::Retrieve, now)?
            {
                rows.extend(resting.iter());
            }
        }
        Ok(Rows::from_iter(rows))
    }

    /// Returns whether any namespace requires a consent for reading.
    pub(crate) fn is_consent_required_to_read(&self) -> bool {
        self.state().consents().is_any_required_to_read()
    }

    /// Leaves out grains that may not be read.
    pub(crate) fn keep_readable(
        &self,
        snapshot: &Snapshot,
        versions: Vec<Version>,
    ) -> Result<Vec<Version>, Error> {
        let mut kept = Vec::with_capacity(versions.len());
        for version in versions {
            match self.authorize_read(snapshot, &version.grain) {
                Err(Error::Denied { .. }) => {}
                allowed => {
                    allowed?;
                    kept.push(version);
                }
            }
        }
        Ok(kept)
    }

    /// Refuses to read a grain without the consent that its namespace requires.
    pub(crate) fn authorize_read(&self, snapshot: &Snapshot, grain: &Grain) -> Result<(), Error> {
        // Checked before any field of the grain is read: fields are decoded on first use.
        if !self.is_consent_required_to_read() || grain.type_() == Type::Consent {
            return Ok(());
        }
        let namespace = grain.text("namespace").unwrap_or_default();
        if !self.state().consents().required_in(namespace).read {
            return Ok(());
        }
        let (now, frame) = (self.now(), Frame::default());
        let allowed = match grain.link("processing_basis") {
            Some(basis) => {
                self.withdrawal_of(snapshot, &frame, &basis)?.is_none()
                    && self.allows(snapshot, &frame, &basis, Consented::Retrieve, now)?
            }
            None => false,
        };
        if allowed {
            return Ok(());
        }
        Err(Error::Denied {
            address: grain.address(),
            rule: Rule::Consent,
        })
    }
}

impl Store {
    pub(crate) fn unconsented(&self, snapshot: &Snapshot) -> Result<Arc<RowSet>, Error> {
        self.inner.unconsented(snapshot)
    }
}

/// Returns the consent that a grain withdraws.
pub(crate) fn withdrawn_by(grain: &Grain) -> Option<ContentAddress> {
    let withdraws = grain.field("is_withdrawal").and_then(Value::as_bool) == Some(true);
    (withdraws && grain.type_() == Type::Consent)
        .then(|| grain.link("prior_consent"))
        .flatten()
}

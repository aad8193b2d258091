//! Consents as they stand (OMS 8.10): their renewals, and the withdrawals that count, which are those
//! of the person who consented, of the writer of the consent, and of the store's owner (ruling I7).

use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::crypto::{Did, kid};
use crate::grain::{Grain, Type, Verification};
use crate::index::{Family, Rows};
use crate::policy::{Rule, is_withdrawal};
use crate::store::Error;
use crate::store::records::{ConsentEffectRecord, Frame};
use crate::store::state::Withdrawal;
use crate::store::view::{Origin, View};

/// A Consent, stored or in a frame, with its origin.
struct Known {
    grain: Grain,
    origin: Origin,
    /// Whether the owner has verified it here.
    is_verified: bool,
}

impl View<'_> {
    /// Returns a consent and its successors in order, as far as they are stored.
    pub(crate) fn renewals(&self, consent: &ContentAddress) -> Result<Vec<ContentAddress>, Error> {
        let mut all = vec![*consent];
        let mut next = *consent;
        while let Some(row) = self.locate(&next)? {
            match self.status_at(row)?.superseded_by {
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
        frame: &Frame,
        consent: &ContentAddress,
    ) -> Result<Option<Withdrawal>, Error> {
        if self.known_state().consents().withdrawals().is_empty() && !frame.has_effects() {
            return Ok(None);
        }
        for consent in self.renewals(consent)? {
            let mut known = self
                .known_state()
                .consents()
                .withdrawals_of(&consent)
                .to_vec();
            let pending = frame.effects().filter(|effect| effect.consent == consent);
            known.extend(pending.map(|effect| Withdrawal {
                by: effect.withdrawal,
                at: self.now(),
            }));
            for withdrawal in known {
                if self.is_withdrawal_authorized(frame, &consent, &withdrawal.by)? {
                    return Ok(Some(withdrawal));
                }
            }
        }
        Ok(None)
    }

    /// Returns whether a Consent was withdrawn, or withdraws one: both are retained (OMS 8.10).
    pub(crate) fn is_evidence(&self, grain: &Grain) -> Result<bool, Error> {
        if grain.type_() != Type::Consent {
            return Ok(false);
        }
        let frame = Frame::default();
        Ok(
            withdrawn_by(grain).is_some()
                || self.withdrawal_of(&frame, &grain.address())?.is_some(),
        )
    }

    /// Returns the withdrawn consents, each with its withdrawal and the rows that rest on it: on
    /// the consent itself or on one that it renewed.
    pub(crate) fn cascades(&self) -> Result<Vec<(Withdrawal, ContentAddress, Rows)>, Error> {
        let mut cascades = Vec::new();
        for (withdrawal, consent) in self.withdrawn_consents()? {
            let resting = self
                .snapshot()
                .pointing_at(Family::ProcessingBasis, &consent);
            let rows = resting.rows()?;
            if !rows.is_empty() {
                cascades.push((withdrawal, consent, rows));
            }
        }
        cascades.sort_by_key(|(withdrawal, consent, _)| (withdrawal.at, *consent));
        Ok(cascades)
    }

    /// Returns the consents that are withdrawn, or renewed by one that is, each with its withdrawal.
    pub(crate) fn withdrawn_consents(&self) -> Result<Vec<(Withdrawal, ContentAddress)>, Error> {
        let withdrawals = self.known_state().consents().withdrawals().clone();
        let frame = Frame::default();
        let mut withdrawn = Vec::new();
        for (consent, known) in withdrawals {
            for withdrawal in known {
                if !self.is_withdrawal_authorized(&frame, &consent, &withdrawal.by)? {
                    continue;
                }
                let renewed = self.renewed_by(&consent)?.into_iter();
                withdrawn.extend(renewed.map(|consent| (withdrawal, consent)));
                // The first withdrawal counts.
                break;
            }
        }
        Ok(withdrawn)
    }

    /// Returns the effects of the stored withdrawals of which no entry tells: damage took it.
    pub(crate) fn missing_effects(&self) -> Result<Vec<ConsentEffectRecord>, Error> {
        let mut missing = Vec::new();
        for row in self.snapshot().of_type(Type::Consent).rows()?.iter() {
            let Some(version) = self.sound_version_at(row)? else {
                continue;
            };
            let effect = effect_of(&version.grain);
            let state = self.known_state();
            missing.extend(effect.filter(|effect| {
                let known = state.consents().withdrawals_of(&effect.consent);
                known.iter().all(|known| known.by != effect.withdrawal)
            }));
        }
        Ok(missing)
    }

    /// Returns a consent and those that it renewed.
    fn renewed_by(&self, consent: &ContentAddress) -> Result<Vec<ContentAddress>, Error> {
        let mut all = vec![*consent];
        let mut seen = BTreeSet::new();
        let mut at = 0;
        while let Some(newer) = all.get(at).copied() {
            at += 1;
            for (row, earlier) in self.replaced_by(&newer)? {
                if seen.insert(row) && self.grain_at(row, &earlier)?.type_() == Type::Consent {
                    all.push(earlier);
                }
            }
        }
        Ok(all)
    }

    /// Returns whether a withdrawal counts for the consent that it names.
    ///
    /// The parties of a consent that is not stored are unknown, so the withdrawal of an agent waits
    /// for it (ruling I8).
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn is_withdrawal_authorized(
        &self,
        frame: &Frame,
        consent: &ContentAddress,
        withdrawal: &ContentAddress,
    ) -> Result<bool, Error> {
        let consent = self.known_consent(frame, consent)?;
        let Some(withdrawal) = self.known_consent(frame, withdrawal)? else {
            return Ok(consent.is_none());
        };
        Ok(counts(consent.as_ref(), &withdrawal))
    }

    /// Refuses a withdrawal of another's consent, so that its writer learns that it has no effect.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn authorize_withdrawal(
        &self,
        frame: &Frame,
        grain: &Grain,
        origin: Origin,
    ) -> Result<Option<Rule>, Error> {
        let Some(consent) = withdrawn_by(grain).filter(|_| origin != Origin::Owner) else {
            return Ok(None);
        };
        let Some(consent) = self.known_consent(frame, &consent)? else {
            return Ok(None);
        };
        let withdrawal = Known {
            grain: grain.clone(),
            origin,
            is_verified: false,
        };
        let is_authorized = counts(Some(&consent), &withdrawal);
        Ok((!is_authorized).then_some(Rule::Withdrawal))
    }

    fn known_consent(
        &self,
        frame: &Frame,
        address: &ContentAddress,
    ) -> Result<Option<Known>, Error> {
        let Some(origin) = self.origin_in(frame, address)? else {
            return Ok(None);
        };
        let known = match (frame.find(address), self.locate(address)?) {
            (Some(grain), _) => Some((grain.clone(), Verification::default())),
            (None, Some(row)) => {
                let version = self.version_at(row)?;
                Some((version.grain, version.status.verification))
            }
            (None, None) => None,
        };
        let known = known.filter(|(grain, _)| grain.type_() == Type::Consent);
        Ok(known.map(|(grain, verification)| Known {
            grain,
            origin,
            is_verified: verification == Verification::Verified,
        }))
    }
}

fn counts(consent: Option<&Known>, withdrawal: &Known) -> bool {
    let subject = |known: &Known| {
        let subject = known.grain.text("subject_did");
        subject.map(|did| Did::bare(did).to_owned())
    };
    let whose = subject(withdrawal);
    let Some(consent) = consent else {
        return !matches!(withdrawal.origin, Origin::Handle(_));
    };
    if whose.is_none() || whose != subject(consent) {
        return false;
    }
    match (&withdrawal.origin, &consent.origin) {
        (Origin::Owner, _) => return true,
        (Origin::File, _) if withdrawal.is_verified => return true,
        // An import is an operation of the owner, and takes no consent from an agent.
        (Origin::File, Origin::Owner | Origin::File) => return true,
        _ => {}
    }
    let grantor = match &consent.origin {
        Origin::Handle(author) => author.clone(),
        Origin::Owner | Origin::File => consent.grain.text("author_did").map(str::to_owned),
    };
    let parties = [whose, grantor];
    let mut parties = parties.iter().flatten();
    // A stored signature was verified when it came.
    let signer = withdrawal
        .grain
        .envelope()
        .and_then(|_| kid(&withdrawal.grain).ok());
    parties.any(|party| {
        let has_signed = signer.as_ref();
        let has_signed = has_signed.is_some_and(|signer| signer.as_str() == Did::bare(party));
        has_signed || withdrawal.origin.is_of(party)
    })
}

/// Returns the consent that a grain withdraws.
pub(crate) fn withdrawn_by(grain: &Grain) -> Option<ContentAddress> {
    is_withdrawal(grain)
        .then(|| grain.link("prior_consent"))
        .flatten()
}

/// Returns whether a grain rests on a consent: a Consent itself is retained (OMS 8.10).
pub(crate) fn rests_on(grain: &Grain, consent: &ContentAddress) -> bool {
    grain.type_() != Type::Consent && grain.link("processing_basis") == Some(*consent)
}

/// Returns the effect of a grain that withdraws a consent.
pub(crate) fn effect_of(grain: &Grain) -> Option<ConsentEffectRecord> {
    withdrawn_by(grain).map(|consent| ConsentEffectRecord {
        consent,
        withdrawal: grain.address(),
    })
}

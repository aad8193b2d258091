//! Which withdrawals of consents count (OMS 8.10, ruling I7): those of the person who consented, of
//! the writer of the consent, and of the store's owner.

use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::grain::{Grain, Type, Verification};
use crate::index::Snapshot;
use crate::policy::Rule;
use crate::store::Error;
use crate::store::governance::Origin;
use crate::store::instance::Inner;
use crate::store::records::Frame;

use super::rules::withdrawn_by;

/// A Consent, stored or in a frame, with its origin.
struct Known {
    grain: Grain,
    origin: Origin,
    /// Whether the owner has verified it here.
    is_verified: bool,
}

impl Inner {
    /// Returns whether a withdrawal counts for the consent that it names.
    ///
    /// The parties of a consent that is not stored are unknown, so the withdrawal of an agent waits
    /// for it (ruling I8).
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn is_withdrawal_authorized(
        &self,
        snapshot: &Snapshot,
        frame: &Frame,
        consent: &ContentAddress,
        withdrawal: &ContentAddress,
    ) -> Result<bool, Error> {
        let consent = self.known_consent(snapshot, frame, consent)?;
        let Some(withdrawal) = self.known_consent(snapshot, frame, withdrawal)? else {
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
        snapshot: &Snapshot,
        frame: &Frame,
        grain: &Grain,
        origin: Origin,
    ) -> Result<Option<Rule>, Error> {
        let Some(consent) = withdrawn_by(grain).filter(|_| origin != Origin::Owner) else {
            return Ok(None);
        };
        let Some(consent) = self.known_consent(snapshot, frame, &consent)? else {
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
        snapshot: &Snapshot,
        frame: &Frame,
        address: &ContentAddress,
    ) -> Result<Option<Known>, Error> {
        let Some(origin) = self.origin_in(snapshot, frame, address)? else {
            return Ok(None);
        };
        let known = match (frame.find(address), self.locate(snapshot, address)?) {
            (Some(grain), _) => Some((grain.clone(), Verification::default())),
            (None, Some(row)) => {
                let version = self.version_at(snapshot, row)?;
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
        .and_then(|_| withdrawal.grain.kid().ok());
    parties.any(|party| {
        let has_signed = signer.as_ref();
        let has_signed = has_signed.is_some_and(|signer| signer.as_str() == Did::bare(party));
        has_signed || withdrawal.origin.is_of(party)
    })
}

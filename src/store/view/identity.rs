//! The identity of an agent: the current claims about it, and who owns it (OMS 12.5.3, 28.5).

use crate::codec::ContentAddress;
use crate::grain::{Grain, IDENTITY, OWNED_BY};
use crate::index::{Family, Pattern};
use crate::policy::{self, Trust};
use crate::store::Error;
use crate::store::view::{Core, Signature, Version, View};

/// The strength of a claim; a stronger claim is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    Unsigned,
    Signed,
    Verified,
}

impl Weight {
    pub(crate) const fn of(signature: Option<&Signature>) -> Self {
        match signature {
            None => Self::Unsigned,
            Some(Signature {
                trust: Trust::Verified,
                ..
            }) => Self::Verified,
            Some(_) => Self::Signed,
        }
    }
}

impl View<'_> {
    /// OMS 12.5.3: an agent has one ownership claim. A put accepts a second one only if it is
    /// stronger: an unsigned claim that came first must not block the owner's. The claim that it
    /// supersedes by name is not another.
    pub(crate) fn authorize_owner_claim<'a>(
        &self,
        grain: &Grain,
        pending: impl Iterator<Item = &'a Grain>,
        replaces: &dyn Fn(&ContentAddress) -> bool,
    ) -> Result<(), Error> {
        if !policy::is_ownership(grain) {
            return Ok(());
        }
        let weight = |grain: &Grain| Weight::of(self.signature_of(grain).as_ref());
        let subject = grain.text("subject").unwrap_or_default();
        let is_same =
            |other: &&Grain| policy::is_ownership(other) && other.text("subject") == Some(subject);
        let stored = self.owners(subject)?;
        let stored = stored
            .iter()
            .map(|claim| (claim.grain.address(), weight(&claim.grain)));
        let pending = pending.filter(is_same);
        let pending = pending.map(|claim| (claim.address(), weight(claim)));
        let mut claims = stored
            .chain(pending)
            .filter(|(address, _)| !replaces(address));
        match claims.find(|(_, stands)| *stands >= weight(grain)) {
            Some((address, _)) => Err(Error::ImplicitSupersession { address }),
            None => Ok(()),
        }
    }

    pub(crate) fn owners(&self, agent: &str) -> Result<Vec<Version>, Error> {
        let mut owners = self.identity(agent, OWNED_BY)?;
        // A grain from an import may be an invalid claim.
        owners.retain(|claim| self.refuse_false_owner(&claim.grain).is_ok());
        Ok(owners)
    }

    /// Returns the current beliefs about an agent with a relation, oldest first.
    pub(crate) fn identity(&self, agent: &str, relation: &str) -> Result<Vec<Version>, Error> {
        let pattern = Pattern {
            subject: Some(agent),
            relation: Some(relation),
            object: None,
        };
        let mut rows = self.snapshot().triples(&pattern).rows()?;
        let within = self.snapshot().with_text(Family::Namespace, IDENTITY);
        rows.intersect(&within.rows()?);
        let mut found = Vec::new();
        for row in rows.iter().filter(|row| self.snapshot().is_current(*row)) {
            let version = self.version_at(row)?;
            // The index holds hashes of texts.
            let text = |name: &str| version.grain.text(name);
            if text("subject") == Some(agent) && text("relation") == Some(relation) {
                found.push(version);
            }
        }
        Ok(found)
    }
}

impl Core {
    /// Refuses an ownership claim that violates the specification, or that the agent makes under
    /// another name of its key (ruling P11).
    pub(crate) fn refuse_false_owner(&self, grain: &Grain) -> Result<(), Error> {
        let checked = policy::check_ownership(grain);
        let checked = checked.and_then(|()| match self.is_own_claim(grain) {
            true => Err("an agent cannot say itself who owns it"),
            false => Ok(()),
        });
        checked.map_err(|reason| Error::Ownership { reason })
    }

    fn is_own_claim(&self, grain: &Grain) -> bool {
        if !policy::is_ownership(grain) {
            return false;
        }
        let keys = |name| {
            grain
                .text(name)
                .map_or_else(Vec::new, |did| self.keys_of(did))
        };
        let own = keys("subject");
        keys("author_did").iter().any(|key| own.contains(key))
    }
}

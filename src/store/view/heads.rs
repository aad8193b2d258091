//! The claims to be the head of a lineage, by which forks are told from the head in force (ruling
//! I17).

use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Type};
use crate::index::Family;
use crate::ledger::EntryId;
use crate::policy::{self, Actor, Operation, Rule, Verdict};
use crate::store::Error;
use crate::store::records::Frame;
use crate::store::view::{Core, Version, View};

/// A claim of a grain to replace another.
pub(crate) struct Claim {
    pub(crate) version: Version,
    /// Whether the supersession was made in this store, and so was permitted by policy.
    pub(crate) is_done_here: bool,
    pub(crate) denied: Option<Rule>,
}

impl View<'_> {
    /// Returns the parents that a new grain claims to replace although another grain has, with that
    /// grain.
    #[cfg(feature = "interchange")]
    pub(crate) fn forks(
        &self,
        new: &Grain,
    ) -> Result<Vec<(ContentAddress, ContentAddress)>, Error> {
        let mut forks = Vec::new();
        for parent in new.derived_from() {
            let Some(row) = self.locate(&parent)? else {
                continue;
            };
            let by = self.status_at(row)?.superseded_by;
            if let Some(by) = by
                && by != new.address()
                && claims_to_replace(new, &self.grain_at(row, &parent)?)
            {
                forks.push((parent, by));
            }
        }
        Ok(forks)
    }

    /// Returns the beginning of a lineage: the grain that replaces no stored grain.
    pub(crate) fn beginning(&self, from: Version) -> Result<Version, Error> {
        let mut at = from;
        let mut seen = BTreeSet::new();
        'earlier: while seen.insert(at.grain.address()) {
            let replaced = self.replaced_by(&at.grain.address())?;
            if let Some((row, _)) = replaced.first() {
                at = self.version_at(*row)?;
                continue;
            }
            let parents: Vec<_> = at.grain.derived_from().collect();
            for parent in parents {
                let Some(row) = self.locate(&parent)? else {
                    continue;
                };
                let version = self.version_at(row)?;
                if claims_to_replace(&at.grain, &version.grain) {
                    at = version;
                    continue 'earlier;
                }
            }
            break;
        }
        Ok(at)
    }

    /// Returns the successor of a grain, and the claims to replace it.
    pub(crate) fn claims(&self, of: &Version) -> Result<Vec<Claim>, Error> {
        let address = of.grain.address();
        let mut rows = Vec::new();
        if let Some(by) = &of.status.superseded_by {
            rows.extend(self.locate(by)?);
        }
        let derived = self
            .snapshot()
            .pointing_at(Family::DerivedFrom, &address)
            .rows()?;
        rows.extend(derived.iter());
        let withdrawals = self
            .known_state()
            .consents()
            .withdrawals_of(&address)
            .to_vec();
        for withdrawal in withdrawals {
            let by = &withdrawal.by;
            if self.is_withdrawal_authorized(&Frame::default(), &address, by)? {
                rows.extend(self.locate(by)?);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let here = self.superseded_here(&address)?;
        let mut claims = Vec::new();
        for row in rows {
            let version = self.version_at(row)?;
            let by = version.grain.address();
            let is_pointed = of.status.superseded_by == Some(by);
            if !is_pointed
                && (!claims_to_replace(&version.grain, &of.grain) || self.is_of_agent(row)?)
            {
                continue;
            }
            let is_done_here = is_pointed && here;
            claims.push(Claim {
                denied: match is_done_here {
                    true => None,
                    false => self.would_deny(of, &version.grain)?,
                },
                version,
                is_done_here,
            });
        }
        Ok(claims)
    }

    /// Returns whether a grain was superseded in this store, and not in an import.
    fn superseded_here(&self, address: &ContentAddress) -> Result<bool, Error> {
        let Some(row) = self.locate(address)? else {
            return Ok(false);
        };
        let mut here = false;
        for entry in self.snapshot().status_entries(row) {
            let status = self.status_record(entry?)?;
            if status.change.superseded_by.is_some() {
                here = !status.is_imported;
            }
        }
        Ok(here)
    }

    /// Returns the decision that policy would have made on a supersession that an import claims.
    fn would_deny(&self, of: &Version, new: &Grain) -> Result<Option<Rule>, Error> {
        let address = of.grain.address();
        let Some(row) = self.locate(&address)? else {
            return Ok(None);
        };
        let protection = self.effective_protection(row, of, Some(new))?;
        let signers = self.signers(new, &address)?;
        let voices = self.voices(&signers, &protection);
        let actor = Actor {
            signers: &voices,
            ..Actor::default()
        };
        let facts = protection.facts(Some(new));
        match policy::decide(Operation::Import, &facts, &actor, self.moment()) {
            Verdict::Deny(rule) => Ok(Some(rule)),
            Verdict::Allow | Verdict::Review => Ok(None),
        }
    }

    /// Returns the heads of a branch, with those of its own forks.
    pub(crate) fn ends(
        &self,
        from: Version,
        seen: &mut BTreeSet<ContentAddress>,
    ) -> Result<Vec<ContentAddress>, Error> {
        let mut ends = Vec::new();
        let mut pending = vec![from];
        while let Some(at) = pending.pop() {
            if !seen.insert(at.grain.address()) {
                continue;
            }
            let claims = self.claims(&at)?;
            if at.status.superseded_by.is_none() || claims.is_empty() {
                ends.push(at.grain.address());
            }
            pending.extend(claims.into_iter().map(|claim| claim.version));
        }
        Ok(ends)
    }
}

impl Core {
    /// Returns whether an agent's handle stored a grain. An agent replaces grains that it sees, by
    /// [`Store::supersede`](crate::Store::supersede); a claim about others is none.
    fn is_of_agent(&self, row: EntryId) -> Result<bool, Error> {
        Ok(self.ledger().read(row)?.header.actor.is_some())
    }
}

/// Returns the claim in force; `None` if the grain itself is the head.
pub(crate) fn choose(at: &Version, claims: &[Claim]) -> Option<usize> {
    let done = claims.iter().position(|claim| claim.is_done_here);
    // A head of this store takes precedence over a successor from an import.
    if done.is_some() || at.status.is_current() {
        return done;
    }
    let allowed = claims.iter().enumerate();
    let allowed = allowed.filter(|(_, claim)| claim.denied.is_none());
    let newest = allowed.max_by_key(|(_, claim)| {
        let grain = &claim.version.grain;
        (grain.created_at(), grain.address())
    });
    newest.map(|(at, _)| at)
}

/// Returns whether a blob claims to replace another.
pub(crate) fn claims_to_replace(new: &Grain, old: &Grain) -> bool {
    names(new, &old.address())
        && new.address() != old.address()
        && (declares_supersession(new)
            || new.link("prior_consent") == Some(old.address())
            || policy::implies_supersession(new, old))
}

/// Ruling I4: these fields belong to superseding grains.
pub(crate) fn declares_supersession(grain: &Grain) -> bool {
    let declared = [
        "supersession_justification",
        "supersession_auth",
        "invalidation_type",
    ];
    declared.iter().any(|name| grain.field(name).is_some())
}

/// Returns whether a grain names one that it supersedes where ruling I5 asks for it: a grant of consent
/// is replaced by a Consent, which has it in `prior_consent`.
pub(crate) fn names_replaced(new: &Grain, old: &Grain) -> bool {
    match policy::gives_consent(old) {
        true => new.type_() == Type::Consent && new.link("prior_consent") == Some(old.address()),
        false => names(new, &old.address()),
    }
}

/// Returns the grains that a grain names as ones that it may replace.
pub(crate) fn replaceable(new: &Grain) -> impl Iterator<Item = ContentAddress> {
    let prior = new.link("prior_consent");
    let prior = prior.filter(|_| new.type_() == Type::Consent);
    new.derived_from().chain(prior)
}

/// Returns whether a grain names another as one that it may replace.
pub(crate) fn names(new: &Grain, old: &ContentAddress) -> bool {
    replaceable(new).any(|parent| parent == *old)
}

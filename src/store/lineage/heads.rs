//! The heads of a lineage: the one in force, and those of forks that imports brought (ruling I17).

use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::index::{Family, Snapshot};
use crate::ledger::EntryId;
use crate::policy::{self, Actor, Operation, Rule, Verdict};

use crate::store::instance::Inner;
use crate::store::records::Frame;
use crate::store::{Admin, Error, Version};

use super::implicit::{declares_supersession, names};

/// The heads of a lineage (ruling I17).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heads {
    /// The head in force.
    pub winner: ContentAddress,
    /// The other heads, which imports brought: they are kept and are not in force.
    pub others: Vec<Fork>,
}

/// A head of a lineage that is not in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The grain.
    pub address: ContentAddress,
    /// The grain at which its branch leaves that of the head in force.
    pub of: ContentAddress,
    /// The rule that denies its branch; `None` if another branch takes precedence.
    pub denied: Option<Rule>,
}

/// A claim of a grain to replace another.
struct Claim {
    version: Version,
    /// Whether the supersession was made in this store, and so was permitted by policy.
    is_done_here: bool,
    denied: Option<Rule>,
}

impl Admin<'_> {
    /// Returns the heads of the lineage that a grain belongs to: the one in force, and those of
    /// forks that imports brought.
    ///
    /// A supersession made in this store takes precedence over one from an import. Among imports it
    /// is the newest by `created_at`, then by address, whose supersession policy would have
    /// permitted. The same grains give the same answer, in any order of arrival.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let tea = store.put(Draft::belief("user", "likes", "tea").confidence(0.9))?;
    /// let milk = Draft::belief("user", "likes", "milk").confidence(0.9).derived_from(tea);
    /// let milk = store.supersede(&tea, milk, None)?;
    /// let heads = store.admin()?.heads(&tea)?;
    /// assert_eq!((heads.winner, heads.others.len()), (milk, 0));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn heads(self, address: &ContentAddress) -> Result<Heads, Error> {
        let inner = self.inner();
        let snapshot = inner.snapshot();
        let row = inner.row_of(&snapshot, address)?;
        let mut at = inner.beginning(&snapshot, inner.version_at(&snapshot, row)?)?;
        let mut others = Vec::new();
        let mut seen = BTreeSet::from([at.grain.address()]);
        loop {
            let mut claims = inner.claims(&snapshot, &at)?;
            claims.retain(|claim| !seen.contains(&claim.version.grain.address()));
            let chosen = choose(&at, &claims).map(|chosen| claims.remove(chosen));
            for claim in claims {
                let denied = claim.denied;
                for address in inner.ends(&snapshot, claim.version, &mut seen)? {
                    others.push(Fork {
                        address,
                        of: at.grain.address(),
                        denied,
                    });
                }
            }
            match chosen {
                Some(next) => at = next.version,
                None => break,
            }
            seen.insert(at.grain.address());
        }
        others.sort_unstable_by_key(|fork| fork.address);
        Ok(Heads {
            winner: at.grain.address(),
            others,
        })
    }
}

/// Returns the claim in force; `None` if the grain itself is the head.
fn choose(at: &Version, claims: &[Claim]) -> Option<usize> {
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

impl Inner {
    /// Returns the parents that a new grain claims to replace although another grain has, with that
    /// grain.
    #[cfg(feature = "interchange")]
    pub(crate) fn forks(
        &self,
        snapshot: &Snapshot,
        new: &Grain,
    ) -> Result<Vec<(ContentAddress, ContentAddress)>, Error> {
        let mut forks = Vec::new();
        for parent in new.derived_from() {
            let Some(row) = self.locate(snapshot, &parent)? else {
                continue;
            };
            let by = self.status_at(snapshot, row)?.superseded_by;
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
    fn beginning(&self, snapshot: &Snapshot, from: Version) -> Result<Version, Error> {
        let mut at = from;
        let mut seen = BTreeSet::new();
        'earlier: while seen.insert(at.grain.address()) {
            let replaced = self.replaced_by(snapshot, &at.grain.address())?;
            if let Some((row, _)) = replaced.first() {
                at = self.version_at(snapshot, *row)?;
                continue;
            }
            let parents: Vec<_> = at.grain.derived_from().collect();
            for parent in parents {
                let Some(row) = self.locate(snapshot, &parent)? else {
                    continue;
                };
                let version = self.version_at(snapshot, row)?;
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
    fn claims(&self, snapshot: &Snapshot, of: &Version) -> Result<Vec<Claim>, Error> {
        let address = of.grain.address();
        let mut rows = Vec::new();
        if let Some(by) = &of.status.superseded_by {
            rows.extend(self.locate(snapshot, by)?);
        }
        let derived = snapshot.pointing_at(Family::DerivedFrom, &address).rows()?;
        rows.extend(derived.iter());
        let withdrawals = self.state().consents().withdrawals_of(&address).to_vec();
        for withdrawal in withdrawals {
            let by = &withdrawal.by;
            if self.is_withdrawal_authorized(snapshot, &Frame::default(), &address, by)? {
                rows.extend(self.locate(snapshot, by)?);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let here = self.superseded_here(snapshot, &address)?;
        let mut claims = Vec::new();
        for row in rows {
            let version = self.version_at(snapshot, row)?;
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
                    false => self.would_deny(snapshot, of, &version.grain)?,
                },
                version,
                is_done_here,
            });
        }
        Ok(claims)
    }

    /// Returns whether an agent's handle stored a grain. An agent replaces grains that it sees, by
    /// [`Store::supersede`](crate::store::Store::supersede); a claim about others is none.
    fn is_of_agent(&self, row: EntryId) -> Result<bool, Error> {
        Ok(self.ledger().read(row)?.header.actor.is_some())
    }

    /// Returns whether a grain was superseded in this store, and not in an import.
    fn superseded_here(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<bool, Error> {
        let Some(row) = self.locate(snapshot, address)? else {
            return Ok(false);
        };
        let mut here = false;
        for entry in snapshot.status_entries(row) {
            let status = self.status_record(entry?)?;
            if status.change.superseded_by.is_some() {
                here = !status.is_imported;
            }
        }
        Ok(here)
    }

    /// Returns the decision that policy would have made on a supersession that an import claims.
    fn would_deny(
        &self,
        snapshot: &Snapshot,
        of: &Version,
        new: &Grain,
    ) -> Result<Option<Rule>, Error> {
        let address = of.grain.address();
        let Some(row) = self.locate(snapshot, &address)? else {
            return Ok(None);
        };
        let protection = self.effective_protection(snapshot, row, of, Some(new))?;
        let signers = self.signers(new, &address)?;
        let signers: Vec<&str> = signers.dids().iter().map(|did| did.as_str()).collect();
        let actor = Actor {
            signers: &signers,
            ..Actor::default()
        };
        let facts = protection.facts(Some(new));
        match policy::decide(Operation::Import, &facts, &actor, self.moment()) {
            Verdict::Deny(rule) => Ok(Some(rule)),
            Verdict::Allow | Verdict::Review => Ok(None),
        }
    }

    /// Returns the heads of a branch, with those of its own forks.
    fn ends(
        &self,
        snapshot: &Snapshot,
        from: Version,
        seen: &mut BTreeSet<ContentAddress>,
    ) -> Result<Vec<ContentAddress>, Error> {
        let mut ends = Vec::new();
        let mut pending = vec![from];
        while let Some(at) = pending.pop() {
            if !seen.insert(at.grain.address()) {
                continue;
            }
            let claims = self.claims(snapshot, &at)?;
            if at.status.superseded_by.is_none() || claims.is_empty() {
                ends.push(at.grain.address());
            }
            pending.extend(claims.into_iter().map(|claim| claim.version));
        }
        Ok(ends)
    }
}

/// Returns whether a blob claims to replace another.
pub(crate) fn claims_to_replace(new: &Grain, old: &Grain) -> bool {
    names(new, &old.address())
        && new.address() != old.address()
        && (declares_supersession(new)
            || new.link("prior_consent") == Some(old.address())
            || policy::implies_supersession(new, old))
}

//! The effective protection of a grain: its own policy, and those that reach it from its ancestors
//! and along its lineage (OMS 23.6, 23.7).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::ledger::EntryId;
use crate::policy::{self, Facts, Protection, Scope};
use crate::store::Error;
use crate::store::state::Ancestor;
use crate::store::view::{Core, Version, View};

/// The protections of a grain: its own policy first, then those that reach it.
pub(crate) struct EffectiveProtection {
    protections: Vec<Protection>,
    /// The grain that each protection belongs to.
    sources: Vec<ContentAddress>,
    retained_until: Option<Time>,
    deletion_requires: Option<String>,
    legal_hold: bool,
    is_evidence: bool,
    is_lasting: bool,
    is_transition: bool,
    evidence: u64,
    may_amend_locked: bool,
}

impl EffectiveProtection {
    /// Returns the facts for a decision about the grain.
    pub(crate) fn facts<'a>(&'a self, successor: Option<&'a Grain>) -> Facts<'a> {
        Facts {
            protections: &self.protections,
            successor,
            is_transition: self.is_transition,
            evidence: self.evidence,
            may_amend_locked: self.may_amend_locked,
            retained_until: self.retained_until,
            deletion_requires: self.deletion_requires.as_deref(),
            legal_hold: self.legal_hold,
            is_evidence: self.is_evidence,
            is_lasting: self.is_lasting,
        }
    }

    /// Returns the protections: its own policy first, then those that reach it.
    pub(crate) fn protections(&self) -> &[Protection] {
        &self.protections
    }

    /// Returns the grains that the protections belong to, in their order.
    pub(crate) fn sources(&self) -> &[ContentAddress] {
        &self.sources
    }
}

impl View<'_> {
    /// Gathers the protections of `target`, and those of the other grains that a successor would be
    /// derived from (OMS 23.6, 23.7).
    ///
    /// The number of hops is not limited: with a limit of sixteen, a seventeenth hop would bypass
    /// the protection (ruling I11). Ancestors that are not stored protect nothing.
    pub(crate) fn effective_protection(
        &self,
        row: EntryId,
        target: &Version,
        successor: Option<&Grain>,
    ) -> Result<EffectiveProtection, Error> {
        let own = target.grain.address();
        let mut protections = vec![self.own_protection(&target.grain)];
        let mut sources = vec![own];
        if self.has_protections() {
            for (address, protection) in self.lineage(row, target)?.iter() {
                protections.push(self.remaining_protection(address, protection.clone()));
                sources.push(*address);
            }
            let successors = successor.into_iter().flat_map(Grain::derived_from);
            let parents = target.grain.derived_from().chain(successors).collect();
            for (address, protection) in self.above(own, parents)? {
                protections.push(self.remaining_protection(&address, protection));
                sources.push(address);
            }
            drop_repeated(&mut protections, &mut sources);
        }
        let transition = successor.filter(|new| policy::is_transition(&target.grain, new));
        Ok(EffectiveProtection {
            protections,
            sources,
            retained_until: self.retained_until(&target.grain),
            deletion_requires: policy::deletion_requires(&target.grain).map(str::to_owned),
            legal_hold: self.is_held(&target.grain),
            is_evidence: self.is_evidence(&target.grain)?,
            is_lasting: policy::is_lasting(&target.grain),
            may_amend_locked: self.options().authorized_may_amend_locked,
            is_transition: transition.is_some(),
            evidence: match transition {
                Some(new) => self.stored_evidence(&own, new)?,
                None => 0,
            },
        })
    }

    /// Returns how many stored grains a goal names as its evidence; the goal that it replaces is no
    /// evidence of itself (OMS 23.4, ruling P2).
    fn stored_evidence(&self, old: &ContentAddress, new: &Grain) -> Result<u64, Error> {
        let mut stored = 0;
        for address in policy::evidence_of(new) {
            stored += u64::from(address != *old && self.locate(&address)?.is_some());
        }
        Ok(stored)
    }

    /// Returns the protections of `own` from its ancestors: the grains that it is or would be
    /// derived from, and their ancestors.
    fn above(
        &self,
        own: ContentAddress,
        mut pending: Vec<ContentAddress>,
    ) -> Result<Vec<(ContentAddress, Protection)>, Error> {
        let mut above = Vec::new();
        let mut seen = BTreeSet::from([own]);
        while let Some(address) = pending.pop() {
            if !seen.insert(address) {
                continue;
            }
            let Some(ancestor) = self.ancestor(&address)? else {
                let left = self.protections_left(&address, true);
                above.extend(left.into_iter().map(|protection| (own, protection)));
                continue;
            };
            pending.extend(&ancestor.parents);
            if let Some(protection) = &ancestor.protection {
                above.push((address, protection.clone()));
            }
        }
        Ok(above)
    }

    /// Returns the protections of the grains derived from a grain by its ancestors.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn protections_above(&self, grain: &Grain) -> Result<Vec<Protection>, Error> {
        let above = self.above(grain.address(), grain.derived_from().collect())?;
        Ok(self.remaining(&above))
    }

    /// Returns the protections of a grain by the others of its lineage.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn protections_along(
        &self,
        row: EntryId,
        target: &Version,
    ) -> Result<Vec<Protection>, Error> {
        let along = self.lineage(row, target)?;
        Ok(self.remaining(&along))
    }

    /// Returns the facts about an ancestor; `None` if it is not stored.
    fn ancestor(&self, address: &ContentAddress) -> Result<Option<Arc<Ancestor>>, Error> {
        if let Some(known) = self.caches().lineages.get(address) {
            return Ok(Some(known));
        }
        let Some(row) = self.locate(address)? else {
            return Ok(None);
        };
        let ancestor = Arc::new(Ancestor::of(&self.grain_at(row, address)?));
        self.caches()
            .lineages
            .remember(*address, Arc::clone(&ancestor));
        Ok(Some(ancestor))
    }

    /// Returns the protections of `target` by the other grains of its lineage, each with its grain.
    fn lineage(
        &self,
        row: EntryId,
        target: &Version,
    ) -> Result<Arc<Vec<(ContentAddress, Protection)>>, Error> {
        let address = target.grain.address();
        // The predecessors of a head do not change, so the result is remembered.
        let is_head = target.status.superseded_by.is_none();
        if is_head && let Some(known) = self.caches().lineages.lineage(&address) {
            return Ok(known);
        }
        let left = self.protections_left(&address, false);
        let mut protections: Vec<_> = left.into_iter().map(|left| (address, left)).collect();
        for link in self.chain(row, target)? {
            let left = self.protections_left(&link.grain.address(), false);
            let left = left.into_iter();
            let left = left.filter(|left| link.is_earlier || left.scope() == Scope::Lineage);
            protections.extend(left.map(|left| (address, left)));
            let protection = Protection::of(&link.grain);
            // OMS 23.7, bypass 3: the successor of a protected grain has the same protection.
            let reaches = link.is_earlier || protection.scope() == Scope::Lineage;
            if reaches && !protection.is_open() {
                protections.push((link.grain.address(), protection));
            }
        }
        let protections = Arc::new(protections);
        if is_head {
            self.caches()
                .lineages
                .remember_lineage(address, Arc::clone(&protections));
        }
        Ok(protections)
    }
}

impl Core {
    /// Returns whether any grain may be protected by another, or was by one that is erased.
    pub(crate) fn has_protections(&self) -> bool {
        let state = self.known_state();
        state.presence().protections() || state.erasures().protect()
    }

    fn remaining(&self, protections: &[(ContentAddress, Protection)]) -> Vec<Protection> {
        let all = protections.iter();
        let all = all.map(|(of, protection)| self.remaining_protection(of, protection.clone()));
        all.collect()
    }

    /// Returns the protections that erased grains left to a grain, or to those derived from it.
    fn protections_left(&self, address: &ContentAddress, is_below: bool) -> Vec<Protection> {
        if !self.known_state().erasures().protect() {
            return Vec::new();
        }
        let mark = self.manifest().tombstone_key().of_address(address);
        let tombstones = self.tombstones_for(mark, address.as_bytes());
        let state = self.known_state();
        let left = tombstones.iter();
        let left = left.flat_map(|of| state.erasures().protections_of(of, is_below));
        left.cloned().collect()
    }

    /// Remembers the protections of a new head: those of the old one, and the old one's own.
    pub(crate) fn inherit(&self, old: &Grain, new: ContentAddress) {
        let Some(earlier) = self.caches().lineages.lineage(&old.address()) else {
            return;
        };
        let own = Protection::of(old);
        let inherited = if own.is_open() {
            earlier
        } else {
            let mut both = earlier.to_vec();
            both.push((old.address(), own));
            Arc::new(both)
        };
        self.caches().lineages.remember_lineage(new, inherited);
    }

    /// Returns the protection of a grain that is not in the ledger yet: its own policy only.
    pub(crate) fn effective_protection_of_new(&self, grain: &Grain) -> EffectiveProtection {
        EffectiveProtection {
            protections: vec![self.own_protection(grain)],
            sources: vec![grain.address()],
            retained_until: self.retained_until(grain),
            deletion_requires: policy::deletion_requires(grain).map(str::to_owned),
            legal_hold: self.is_held(grain),
            is_evidence: false,
            is_lasting: policy::is_lasting(grain),
            is_transition: false,
            evidence: 0,
            may_amend_locked: false,
        }
    }

    fn retained_until(&self, grain: &Grain) -> Option<Time> {
        let by_regimes = self.known_state().regimes().all().retained_until(grain);
        policy::retained_until(grain).max(by_regimes)
    }

    /// Returns whether a legal hold is on a grain: an operator's, or one that another grain places as this
    /// one says (OMS A.2), until it is lifted from either.
    pub(crate) fn is_held(&self, grain: &Grain) -> bool {
        let state = self.known_state();
        let (holds, own) = (state.holds(), grain.address());
        let stands = |by: Option<ContentAddress>| by.is_none_or(|by| !holds.was_lifted(&by));
        holds.is_held(&own) || (policy::hold_refs(grain).any(stands) && !holds.was_lifted(&own))
    }

    /// Returns the protection by a grain's own policy, unless an operator has lifted it.
    pub(crate) fn own_protection(&self, grain: &Grain) -> Protection {
        self.remaining_protection(&grain.address(), Protection::of(grain))
    }

    fn remaining_protection(&self, of: &ContentAddress, protection: Protection) -> Protection {
        if protection.can_hold() && self.known_state().holds().was_lifted(of) {
            return protection.lifted();
        }
        protection
    }
}

/// Leaves out rules of erased grains that a stored grain repeats: the stored one allows the
/// transitions of a goal, which a rule alone does not know (OMS 23.4).
fn drop_repeated(protections: &mut Vec<Protection>, sources: &mut Vec<ContentAddress>) {
    let all = protections.clone();
    let is_kept = |left: &Protection| !all.iter().any(|other| left.repeats(other));
    let mut kept = protections
        .iter()
        .map(is_kept)
        .collect::<Vec<_>>()
        .into_iter();
    sources.retain(|_| kept.next() != Some(false));
    protections.retain(is_kept);
}

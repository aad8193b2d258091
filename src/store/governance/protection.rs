use std::collections::BTreeSet;
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::index::{Family, Snapshot};
use crate::interchange::aimem;
use crate::policy::{self, Facts, Protection, Scope};

use crate::store::instance::open::Inner;
use crate::store::lineage::supersede::names;
use crate::store::state::lineage_cache::Ancestor;
use crate::store::{Error, Version};

/// What protects a grain from being changed: its own policy first, then those that reach it.
pub(crate) struct Shield {
    protections: Vec<Protection>,
    /// Whose each of them is.
    sources: Vec<ContentAddress>,
    retained_until: Option<Time>,
    legal_hold: bool,
    is_evidence: bool,
    is_lasting: bool,
}

impl Shield {
    /// Returns the facts for a decision about the grain.
    pub(crate) fn facts<'a>(&'a self, successor: Option<&'a Grain>) -> Facts<'a> {
        Facts {
            protections: &self.protections,
            successor,
            retained_until: self.retained_until,
            legal_hold: self.legal_hold,
            is_evidence: self.is_evidence,
            is_lasting: self.is_lasting,
        }
    }
}

impl Shield {
    /// Returns the grains that the protections are of, in their order.
    pub(crate) fn sources(&self) -> &[ContentAddress] {
        &self.sources
    }
}

impl Inner {
    /// Gathers what protects `target`, and what protects the other grains that a successor would
    /// be derived from (OMS 23.6, 23.7).
    ///
    /// There is no limit of hops: a seventeenth would be the way around the sixteen that the text
    /// asks for (ruling I11). Ancestors that are not here protect nothing.
    pub(crate) fn shield(
        &self,
        snapshot: &Snapshot,
        row: u64,
        target: &Version,
        successor: Option<&Grain>,
    ) -> Result<Shield, Error> {
        let own = target.grain.address();
        let mut protections = vec![self.protection(&target.grain)];
        let mut sources = vec![own];
        if self.ancestry.is_any_protected() {
            for (address, protection) in self.lineage(snapshot, row, target)?.iter() {
                protections.push(self.standing_protection(address, protection.clone()));
                sources.push(*address);
            }
            let successors = successor.into_iter().flat_map(Grain::derived_from);
            let parents = target.grain.derived_from().chain(successors).collect();
            for (address, protection) in self.above(snapshot, own, parents)? {
                protections.push(self.standing_protection(&address, protection));
                sources.push(address);
            }
        }
        Ok(Shield {
            protections,
            sources,
            retained_until: policy::retained_until(&target.grain)
                .max(self.regimes.read().retained_until(&target.grain)),
            legal_hold: self.is_held(&own),
            is_evidence: self.is_evidence(snapshot, &target.grain)?,
            is_lasting: aimem::is_protected(&target.grain),
        })
    }

    /// Returns what protects `own` from above: what the grains that it is or would be derived from
    /// say, and those that they are derived from.
    fn above(
        &self,
        snapshot: &Snapshot,
        own: ContentAddress,
        mut pending: Vec<ContentAddress>,
    ) -> Result<Vec<(ContentAddress, Protection)>, Error> {
        let mut above = Vec::new();
        let mut seen = BTreeSet::from([own]);
        while let Some(address) = pending.pop() {
            if !seen.insert(address) {
                continue;
            }
            let Some(ancestor) = self.ancestor(snapshot, &address)? else {
                continue;
            };
            pending.extend(&ancestor.parents);
            if let Some(protection) = &ancestor.protection {
                above.push((address, protection.clone()));
            }
        }
        Ok(above)
    }

    /// Returns what is to be known of an ancestor; none if it is not here.
    fn ancestor(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<Option<Arc<Ancestor>>, Error> {
        if let Some(known) = self.ancestry.get(address) {
            return Ok(Some(known));
        }
        let Some(row) = self.locate(snapshot, address)? else {
            return Ok(None);
        };
        let ancestor = Arc::new(Ancestor::of(&self.grain_at(row, address)?));
        self.ancestry.remember(*address, Arc::clone(&ancestor));
        Ok(Some(ancestor))
    }

    /// Returns what the other grains of a lineage say for `target`, with whose it is.
    fn lineage(
        &self,
        snapshot: &Snapshot,
        row: u64,
        target: &Version,
    ) -> Result<Arc<Vec<(ContentAddress, Protection)>>, Error> {
        let address = target.grain.address();
        // Behind a head there is nothing new: what it replaced was replaced for good.
        let is_head = target.status.superseded_by.is_none();
        if is_head && let Some(known) = self.ancestry.lineage(&address) {
            return Ok(known);
        }
        let mut protections = Vec::new();
        for link in self.chain(snapshot, row, target)? {
            let protection = Protection::of(&link.grain);
            // OMS 23.7, bypass 3: what replaced a protected grain is protected like it.
            let reaches = link.is_earlier || protection.scope() == Scope::Lineage;
            if reaches && !protection.is_open() {
                protections.push((link.grain.address(), protection));
            }
        }
        let protections = Arc::new(protections);
        if is_head {
            self.ancestry
                .remember_lineage(address, Arc::clone(&protections));
        }
        Ok(protections)
    }

    /// Remembers what protects a new head: what protected the old one, and that one itself.
    pub(crate) fn inherit(&self, old: &Grain, new: ContentAddress) {
        let Some(earlier) = self.ancestry.lineage(&old.address()) else {
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
        self.ancestry.remember_lineage(new, inherited);
    }

    /// Gathers what protects a grain that is not in the ledger yet: only its own policy reaches it.
    pub(crate) fn shield_of_new(&self, grain: &Grain) -> Shield {
        Shield {
            protections: vec![self.protection(grain)],
            sources: vec![grain.address()],
            retained_until: policy::retained_until(grain)
                .max(self.regimes.read().retained_until(grain)),
            legal_hold: false,
            is_evidence: false,
            is_lasting: aimem::is_protected(grain),
        }
    }

    /// Returns the other grains of the lineage that `target` belongs to.
    fn chain(&self, snapshot: &Snapshot, row: u64, target: &Version) -> Result<Vec<Link>, Error> {
        let mut links = Vec::new();
        let mut seen = BTreeSet::from([row]);
        let mut pending = Vec::new();
        let follow = |version: &Version, is_earlier: bool| -> Result<_, Error> {
            let mut before = self.replaced_by(snapshot, &version.grain.address())?;
            // Ruling I18: an import may say of what it brings that something here replaced it, and
            // must not protect that with a policy it never agreed to.
            before.retain(|(_, earlier)| names(&version.grain, earlier));
            let next = version.status.superseded_by;
            let after = match next {
                Some(next) => self.locate(snapshot, &next)?,
                None => None,
            };
            let before = before.into_iter().map(move |(row, _)| (row, is_earlier));
            Ok(before
                .chain(after.map(|row| (row, false)))
                .collect::<Vec<_>>())
        };
        pending.extend(follow(target, true)?);
        while let Some((row, is_earlier)) = pending.pop() {
            if !seen.insert(row) {
                continue;
            }
            let version = self.version_at(snapshot, row)?;
            pending.extend(follow(&version, is_earlier)?);
            links.push(Link {
                grain: version.grain,
                is_earlier,
            });
        }
        Ok(links)
    }

    /// Returns the grains that this one superseded, by row and address.
    pub(crate) fn replaced_by(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<Vec<(u64, ContentAddress)>, Error> {
        let mut replaced = Vec::new();
        let entries = snapshot.pointing_at(Family::Lineage, address).rows()?;
        for entry in entries.iter() {
            let earlier = self.status_entry(entry)?.of;
            let Some(row) = self.locate(snapshot, &earlier)? else {
                continue;
            };
            // The index holds a hash of the address, and a later entry may say otherwise: ask the
            // grain itself.
            if self.status_at(snapshot, row)?.superseded_by == Some(*address) {
                replaced.push((row, earlier));
            }
        }
        Ok(replaced)
    }
}

/// Another grain of a lineage.
struct Link {
    grain: Grain,
    /// Whether the grain asked about replaces it, at however many removes.
    is_earlier: bool,
}

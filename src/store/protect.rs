use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::index::{Family, Snapshot};
use crate::policy::{self, Facts, Protection, Scope};

use super::open::Inner;
use super::{Error, Version};

/// What protects a grain from being changed: its own policy first, then those that reach it.
pub(super) struct Shield {
    protections: Vec<Protection>,
    retained_until: Option<Time>,
}

impl Shield {
    /// Returns the facts for a decision about the grain.
    pub(super) fn facts<'a>(&'a self, successor: Option<&'a Grain>) -> Facts<'a> {
        Facts {
            protections: &self.protections,
            successor,
            retained_until: self.retained_until,
            legal_hold: false,
        }
    }
}

impl Inner {
    /// Gathers what protects `target`, and what protects the other grains that a successor would
    /// be derived from (OMS 23.6, 23.7).
    ///
    /// There is no limit of hops: a seventeenth would be the way around the sixteen that the text
    /// asks for (ruling I11). Ancestors that are not here protect nothing.
    pub(super) fn shield(
        &self,
        snapshot: &Snapshot,
        row: u64,
        target: &Version,
        successor: Option<&Grain>,
    ) -> Result<Shield, Error> {
        let mut protections = vec![Protection::of(&target.grain)];
        for link in self.chain(snapshot, row, target)? {
            let protection = Protection::of(&link.grain);
            // OMS 23.7, bypass 3: what replaced a protected grain is protected like it.
            let reaches = link.is_earlier || protection.scope() == Scope::Lineage;
            if reaches && !protection.is_open() {
                protections.push(protection);
            }
        }
        let mut pending: Vec<ContentAddress> = target.grain.derived_from().collect();
        pending.extend(successor.into_iter().flat_map(Grain::derived_from));
        let mut seen = BTreeSet::from([row]);
        while let Some(address) = pending.pop() {
            let Some(row) = self.locate(snapshot, &address)? else {
                continue;
            };
            if !seen.insert(row) {
                continue;
            }
            let ancestor = self.grain_at(row, &address)?;
            pending.extend(ancestor.derived_from());
            let protection = Protection::of(&ancestor);
            if protection.scope() == Scope::Subtree && !protection.is_open() {
                protections.push(protection);
            }
        }
        Ok(Shield {
            protections,
            retained_until: policy::retained_until(&target.grain)
                .max(self.regimes.read().retained_until(&target.grain)),
        })
    }

    /// Returns the other grains of the lineage that `target` belongs to.
    fn chain(&self, snapshot: &Snapshot, row: u64, target: &Version) -> Result<Vec<Link>, Error> {
        let mut links = Vec::new();
        let mut seen = BTreeSet::from([row]);
        let mut pending = Vec::new();
        let follow = |version: &Version, is_earlier: bool| -> Result<_, Error> {
            let before = self.replaced_by(snapshot, &version.grain.address())?;
            let next = version.status.superseded_by;
            let after = match next {
                Some(next) => self.locate(snapshot, &next)?,
                None => None,
            };
            let before = before.into_iter().map(move |row| (row, is_earlier));
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

    /// Returns the rows of the grains that this one superseded.
    pub(super) fn replaced_by(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<Vec<u64>, Error> {
        let mut rows = Vec::new();
        for entry in snapshot
            .pointing_at(Family::Lineage, address)
            .rows()?
            .iter()
        {
            let earlier = self.status_entry(entry)?.of;
            let Some(row) = self.locate(snapshot, &earlier)? else {
                continue;
            };
            // The index holds a hash of the address, and a later entry may say otherwise: ask the
            // grain itself.
            if self.status_at(snapshot, row)?.superseded_by == Some(*address) {
                rows.push(row);
            }
        }
        Ok(rows)
    }
}

/// Another grain of a lineage.
struct Link {
    grain: Grain,
    /// Whether the grain asked about replaces it, at however many removes.
    is_earlier: bool,
}

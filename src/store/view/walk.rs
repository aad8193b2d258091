//! Walks along a lineage: the grains that a grain superseded, and those that superseded it.

use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::index::Family;
use crate::ledger::EntryId;
use crate::store::Error;
use crate::store::view::{Version, View, names};

/// Another grain of a lineage.
pub(crate) struct Link {
    pub(crate) grain: Grain,
    /// Whether the target replaces it, directly or through others.
    pub(crate) is_earlier: bool,
}

impl View<'_> {
    /// Returns the rows of the lineage that the grain of a row belongs to, in the order in which they were
    /// stored. A grain is in memory while it is looked at.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn lineage_rows(&self, row: EntryId) -> Result<BTreeSet<EntryId>, Error> {
        let mut rows = BTreeSet::new();
        let mut pending = vec![row];
        while let Some(row) = pending.pop() {
            if !rows.insert(row) {
                continue;
            }
            let version = self.version_at(row)?;
            if let Some(next) = version.status.superseded_by {
                pending.extend(self.locate(&next)?);
            }
            let replaced = self.replaced_by(&version.grain.address())?;
            pending.extend(replaced.into_iter().map(|(row, _)| row));
        }
        Ok(rows)
    }

    /// Returns the other grains of the lineage that `target` belongs to.
    pub(crate) fn chain(&self, row: EntryId, target: &Version) -> Result<Vec<Link>, Error> {
        let mut links = Vec::new();
        let mut seen = BTreeSet::from([row]);
        let mut pending = Vec::new();
        let follow = |version: &Version, is_earlier: bool| -> Result<_, Error> {
            let mut before = self.replaced_by(&version.grain.address())?;
            // Ruling I18: an import may claim that a stored grain replaced one of its own; the
            // policy of the imported grain must not protect the stored one.
            before.retain(|(_, earlier)| names(&version.grain, earlier));
            let next = version.status.superseded_by;
            let after = match next {
                Some(next) => self.locate(&next)?,
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
            let version = self.version_at(row)?;
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
        address: &ContentAddress,
    ) -> Result<Vec<(EntryId, ContentAddress)>, Error> {
        let mut replaced = Vec::new();
        let entries = self
            .snapshot()
            .pointing_at(Family::Lineage, address)
            .rows()?;
        for entry in entries.iter() {
            let earlier = self.status_record(entry)?.of;
            let Some(row) = self.locate(&earlier)? else {
                continue;
            };
            // The index holds a hash of the address, and a later entry may differ, so the grain's
            // status is read.
            if self.status_at(row)?.superseded_by == Some(*address) {
                replaced.push((row, earlier));
            }
        }
        Ok(replaced)
    }
}

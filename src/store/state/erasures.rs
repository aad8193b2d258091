//! Erasures: whether any was ever begun, which are not complete, and the protections that outlive
//! erased grains.

use std::collections::{BTreeMap, HashMap};

use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::policy::Protection;
use crate::store::Error;
use crate::store::records::{ProtectionTombstone, Record, Uid};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Erasures {
    any: bool,
    /// The entries to blank, by the entry that began the erasure.
    open: BTreeMap<EntryId, Vec<EntryId>>,
    /// The sealed persons whose keys it destroys, by the entry that began the erasure.
    persons: BTreeMap<EntryId, Vec<Uid>>,
    /// Those of them whose other entries stay under a hold key.
    held: BTreeMap<EntryId, Vec<Uid>>,
    /// Protections by the tombstone of the grain that they are about.
    protections: HashMap<[u8; 32], Vec<ProtectionTombstone>>,
}

impl Erasures {
    /// Returns whether anything was ever erased, so that a put must look for tombstones.
    pub(crate) const fn any(&self) -> bool {
        self.any
    }

    /// Returns whether any protection outlives its grain.
    pub(crate) fn protect(&self) -> bool {
        !self.protections.is_empty()
    }

    /// Returns the protections, left by erased grains, of the grain with a tombstone, or of the
    /// grains derived from it.
    pub(crate) fn protections_of(
        &self,
        tombstone: &[u8; 32],
        is_below: bool,
    ) -> impl Iterator<Item = &Protection> {
        let left = self.protections.get(tombstone).into_iter().flatten();
        let left = left.filter(move |left| left.is_below == is_below);
        left.map(|left| &left.protection)
    }

    /// Returns the sealed persons whose erasure is not complete.
    pub(crate) fn persons(&self) -> impl Iterator<Item = &Uid> {
        self.persons.values().flatten()
    }

    /// Returns those of them whose remaining entries are kept under a hold key.
    #[cfg(feature = "sealing")]
    pub(crate) fn held(&self) -> impl Iterator<Item = &Uid> {
        self.held.values().flatten()
    }

    /// Returns the erasures that are not complete.
    pub(crate) const fn open(&self) -> &BTreeMap<EntryId, Vec<EntryId>> {
        &self.open
    }
}

impl Fold for Erasures {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::Erasing, Kind::Erased])
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        match entry.body {
            Body::Record(Record::Erasing(erasing)) => {
                self.any = true;
                self.open.insert(entry.row, erasing.rows.clone());
                if !erasing.persons.is_empty() {
                    self.persons.insert(entry.row, erasing.persons.clone());
                    self.held.insert(entry.row, erasing.held.clone());
                }
                for left in &erasing.protections {
                    let known = self.protections.entry(left.of).or_default();
                    if !known.contains(left) {
                        known.push(left.clone());
                    }
                }
            }
            Body::Record(Record::Erased(erased)) => {
                self.open.remove(&erased.begun);
                self.persons.remove(&erased.begun);
                self.held.remove(&erased.begun);
            }
            Body::Grain(_) | Body::Record(_) | Body::Damaged | Body::Locked => {}
        }
        Ok(())
    }
}

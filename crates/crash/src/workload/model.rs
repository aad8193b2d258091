//! The model: the answers that a store must give, kept in a plain map.
//!
//! It has no disk and no index, so that it cannot share a fault with the store under test.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use grainstore::ContentAddress;
use grainstore::grain::{Grain, Status, StatusChange, Time};

use crate::workload::draft::Kept;

/// The grains of a store with their status, in the order in which they were stored, and the length
/// of its ledger: a plain map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    grains: BTreeMap<ContentAddress, (Kept, Status)>,
    /// Foreign ids.
    names: BTreeMap<String, ContentAddress>,
    /// Foreign ids of what was deleted.
    gone: BTreeSet<String>,
    order: Vec<ContentAddress>,
    pub(crate) entries: u64,
    /// Deletions that are begun, and end when the store is opened next.
    begun: u64,
    /// The words that only deleted grains had.
    erased: BTreeSet<String>,
}

impl Model {
    /// Stores a grain; returns whether it is new.
    pub(crate) fn put(&mut self, kept: &Kept) -> bool {
        let address = kept.grain.address();
        if self.grains.contains_key(&address) {
            return false;
        }
        self.grains
            .insert(address, (kept.clone(), Status::default()));
        self.order.push(address);
        self.entries += 1;
        true
    }

    pub(crate) fn supersede(&mut self, old: &ContentAddress, new: &Kept) {
        self.put(new);
        self.entries += 1;
        if let Some((_, status)) = self.grains.get_mut(old) {
            status.superseded_by = Some(new.grain.address());
            // Which time it is, the store's clock says.
            status.system_valid_to = Some(Time::from_ms(0));
        }
    }

    /// Begins to delete a grain: it is invisible from here on.
    pub(crate) fn delete(&mut self, address: &ContentAddress) {
        let Some((kept, _)) = self.grains.remove(address) else {
            return;
        };
        self.erased.extend(kept.words.first().cloned());
        self.order.retain(|one| one != address);
        // The grain that it superseded stays superseded, by an address that no entry names any
        // more.
        for (_, status) in self.grains.values_mut() {
            if status.superseded_by == Some(*address) {
                status.superseded_by = None;
                self.entries += 1;
            }
        }
        let (names, gone) = (&mut self.names, &mut self.gone);
        names.retain(|name, named| {
            let stays = named != address;
            if !stays {
                gone.insert(name.clone());
            }
            stays
        });
        self.entries += 1;
        self.begun += 1;
    }

    /// Completes the deletion begun last.
    pub(crate) fn complete(&mut self) {
        self.begun -= 1;
        self.entries += 1;
    }

    /// Returns what a store shows that is opened: no deletion stays begun.
    pub(crate) fn opened(self: &Arc<Self>) -> Arc<Self> {
        if self.begun == 0 {
            return Arc::clone(self);
        }
        Arc::new(Self {
            entries: self.entries + self.begun,
            begun: 0,
            ..Self::clone(self)
        })
    }

    /// Returns the words that must be nowhere.
    pub(crate) const fn erased(&self) -> &BTreeSet<String> {
        &self.erased
    }

    /// Imports a record; returns whether it is refused as saying something else than before.
    pub(crate) fn import(&mut self, kept: &Kept, id: &str, change: &StatusChange) -> bool {
        let address = kept.grain.address();
        // A name of what was deleted brings nothing back; a grain that is here may have it.
        if self.gone.contains(id) && !self.grains.contains_key(&address) {
            return false;
        }
        let known = self.names.get(id).copied();
        if known.is_some_and(|known| known != address) {
            return true;
        }
        if self.put(kept) && !change.is_empty() {
            self.entries += 1;
            if let Some((_, status)) = self.grains.get_mut(&address) {
                status.apply(change);
            }
        }
        if known.is_none() {
            self.names.insert(id.into(), address);
            self.entries += 1;
        }
        false
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn order(&self) -> &[ContentAddress] {
        &self.order
    }

    pub(crate) fn names(&self) -> &BTreeMap<String, ContentAddress> {
        &self.names
    }

    /// Returns every grain with its status, in the order of storing.
    pub(crate) fn grains(&self) -> impl Iterator<Item = (&Kept, &Status)> {
        let found = self.order.iter().filter_map(|one| self.grains.get(one));
        found.map(|(kept, status)| (kept, status))
    }

    /// Returns the addresses of grains for which a condition holds.
    pub(crate) fn all(&self, holds: impl Fn(&Kept, &Status) -> bool) -> Vec<ContentAddress> {
        let grains = self.grains().filter(|(kept, status)| holds(kept, status));
        grains.map(|(kept, _)| kept.grain.address()).collect()
    }

    pub(crate) fn get(&self, address: &ContentAddress) -> Option<&Kept> {
        self.grains.get(address).map(|(kept, _)| kept)
    }

    /// Returns the grain that was stored as the one with this number.
    pub(crate) fn nth(&self, nth: usize) -> Option<&Grain> {
        let address = self.order.get(nth)?;
        self.get(address).map(|kept| &*kept.grain)
    }
}

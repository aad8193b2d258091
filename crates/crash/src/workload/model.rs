//! The model: the answers that a store must give, kept in a plain map.
//!
//! It has no disk and no index, so that it cannot share a fault with the store under test.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use grainstore::ContentAddress;
use grainstore::grain::{Grain, Status, StatusChange, Time};

use crate::workload::draft::{Kept, MARK_LEN, Role};

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
    /// Whether reads of watched grains are recorded.
    pub(crate) is_audited: bool,
    /// Whether the first of the two signers is trusted.
    pub(crate) is_trusting: bool,
    /// The recorded reads: the operation, and the grains in the order of their addresses.
    reads: Vec<(&'static str, Vec<ContentAddress>)>,
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
        self.entries += 1 + u64::from(kept.signer.is_some());
        if let Role::Withdrawal(of) = kept.role {
            // Its effect, a review, and the status of the consent (OMS 8.10, ruling I7).
            self.entries += 3;
            self.replace(&of, address);
        }
        true
    }

    pub(crate) fn supersede(&mut self, old: &ContentAddress, new: &Kept) {
        self.put(new);
        self.entries += 1;
        self.replace(old, new.grain.address());
    }

    fn replace(&mut self, old: &ContentAddress, new: ContentAddress) {
        if let Some((_, status)) = self.grains.get_mut(old) {
            status.superseded_by = Some(new);
            // Which time it is, the store's clock says.
            status.system_valid_to = Some(Time::from_ms(0));
        }
    }

    /// Shows another signature of a grain.
    pub(crate) fn sign(&mut self, address: &ContentAddress, again: &Kept) {
        if let Some((kept, _)) = self.grains.get_mut(address) {
            *kept = again.clone();
            self.entries += 1;
        }
    }

    /// Reads watched grains.
    pub(crate) fn read(&mut self, operation: &'static str, grains: &[ContentAddress]) {
        if self.is_audited {
            let mut grains = grains.to_vec();
            grains.sort_unstable();
            self.reads.push((operation, grains));
            self.entries += 1;
        }
    }

    /// Reads all grains at once.
    pub(crate) fn read_in_full(&mut self, operation: &'static str) {
        self.read(operation, &[]);
    }

    /// Begins to delete grains in one erasure: they are invisible from here on.
    pub(crate) fn delete(&mut self, gone: &[ContentAddress]) {
        for address in gone {
            if let Some((kept, _)) = self.grains.remove(address) {
                self.erased.extend(kept.words.first().cloned());
            }
        }
        self.order.retain(|one| !gone.contains(one));
        // The grain that one of them superseded stays superseded, by an address that no entry names
        // any more.
        for (_, status) in self.grains.values_mut() {
            if status.superseded_by.is_some_and(|by| gone.contains(&by)) {
                status.superseded_by = None;
                self.entries += 1;
            }
        }
        let forgotten = &mut self.gone;
        self.names.retain(|name, named| {
            let stays = !gone.contains(named);
            if !stays {
                forgotten.insert(name.clone());
            }
            stays
        });
        // A recorded read of them is written again for its other grains.
        let is_gone = |(_, grains): &(_, Vec<_>)| grains.iter().any(|one| gone.contains(one));
        let (named, mut reads): (Vec<_>, Vec<_>) = self.reads.drain(..).partition(is_gone);
        for (operation, mut grains) in named {
            grains.retain(|one| !gone.contains(one));
            if !grains.is_empty() {
                reads.push((operation, grains));
                self.entries += 1;
            }
        }
        self.reads = reads;
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

    /// Returns whether no deletion waits to be completed.
    pub(crate) const fn is_settled(&self) -> bool {
        self.begun == 0
    }

    /// Returns whether anything was deleted.
    pub(crate) fn has_erased(&self) -> bool {
        !self.erased.is_empty()
    }

    /// Returns a word in some bytes that only deleted grains had.
    pub(crate) fn erased_in(&self, content: &[u8]) -> Option<&str> {
        let marks = content.windows(MARK_LEN);
        let mut marks = marks.filter(|mark| mark.starts_with(b"u"));
        marks.find_map(|mark| {
            let mark = std::str::from_utf8(mark).ok()?;
            self.erased.get(mark).map(String::as_str)
        })
    }

    pub(crate) fn reads(&self) -> &[(&'static str, Vec<ContentAddress>)] {
        &self.reads
    }

    /// Returns the grains whose reads are recorded.
    pub(crate) fn watched(&self) -> Vec<ContentAddress> {
        self.all(|kept, _| kept.role == Role::Watched)
    }

    /// Returns the consents that are in force.
    pub(crate) fn grants(&self) -> Vec<ContentAddress> {
        self.all(|kept, status| kept.role == Role::Consent && status.is_current())
    }

    /// Returns the consents that were withdrawn.
    pub(crate) fn withdrawn(&self) -> Vec<ContentAddress> {
        let withdrawn = self.grains().filter_map(|(kept, _)| match kept.role {
            Role::Withdrawal(of) => Some(of),
            _ => None,
        });
        withdrawn.collect()
    }

    /// Returns whether a grain rests on a consent.
    pub(crate) fn is_basis(&self, consent: &ContentAddress) -> bool {
        let mut grains = self.grains();
        grains.any(|(kept, _)| kept.basis.as_ref() == Some(consent))
    }

    /// Returns the grains that rest on withdrawn consents.
    pub(crate) fn due(&self) -> Vec<ContentAddress> {
        let withdrawn = self.withdrawn();
        self.all(|kept, _| kept.basis.is_some_and(|basis| withdrawn.contains(&basis)))
    }

    /// Returns whether a grain is kept as evidence: a withdrawn consent, or the withdrawal.
    pub(crate) fn is_evidence(&self, address: &ContentAddress) -> bool {
        let role = self.get(address).map(|kept| kept.role);
        matches!(role, Some(Role::Withdrawal(_))) || self.withdrawn().contains(address)
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

    /// Returns the addresses of grains for which a condition holds and that questions may show: none
    /// that rests on a withdrawn consent (OMS 8.10).
    pub(crate) fn shown(&self, holds: impl Fn(&Kept, &Status) -> bool) -> Vec<ContentAddress> {
        let withdrawn = self.withdrawn();
        self.all(|kept, status| {
            let is_withdrawn = kept.basis.is_some_and(|basis| withdrawn.contains(&basis));
            !is_withdrawn && holds(kept, status)
        })
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

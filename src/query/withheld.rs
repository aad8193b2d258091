use std::collections::{BTreeMap, BTreeSet};

use crate::codec::ContentAddress;
use crate::grain::{Lifecycle, Status};
use crate::index::Snapshot;
use crate::interchange::{Entry, Loss, is_exportable, is_link};
use crate::store::Store;

use super::Error;

/// What does not leave the store, whatever is asked for.
pub(super) struct Withheld {
    /// What owners said of their grains (PAM 21.1).
    exportable: BTreeMap<ContentAddress, bool>,
}

impl Withheld {
    pub(super) fn of(store: &Store, snapshot: &Snapshot) -> Result<Self, Error> {
        Ok(Self {
            exportable: store.exportable(snapshot)?,
        })
    }

    fn holds(&self, (grain, _): &Entry) -> bool {
        let said = self.exportable.get(&grain.address());
        !said.copied().unwrap_or_else(|| is_exportable(grain))
    }

    /// Leaves out what is withheld, with the links that would name it.
    pub(super) fn take_from(&self, entries: Vec<Entry>, loss: &mut Loss) -> Vec<Entry> {
        let held = entries.iter().filter(|entry| self.holds(entry));
        let held: BTreeSet<_> = held.map(|(grain, _)| grain.address()).collect();
        if held.is_empty() {
            return entries;
        }
        let mut kept = Vec::with_capacity(entries.len());
        for (grain, status) in entries {
            if held.contains(&grain.address()) {
                loss.count("not exportable");
            } else if is_link(&grain) && grain.related_to().any(|end| held.contains(&end)) {
                loss.count("link to what is not exportable");
            } else {
                kept.push((grain, unnamed(status, &held)));
            }
        }
        kept
    }
}

/// Returns a status that names nothing that is withheld: superseded, and nobody is told by what.
fn unnamed(mut status: Status, held: &BTreeSet<ContentAddress>) -> Status {
    if status.superseded_by.is_some_and(|by| held.contains(&by)) {
        status.superseded_by = None;
        status.lifecycle = Lifecycle::Superseded;
    }
    status
}

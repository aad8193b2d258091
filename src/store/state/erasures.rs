//! Erasures: whether any was ever begun, and which are not complete.

use std::collections::BTreeMap;

use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::store::Error;
use crate::store::records::Record;

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Erasures {
    any: bool,
    /// The entries to blank, by the entry that began the erasure.
    open: BTreeMap<EntryId, Vec<EntryId>>,
}

impl Erasures {
    /// Returns whether anything was ever erased, so that a put must look for tombstones.
    pub(crate) const fn any(&self) -> bool {
        self.any
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
            }
            Body::Record(Record::Erased(erased)) => {
                self.open.remove(&erased.begun);
            }
            Body::Grain(_) | Body::Record(_) => {}
        }
        Ok(())
    }
}

//! Open reviews by a person: of permitted operations (OMS 23.2, `soft_locked`), and of grains on
//! which no decision may be based before the review (OMS 6.1, `requires_human_review`).

use std::collections::BTreeMap;

use crate::codec::ContentAddress;
use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::store::Error;
use crate::store::records::{Record, ReviewRecord};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReviewQueue {
    /// The grain by the entry that opened the review, and whether it must not be relied on.
    open: BTreeMap<EntryId, (ContentAddress, bool)>,
}

impl ReviewQueue {
    /// Returns the grains that must not be relied on before their review.
    pub(crate) fn unreviewed(&self) -> impl Iterator<Item = &ContentAddress> {
        let open = self.open.values();
        open.filter_map(|(address, blocks)| blocks.then_some(address))
    }
}

impl Fold for ReviewQueue {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::Review])
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        match entry.body {
            Body::Record(Record::Review(ReviewRecord::Opened { of, operation })) => {
                let blocks = operation == ReviewRecord::RELY;
                self.open.insert(entry.row, (*of, blocks));
            }
            Body::Record(Record::Review(ReviewRecord::Cleared { opened, .. })) => {
                self.open.remove(opened);
            }
            Body::Grain(_) | Body::Record(_) | Body::Damaged | Body::Locked => {}
        }
        Ok(())
    }
}

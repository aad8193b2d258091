//! The actors in the ledger, by the sequence of the entry that names each.

use std::collections::HashMap;

use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::store::Error;
use crate::store::records::{ActorRecord, Record};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Actors(HashMap<ActorRecord, EntryId>);

impl Actors {
    /// Returns the entry that names an actor.
    pub(crate) fn entry_of(&self, actor: &ActorRecord) -> Option<EntryId> {
        self.0.get(actor).copied()
    }
}

impl Fold for Actors {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::Actor])
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        if let Body::Record(Record::Actor(actor)) = entry.body
            && !self.0.contains_key(actor)
        {
            self.0.insert(actor.clone(), entry.row);
        }
        Ok(())
    }
}

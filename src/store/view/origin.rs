//! The origin of a stored grain, as far as the ledger proves it: the owner's handle, an agent's, or
//! a file. Statements that give or take the authority of others count by their origin.

use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::index::Family;
use crate::ledger::{self, EntryId};
use crate::store::Error;
use crate::store::records::{ActorRecord, Frame, Record};
use crate::store::view::{Core, View};

/// Where a grain came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The owner's handle.
    Owner,
    /// A narrowed handle, with its author if it has one.
    Handle(Option<String>),
    /// An imported file, which proves nothing about its writer.
    File,
}

impl Origin {
    /// Returns whether it is the handle of a DID.
    pub(crate) fn is_of(&self, did: &str) -> bool {
        matches!(self, Self::Handle(Some(author)) if author == Did::bare(did))
    }
}

impl View<'_> {
    /// Returns the origin of a stored grain.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn origin(&self, row: EntryId, address: &ContentAddress) -> Result<Origin, Error> {
        let origin = self.origin_of_actor(self.ledger().read(row)?.header.actor)?;
        if origin != Origin::Owner {
            return Ok(origin);
        }
        let mentions = self
            .snapshot()
            .pointing_at(Family::Mentions, address)
            .rows()?;
        for row in mentions.iter() {
            if matches!(self.record_at(row)?, Record::Flag(flag) if flag.is_from_file && flag.of == *address)
            {
                return Ok(Origin::File);
            }
        }
        Ok(Origin::Owner)
    }

    /// Returns the origin of a grain that is in a frame or stored.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn origin_in(
        &self,
        frame: &Frame,
        address: &ContentAddress,
    ) -> Result<Option<Origin>, Error> {
        if let Some((actor, is_from_file)) = frame.writer_of(address) {
            return Ok(Some(match is_from_file {
                true => Origin::File,
                false => self.origin_of_actor(actor)?,
            }));
        }
        match self.locate(address)? {
            Some(row) => Ok(Some(self.origin(row, address)?)),
            None => Ok(None),
        }
    }
}

impl Core {
    /// Returns the origin of an entry that names an actor or none, and is not from a file.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn origin_of_actor(&self, actor: Option<EntryId>) -> Result<Origin, Error> {
        Ok(match actor {
            Some(actor) => Origin::Handle(self.actor_named_by(actor)?),
            None => Origin::Owner,
        })
    }

    /// Returns the actor that wrote an entry, if a narrowed handle did.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn actor_of(&self, row: EntryId) -> Result<Option<String>, Error> {
        let Some(actor) = self.ledger().read(row)?.header.actor else {
            return Ok(None);
        };
        self.actor_named_by(actor)
    }

    /// Returns the DID of the actor that an entry names; `None` for handles without an author.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn actor_named_by(&self, actor: EntryId) -> Result<Option<String>, Error> {
        let named = self.actor_at(actor)?;
        Ok(named.map(|actor| actor.did).filter(|did| !did.is_empty()))
    }

    /// Returns the actor that an entry names, as far as it is known.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn actor_at(&self, actor: EntryId) -> Result<Option<ActorRecord>, Error> {
        match self.record_at(actor) {
            // A recovered store may lack the entry that named the actor.
            Err(Error::Ledger(ledger::Error::Erased { .. })) | Ok(Record::Restored(_)) => Ok(None),
            Err(error) => Err(error),
            Ok(Record::Actor(actor)) => Ok(Some(actor)),
            Ok(_) => Err(Error::damaged(format!("entry {actor}"), "not an actor")),
        }
    }
}

//! The caller of an operation: the store's owner, or the holder of a narrowed handle, with the
//! ledger entry that names the actor.

use std::sync::Arc;

use crate::crypto::Did;
use crate::grain::Grain;
use crate::ledger::EntryId;
use crate::policy::{Capability, Rule};
use crate::store::Error;
use crate::store::instance::inner::Inner;
use crate::store::records::{ActorRecord, Frame, Record};

/// The caller of an operation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Caller<'a> {
    /// `None` for the owner, who may do what the policies of the grains permit.
    pub(crate) capability: Option<&'a Arc<Capability>>,
    /// The ledger entry that names the actor.
    pub(crate) actor: Option<EntryId>,
}

impl Caller<'_> {
    /// Decides whether a new grain may be written.
    pub(crate) fn admits(&self, grain: &Grain) -> Result<(), Rule> {
        self.capability
            .map_or(Ok(()), |capability| capability.authorize_put(grain))
    }

    /// Returns whether it is the store's owner.
    pub(crate) const fn is_owner(&self) -> bool {
        self.capability.is_none()
    }

    /// Returns whether the operation is unattended background work.
    pub(crate) fn is_job(&self) -> bool {
        self.capability.is_some_and(|it| it.is_job())
    }

    /// Decides whether the caller may change the status of a stored grain.
    pub(crate) fn may_write(&self) -> Result<(), Rule> {
        self.capability
            .map_or(Ok(()), |capability| capability.authorize_write())
    }

    /// Returns the author that the caller writes as.
    pub(crate) fn author(&self) -> Option<&str> {
        self.capability
            .and_then(|capability| capability.acts_as())
            .map(Did::as_str)
    }

    /// Refuses a stored grain that is invisible to the caller.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`.
    pub(crate) fn authorize_sight(&self, grain: &Grain) -> Result<(), Error> {
        match self
            .capability
            .is_none_or(|capability| capability.sees(grain))
        {
            true => Ok(()),
            false => Err(Error::NotFound {
                address: grain.address(),
            }),
        }
    }
}

impl Inner {
    /// Returns the entry that names the actor of a handle, and writes it if this is the first time;
    /// `None` for the owner's. The empty text names the narrowed handles without an author.
    ///
    /// Called before the right to write is taken: an entry names only entries before it.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn actor(&self, handle: Option<&Capability>) -> Result<Option<EntryId>, Error> {
        let Some(actor) = handle.map(ActorRecord::of) else {
            return Ok(None);
        };
        let known = || self.state().actors().entry_of(&actor);
        if let Some(row) = known() {
            return Ok(Some(row));
        }
        let mut writer = self.exclusive()?;
        if let Some(row) = known() {
            return Ok(Some(row));
        }
        let frame = Frame::of(None, &Record::Actor(actor))?;
        Ok(Some(self.commit(&mut writer, &frame)?.start))
    }
}

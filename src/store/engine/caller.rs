//! The caller of an operation: the store's owner, or the holder of a narrowed handle, with the
//! ledger entry that names the actor.

use std::sync::Arc;

use crate::crypto::Did;
use crate::grain::Grain;
use crate::ledger::EntryId;
use crate::policy::{Capability, Rule};
use crate::store::Error;

/// The caller of an operation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Caller<'a> {
    /// `None` for the owner, who may do what the policies of the grains permit.
    pub(crate) capability: Option<&'a Arc<Capability>>,
    /// The ledger entry that names the actor.
    pub(crate) actor: Option<EntryId>,
}

impl Caller<'_> {
    /// Returns the owner, on behalf of the actor that an entry names.
    pub(crate) const fn owner(actor: Option<EntryId>) -> Self {
        Self {
            capability: None,
            actor,
        }
    }

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

//! Sealed persons in a build without `sealing`: no key is ever here, so each of them is locked.

use crate::grain::{Grain, about};
use crate::store::Error;
use crate::store::records::Uid;
use crate::store::view::{Core, View};

impl View<'_> {
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with `sealing`"
    )]
    pub(crate) fn refuse_naming_sealed<'g>(
        &self,
        _grain: &Grain,
        _pending: impl Iterator<Item = &'g Grain>,
    ) -> Result<(), Error> {
        Ok(())
    }
}

impl Core {
    #[expect(clippy::unused_self, reason = "as with `sealing`")]
    pub(crate) const fn is_hold(&self, _uid: &Uid) -> bool {
        false
    }

    #[expect(clippy::unused_self, reason = "as with `sealing`")]
    pub(crate) fn tombstones_for(&self, mark: [u8; 32], _sealed: &[u8; 32]) -> Vec<[u8; 32]> {
        vec![mark]
    }

    /// Returns the person for whom a grain is sealed: none.
    ///
    /// # Errors
    /// `ERR_LOCKED` for a grain about someone where persons are sealed: it may be of one of them.
    pub(crate) fn person_of(&self, grain: &Grain) -> Result<Option<Uid>, Error> {
        match self.known_state().keys().persons() > 0 && !about(grain).is_empty() {
            true => Err(Error::Locked),
            false => Ok(None),
        }
    }

    /// Returns the person with an identifier: none.
    ///
    /// # Errors
    /// `ERR_LOCKED` where persons are sealed: it may be of one of them.
    pub(crate) fn person_with(&self, _id: &str) -> Result<Option<Uid>, Error> {
        match self.known_state().keys().persons() > 0 {
            true => Err(Error::Locked),
            false => Ok(None),
        }
    }

    #[expect(clippy::unused_self, reason = "as with `sealing`")]
    pub(crate) const fn unlocked_person_of(&self, _grain: &Grain) -> Option<Uid> {
        None
    }
}

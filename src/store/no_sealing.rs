//! Sealed persons in a build without `sealing`: no key is ever here, so each of them is locked.

use crate::codec::ContentAddress;
use crate::grain::{ForeignId, Grain};
use crate::index::{RowSet, Snapshot};
use crate::store::instance::Inner;
use crate::store::records::{Frame, SealedEntries, Uid};
use crate::store::{Error, Store};

impl Store {
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with `sealing`"
    )]
    pub(crate) fn held(&self, _snapshot: &Snapshot) -> Result<RowSet, Error> {
        Ok(RowSet::default())
    }

    /// Returns the number of persons whose grains no answer has: all of them.
    #[cfg(feature = "interchange")]
    pub(crate) fn locked_persons(&self) -> u64 {
        self.inner.state().keys().persons()
    }
}

impl Inner {
    #[expect(clippy::unused_self, reason = "as with `sealing`")]
    pub(crate) const fn is_hold(&self, _uid: &Uid) -> bool {
        false
    }

    #[expect(clippy::unnecessary_wraps, reason = "as with `sealing`")]
    pub(crate) fn tombstone_of(
        &self,
        _snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<[u8; 32], Error> {
        Ok(self.manifest().tombstone_key().of_address(address))
    }

    #[expect(clippy::unnecessary_wraps, reason = "as with `sealing`")]
    pub(crate) fn tombstone_of_name(
        &self,
        _snapshot: &Snapshot,
        _of: &ContentAddress,
        id: &ForeignId,
    ) -> Result<[u8; 32], Error> {
        Ok(self.manifest().tombstone_key().of_foreign_id(id))
    }

    #[expect(clippy::unused_self, reason = "as with `sealing`")]
    pub(crate) fn tombstones_for(&self, mark: [u8; 32], _sealed: &[u8; 32]) -> Vec<[u8; 32]> {
        vec![mark]
    }

    /// Returns the person for whom a grain is sealed: none.
    ///
    /// # Errors
    /// `ERR_LOCKED` for a grain of a user where persons are sealed: it may be of one of them.
    pub(crate) fn person_of(&self, grain: &Grain) -> Result<Option<Uid>, Error> {
        match grain.text("user_id") {
            Some(_) if self.state().keys().persons() > 0 => Err(Error::Locked),
            _ => Ok(None),
        }
    }

    #[expect(clippy::unused_self, reason = "as with `sealing`")]
    pub(crate) const fn unlocked_person_of(&self, _grain: &Grain) -> Option<Uid> {
        None
    }

    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with `sealing`"
    )]
    pub(crate) fn refuse_naming_sealed<'g>(
        &self,
        _snapshot: &Snapshot,
        _grain: &Grain,
        _pending: impl Iterator<Item = &'g Grain>,
    ) -> Result<(), Error> {
        Ok(())
    }

    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with `sealing`"
    )]
    pub(crate) const fn rekey_due_in_passing(&self) -> Result<(), Error> {
        Ok(())
    }

    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with `sealing`"
    )]
    pub(crate) fn seal_frame(&self, _frame: &Frame) -> Result<SealedEntries, Error> {
        Ok(SealedEntries::default())
    }
}

//! Tombstones: keyed hashes by which a deleted grain, or a foreign identifier of one, is recognised
//! if it is stored again (OMS 28.4).

use crate::codec::ContentAddress;
#[cfg(feature = "interchange")]
use crate::grain::ForeignId;
use crate::store::Error;
use crate::store::instance::Inner;
use crate::store::records::Record;

impl Inner {
    /// Refuses a grain that was deleted here, unless the caller requests it explicitly.
    ///
    /// # Errors
    /// `ERR_ERASED`; storage errors.
    pub(crate) fn refuse_erased(&self, address: &ContentAddress, again: bool) -> Result<(), Error> {
        if !again && self.was_deleted(address)? {
            return Err(Error::Erased { address: *address });
        }
        Ok(())
    }

    /// Returns whether a grain was deleted here.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn was_deleted(&self, address: &ContentAddress) -> Result<bool, Error> {
        self.has_tombstone(|store| {
            let mark = store.manifest().tombstone_key().of_address(address);
            store.tombstones_for(mark, address.as_bytes())
        })
    }

    /// Returns whether a grain with this foreign identifier was deleted here.
    ///
    /// # Errors
    /// Storage errors.
    #[cfg(feature = "interchange")]
    pub(crate) fn was_named(&self, id: &ForeignId) -> Result<bool, Error> {
        self.has_tombstone(|store| {
            let mark = store.manifest().tombstone_key().of_foreign_id(id);
            store.tombstones_for(mark, &mark)
        })
    }

    fn has_tombstone(&self, forms: impl FnOnce(&Self) -> Vec<[u8; 32]>) -> Result<bool, Error> {
        if !self.state().erasures().any() {
            return Ok(false);
        }
        let snapshot = self.snapshot();
        for tombstone in forms(self) {
            for row in snapshot.tombstones(&tombstone).rows()?.iter() {
                // The index holds a hash of the tombstone.
                if let Record::Erasing(erasing) = self.record_at(row)?
                    && erasing.tombstones.contains(&tombstone)
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

//! Reading single entries: the record of an entry, the grain of a row, its status, its version.

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::{self, ForeignId, Grain, Status, Time};
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::store::Error;
use crate::store::instance::Inner;
use crate::store::records::{AliasRecord, Record, StatusRecord};

use super::get::Version;

impl Inner {
    /// Reads the record of an entry that is no grain.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn record_at(&self, row: EntryId) -> Result<Record, Error> {
        let entry = self.entry(row)?;
        let kind = entry.header.kind;
        Record::decode(kind, &entry.body).ok_or_else(|| Error::malformed(row, kind))
    }

    /// Reads the grain of a row that the index says has this address.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn grain_at(&self, row: EntryId, address: &ContentAddress) -> Result<Grain, Error> {
        let address = *address;
        let found = self.grain_if(row, &address)?;
        found.ok_or_else(|| grain::Error::Integrity { address }.into())
    }

    /// Reads the grain of a row if it has this address.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn grain_if(
        &self,
        row: EntryId,
        address: &ContentAddress,
    ) -> Result<Option<Grain>, Error> {
        if !self.keyring().is_empty() {
            // It may be sealed: the address is verified after opening.
            let (_, grain) = self.grain(row)?;
            return Ok(grain.address().is(address).then_some(grain));
        }
        let blob = self.ledger().read_if(row, address.as_bytes())?;
        let grain = blob.map(|blob| Grain::from_verified(blob, *address));
        Ok(grain.transpose()?)
    }

    /// Reads the grain of a row with its status.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn version_at(&self, snapshot: &Snapshot, row: EntryId) -> Result<Version, Error> {
        let (header, grain) = self.grain(row)?;
        let grain = self.with_signature(row, grain)?;
        Ok(Version {
            stored_at: Time::from_ms(header.time_ms),
            stored_by: None,
            signature: self.signature_of(&grain),
            grain,
            status: self.status_at(snapshot, row)?,
        })
    }

    /// Returns the grain of a row with its status; `None` if its bytes are damaged.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; damage elsewhere is not told apart.
    pub(crate) fn sound_version_at(
        &self,
        snapshot: &Snapshot,
        row: EntryId,
    ) -> Result<Option<Version>, Error> {
        match self.version_at(snapshot, row) {
            Err(error) if error.code() == ErrorCode::StorageDamaged => {
                tracing::warn!(%row, %error, "the grain is left out");
                Ok(None)
            }
            version => version.map(Some),
        }
    }

    /// Returns the status of the grain of a row: the fold of its status entries.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn status_at(&self, snapshot: &Snapshot, row: EntryId) -> Result<Status, Error> {
        let mut status = Status::default();
        for entry in snapshot.status_entries(row) {
            status.apply(&self.status_record(entry?)?.change);
        }
        Ok(status)
    }

    /// # Errors
    /// Storage errors.
    pub(crate) fn status_record(&self, row: EntryId) -> Result<StatusRecord, Error> {
        match self.record_at(row)? {
            Record::Status(status) => Ok(status),
            _ => Err(Error::damaged(format!("entry {row}"), "not a status")),
        }
    }

    /// Returns the grains that a foreign identifier was assigned to, each once, the newest last.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn named(
        &self,
        snapshot: &Snapshot,
        id: &ForeignId,
    ) -> Result<Vec<ContentAddress>, Error> {
        let mut addresses = Vec::new();
        for row in snapshot.foreign(id).rows()?.iter() {
            let alias = self.alias_record(row)?;
            // The index holds a hash of the identifier.
            if alias.id == *id {
                addresses.retain(|known| *known != alias.of);
                addresses.push(alias.of);
            }
        }
        Ok(addresses)
    }

    fn alias_record(&self, row: EntryId) -> Result<AliasRecord, Error> {
        match self.record_at(row)? {
            Record::Alias(alias) => Ok(alias),
            _ => Err(Error::damaged(format!("entry {row}"), "not an alias")),
        }
    }
}

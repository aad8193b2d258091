//! Single entries: the row of a grain, the record of an entry, the grain of a row, its status, its
//! version.

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::{self, ForeignId, Grain, Status, Time};
use crate::index::{Batch, Family};
use crate::ledger::{self, EntryId, Kind};
use crate::store::Error;
use crate::store::records::{AliasRecord, Record, SealedRecord, StatusRecord};
use crate::store::view::{Core, Signature, View};

/// One grain of a lineage.
#[derive(Debug, Clone)]
pub struct Version {
    /// The grain.
    pub grain: Grain,
    /// Its current status.
    pub status: Status,
    /// The time at which it was stored here.
    pub stored_at: Time,
    /// The author of the handle that stored it; `None` for the store's owner.
    pub stored_by: Option<String>,
    /// The signer of a signed grain, and how far the signature is trusted.
    pub signature: Option<Signature>,
}

impl View<'_> {
    /// Returns the row of a grain: of the rows that the index names, the one that the ledger
    /// confirms.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn locate(&self, address: &ContentAddress) -> Result<Option<EntryId>, Error> {
        for row in self.snapshot().candidates(address)?.iter() {
            if self.holds(row, address)? {
                return Ok(Some(row));
            }
        }
        self.locate_damaged(address)
    }

    /// Returns whether the grain of a row has an address. The commitment of a sealed one says
    /// nothing of it, so that one is opened.
    pub(crate) fn holds(&self, row: EntryId, address: &ContentAddress) -> Result<bool, Error> {
        if self.snapshot().overlay_of(row).is_none() {
            return Ok(self.ledger().holds(row, address.as_bytes())?);
        }
        match self.entry(row) {
            Ok(entry) => Ok(address.verifies(&entry.body)),
            Err(error) if matches!(error.code(), ErrorCode::Locked | ErrorCode::Erased) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the address of the opened grain whose ciphertext has an address (OMS 20.2).
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn sealed_as(
        &self,
        ciphertext: &ContentAddress,
    ) -> Result<Option<ContentAddress>, Error> {
        if self.keyring().is_empty() {
            return Ok(None);
        }
        let rows = self.snapshot().pointing_at(Family::Mentions, ciphertext);
        for row in rows.rows()?.iter() {
            if self.snapshot().overlay_of(row).is_some()
                && self.ledger().holds(row, ciphertext.as_bytes())?
            {
                return Ok(Some(self.grain(row)?.1.address()));
            }
        }
        Ok(None)
    }

    /// Returns the row of a grain that must be stored.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; storage errors.
    pub(crate) fn row_of(&self, address: &ContentAddress) -> Result<EntryId, Error> {
        let row = self.locate(address)?;
        row.ok_or(Error::NotFound { address: *address })
    }

    /// Returns the row of a grain that is in the index or in a batch on its way there.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn locate_with(
        &self,
        batch: &Batch,
        address: &ContentAddress,
    ) -> Result<Option<EntryId>, Error> {
        let row = self.locate(address)?;
        Ok(row.or_else(|| batch.row_of(address)))
    }

    /// Reads the grain of a row with its status.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn version_at(&self, row: EntryId) -> Result<Version, Error> {
        let (header, grain) = self.grain(row)?;
        let grain = self.with_signature(row, grain)?;
        Ok(Version {
            stored_at: Time::from_ms(header.time_ms),
            stored_by: None,
            signature: self.signature_of(&grain),
            grain,
            status: self.status_at(row)?,
        })
    }

    /// Returns the grain of a row with its status; `None` if its bytes are damaged.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; damage elsewhere is not told apart.
    pub(crate) fn sound_version_at(&self, row: EntryId) -> Result<Option<Version>, Error> {
        match self.version_at(row) {
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
    pub(crate) fn status_at(&self, row: EntryId) -> Result<Status, Error> {
        let mut status = Status::default();
        for entry in self.snapshot().status_entries(row) {
            status.apply(&self.status_record(entry?)?.change);
        }
        Ok(status)
    }

    /// Returns the grains that a foreign identifier was assigned to, each once, the newest last.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn named(&self, id: &ForeignId) -> Result<Vec<ContentAddress>, Error> {
        let mut addresses = Vec::new();
        for row in self.snapshot().foreign(id).rows()?.iter() {
            let alias = self.alias_record(row)?;
            // The index holds a hash of the identifier.
            if alias.id == *id {
                addresses.retain(|known| *known != alias.of);
                addresses.push(alias.of);
            }
        }
        Ok(addresses)
    }
}

impl Core {
    /// Returns an entry as it is in the clear: a sealed one is opened, with the kind that it would
    /// have.
    ///
    /// # Errors
    /// `ERR_LOCKED` for an entry of a person who is locked; storage errors.
    pub(crate) fn entry(&self, row: EntryId) -> Result<ledger::Entry<'static>, Error> {
        self.opened(self.ledger().read(row)?)
    }

    /// Reads the grain of a row, in the clear, with the header of its entry.
    ///
    /// # Errors
    /// As [`Core::entry`].
    pub(crate) fn grain(&self, row: EntryId) -> Result<(ledger::EntryHeader, Grain), Error> {
        let entry = self.entry(row)?;
        let address = ContentAddress::new(entry.hash);
        let grain = Grain::from_verified(entry.body.into_owned(), address)?;
        Ok((entry.header, grain))
    }

    fn opened(&self, mut entry: ledger::Entry<'static>) -> Result<ledger::Entry<'static>, Error> {
        if entry.header.kind == Kind::SealedGrain {
            let sealed = SealedRecord::decode(&entry.body);
            let sealed = sealed.ok_or(Error::Locked)?;
            let opened = self.keyring().open(&sealed).ok_or(Error::Locked)?;
            if let Some(since) = sealed.card.since {
                entry.header.time_ms = since.ms();
            }
            return Ok(opened.into_entry(entry.header));
        }
        Ok(entry)
    }

    /// Returns the row of a grain that was damaged when the index was built: the commitment in its
    /// header still names it.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn locate_damaged(
        &self,
        address: &ContentAddress,
    ) -> Result<Option<EntryId>, Error> {
        for row in self.damaged_rows().iter() {
            if self.ledger().holds(*row, address.as_bytes())? {
                return Ok(Some(*row));
            }
        }
        Ok(None)
    }

    /// Returns the grains that were damaged when the index was built, and are not erased.
    pub(crate) fn damaged(&self) -> Vec<EntryId> {
        let mut rows = self.damaged_rows().clone();
        rows.retain(|row| !matches!(self.ledger().read(*row), Err(ledger::Error::Erased { .. })));
        rows
    }

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

    /// # Errors
    /// Storage errors.
    pub(crate) fn status_record(&self, row: EntryId) -> Result<StatusRecord, Error> {
        match self.record_at(row)? {
            Record::Status(status) => Ok(status),
            _ => Err(Error::damaged(format!("entry {row}"), "not a status")),
        }
    }

    fn alias_record(&self, row: EntryId) -> Result<AliasRecord, Error> {
        match self.record_at(row)? {
            Record::Alias(alias) => Ok(alias),
            _ => Err(Error::damaged(format!("entry {row}"), "not an alias")),
        }
    }
}

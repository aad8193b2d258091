//! ImportFile grains: by address, in lists, along their lineage, by foreign identifier.

use std::collections::BTreeMap;

use crate::codec::ContentAddress;
use crate::grain::{self, Grain, Status, Time, Warning};
use crate::index::Snapshot;
use crate::policy::Delegation;

use crate::store::{Error, ReadRecorder, Signature, Store};

/// A stretch of a listing, and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Addresses in the order in which their grains were stored.
    pub addresses: Vec<ContentAddress>,
    /// What to pass to go on; none at the end. It stays good whatever is written meanwhile.
    pub next: Option<u64>,
}

/// One grain of a lineage.
#[derive(Debug, Clone)]
pub struct Version {
    /// The grain.
    pub grain: Grain,
    /// Its status now.
    pub status: Status,
    /// When it was stored here.
    pub stored_at: Time,
    /// As whom, where a handle of an author's stored it.
    pub stored_by: Option<String>,
    /// Who signed it, if it is signed, and how far that is to be believed.
    pub signature: Option<Signature>,
}

impl Store {
    /// Returns a grain by its address; its bytes are checked against it.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_INTEGRITY`; `ERR_CONSENT` in a namespace that
    /// shows grains only under a consent.
    pub fn get(&self, address: &ContentAddress) -> Result<Option<Grain>, Error> {
        let found = self.find(address)?;
        self.record_reads(self.read_recorder("get"), found.iter())?;
        Ok(found.map(|(_, grain)| grain))
    }

    /// Reads a grain for the store's own use: nobody has retrieved it (OMS 22.10).
    pub(crate) fn peek(&self, address: &ContentAddress) -> Result<Option<Grain>, Error> {
        Ok(self.find(address)?.map(|(_, grain)| grain))
    }

    /// Reads a grain, and returns its row with it.
    pub(crate) fn find(&self, address: &ContentAddress) -> Result<Option<(u64, Grain)>, Error> {
        let snapshot = self.snapshot();
        for row in snapshot.candidates(address)?.iter() {
            // Read once: what the ledger holds there decides whether the index was right.
            let body = self.inner.ledger().read(row)?.body.into_owned();
            match Grain::from_stored(body, *address) {
                Err(grain::Error::Integrity { .. }) => {}
                read => {
                    let grain = read?;
                    self.inner.authorize_read(&snapshot, &grain)?;
                    let grain = self.inner.with_signature(row, grain)?;
                    return Ok(Some((row, grain)));
                }
            }
        }
        Ok(None)
    }

    /// Returns grains by their addresses, in the same order.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn get_batch(&self, addresses: &[ContentAddress]) -> Result<Vec<Option<Grain>>, Error> {
        let found = addresses.iter().map(|address| self.find(address));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        self.record_reads(self.read_recorder("get"), found.iter().flatten())?;
        Ok(grains(found))
    }

    /// Records and counts grains that somebody is shown, with their rows.
    pub(crate) fn record_reads<'g>(
        &self,
        read_recorder: ReadRecorder<'_>,
        found: impl Iterator<Item = &'g (u64, Grain)> + Clone,
    ) -> Result<(), Error> {
        read_recorder.all(found.clone().map(|(_, grain)| grain))?;
        self.retrieved(found.map(|(row, _)| *row));
        Ok(())
    }

    /// Returns whether a grain is here.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_INDEX_DAMAGED`.
    pub fn exists(&self, address: &ContentAddress) -> Result<bool, Error> {
        Ok(self.inner.locate(&self.snapshot(), address)?.is_some())
    }

    /// Returns the status of a grain: what the store says about it beside its blob (OMS 28.3).
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn status(&self, address: &ContentAddress) -> Result<Status, Error> {
        let snapshot = self.snapshot();
        let row = self.inner.row_of(&snapshot, address)?;
        self.inner.status_at(&snapshot, row)
    }

    /// Returns the addresses of up to `limit` grains, oldest first, from where `after` left off.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn list(&self, after: Option<u64>, limit: usize) -> Result<Page, Error> {
        let snapshot = self.snapshot();
        let from = after.map_or(0, |row| row.saturating_add(1));
        let mut addresses = Vec::new();
        let mut last = None;
        for row in snapshot.grains_from(from) {
            if addresses.len() == limit {
                return Ok(Page {
                    addresses,
                    next: last,
                });
            }
            addresses.push(ContentAddress::of(&self.inner.ledger().read(row)?.body));
            last = Some(row);
        }
        Ok(Page {
            addresses,
            next: None,
        })
    }

    /// Returns every grain of the lineage that a grain belongs to: what it supersedes and what
    /// superseded it, in the order in which they were stored; without those that a missing consent
    /// keeps back.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`; `ERR_CONSENT` where it keeps back
    /// the grain that was asked for.
    pub fn history(&self, address: &ContentAddress) -> Result<Vec<Version>, Error> {
        let versions = self.lineage(address)?;
        let grains = versions.iter().map(|version| &version.grain);
        self.read_recorder("history").all(grains)?;
        Ok(versions)
    }

    /// Returns what [`Store::history`] does, to be looked through before it is shown.
    pub(crate) fn lineage(&self, address: &ContentAddress) -> Result<Vec<Version>, Error> {
        let snapshot = self.snapshot();
        let start = self.inner.row_of(&snapshot, address)?;
        let mut versions = BTreeMap::new();
        let mut pending = vec![start];
        while let Some(row) = pending.pop() {
            if versions.contains_key(&row) {
                continue;
            }
            let mut version = self.inner.version_at(&snapshot, row)?;
            version.stored_by = self.inner.actor_of(row)?;
            if let Some(next) = version.status.superseded_by {
                pending.extend(self.inner.locate(&snapshot, &next)?);
            }
            let replaced = self
                .inner
                .replaced_by(&snapshot, &version.grain.address())?;
            pending.extend(replaced.into_iter().map(|(row, _)| row));
            versions.insert(row, version);
        }
        let mut shown = Vec::with_capacity(versions.len());
        for version in versions.into_values() {
            match self.inner.authorize_read(&snapshot, &version.grain) {
                Err(Error::Denied { address: kept, .. }) if kept != *address => {}
                allowed => {
                    allowed?;
                    shown.push(version);
                }
            }
        }
        Ok(shown)
    }

    /// Returns what is odd about a grain although it is valid: by itself, and beside the grains
    /// that are here. It need not be stored yet.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn warnings(&self, grain: &Grain) -> Result<Vec<Warning>, Error> {
        let mut warnings = grain.warnings();
        if let Some(parent) = grain.link("parent_message_id")
            && let Some(parent) = self.peek(&parent)?
            && parent.text("session_id") != grain.text("session_id")
        {
            // OMS 28.6: all messages of a conversation share their session.
            warnings.push(Warning {
                field: "parent_message_id".into(),
                message: "the parent message is of another session (OMS 28.6)",
            });
        }
        let relation = grain.text("relation");
        if relation == Some(Delegation::RELATION) && Delegation::of(grain).is_none() {
            warnings.push(Warning {
                field: "author_did".into(),
                message: "opens nothing: a delegation is written by its delegator (OMS 28.7)",
            });
        }
        Ok(warnings)
    }

    /// Reads the grain of a row; the caller got the row from this store's index.
    pub(crate) fn version_at(&self, snapshot: &Snapshot, row: u64) -> Result<Version, Error> {
        self.inner.version_at(snapshot, row)
    }

    /// Returns the address that a foreign name stands for, the newest if it has had several.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn resolve(
        &self,
        format: &str,
        scope: &str,
        id: &str,
    ) -> Result<Option<ContentAddress>, Error> {
        let mut addresses = self.inner.named(&self.snapshot(), [format, scope, id])?;
        Ok(addresses.pop())
    }
}

/// Returns what was found without the rows.
pub(crate) fn grains(found: Vec<Option<(u64, Grain)>>) -> Vec<Option<Grain>> {
    let grains = found.into_iter().map(|found| found.map(|(_, grain)| grain));
    grains.collect()
}

//! Lookup of records that the store, or the frame of the import, already holds.

use std::borrow::Cow;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Status, Type};
use crate::index::Family;
use crate::interchange::{
    ForeignId, Place, Record, exported_addresses, link_of, markdown, says_the_same,
};
use crate::ledger::EntryId;
use crate::store::Error;
use crate::store::import::batch::Importer;
use crate::store::import::preview::Preview;
use crate::store::import::turn::same_turn;
use crate::store::read::{beside, named_by};
use crate::store::rules::{was_deleted, was_named, was_said};
use crate::store::txn::{AdmittedFrame, Transaction};
use crate::store::view::Version;

/// The stored versions of a record.
pub(super) struct Known {
    pub(super) addresses: Vec<ContentAddress>,
    pub(super) versions: Vec<(Grain, Status)>,
}

impl Importer<'_> {
    /// Reports if the export that a file continues was never imported.
    pub(super) fn expect(&mut self, base: &ForeignId) -> Result<(), Error> {
        if self.addresses_of(base)?.is_empty() {
            // One that was imported and brought nothing new left no trace either.
            let message = format!("PAM_UNKNOWN_BASE: nothing of {} is here", base.id());
            self.findings.note(Place::File, message);
        }
        Ok(())
    }

    /// Returns the stored versions of a record, the newest last; `None` if there are none, or if
    /// the record has no identifier.
    pub(super) fn known(&self, record: &Record) -> Result<Option<Known>, Error> {
        let Some(id) = &record.foreign_id else {
            return Ok(None);
        };
        let mut known = Known {
            addresses: Vec::new(),
            versions: Vec::new(),
        };
        for address in self.addresses_of(id)? {
            let version = match self.pending(&address) {
                Some(grain) => Some((grain.clone(), Status::default())),
                None => self
                    .version(&address)?
                    .map(|(_, version)| (version.grain, version.status)),
            };
            if let Some(version) = version {
                known.addresses.push(address);
                known.versions.push(version);
            }
        }
        Ok((!known.addresses.is_empty()).then_some(known))
    }

    /// Returns the grain of this store that a record was exported from, if it still says the same: a
    /// file of this store brings nothing new. A record that was edited is a record of its own.
    pub(super) fn twin(&mut self, record: &Record) -> Result<Option<ContentAddress>, Error> {
        let Some(id) = &record.foreign_id else {
            return self.same_relation(&record.grain);
        };
        // `urn:grainstore:ADDRESS`, `urn:aimem:PRODUCER:ADDRESS`.
        let address = id.id().rsplit(':').next().and_then(|end| end.parse().ok());
        if let Some(address) = address
            && let Some((_, version)) = self.version(&address)?
            && says_the_same(&record.grain, &version.grain)
        {
            self.twins.insert(address);
            return Ok(Some(address));
        }
        match self.same_turn(id, &record.grain)? {
            Some(turn) => Ok(Some(turn)),
            None => self.twin_link(&record.grain),
        }
    }

    /// Returns the event that a hook stored when a message of an agent's log was said. A message with calls
    /// of tools says more than that.
    fn same_turn(&self, id: &ForeignId, message: &Grain) -> Result<Option<ContentAddress>, Error> {
        let is_logged = HOOKED.contains(&id.format());
        if !is_logged || message.field("content_blocks").is_some() {
            return Ok(None);
        }
        let snapshot = self.engine.snapshot();
        same_turn(&self.engine.as_of(&snapshot), message, |grain| {
            Ok(self.caller.authorize_sight(grain).is_ok())
        })
    }

    /// Returns the stored relation that says what one of a file says, if its target was here then and
    /// is not now.
    fn same_relation(&self, relation: &Grain) -> Result<Option<ContentAddress>, Error> {
        let link = link_of(relation).filter(|link| link.ends.len() == 1);
        let Some(first) = link.as_ref().and_then(|link| link.ends.first()) else {
            return Ok(None);
        };
        if self.is_here(&relation.address())? {
            return Ok(None);
        }
        let snapshot = self.engine.snapshot();
        let says = |grain: &Grain, name: &str| grain.field(name) == relation.field(name);
        for row in snapshot.pointing_at(Family::RelatedTo, first).set()?.iter() {
            let version = self.engine.as_of(&snapshot).version_at(row)?;
            if self.caller.authorize_sight(&version.grain).is_err() {
                continue;
            }
            let names = ["subject", "relation", "object", "context"];
            if names.iter().all(|name| says(&version.grain, name)) {
                return Ok(Some(version.grain.address()));
            }
        }
        Ok(None)
    }

    /// Returns the link between two grains of this store that a link of the file was exported from.
    fn twin_link(&self, link: &Grain) -> Result<Option<ContentAddress>, Error> {
        let Some(wanted) = link_of(link).filter(|_| !self.twins.is_empty()) else {
            return Ok(None);
        };
        if !wanted.ends.iter().all(|end| self.twins.contains(end)) {
            return Ok(None);
        }
        let snapshot = self.engine.snapshot();
        let Some(first) = wanted.ends.first() else {
            return Ok(None);
        };
        let rows = snapshot.pointing_at(Family::RelatedTo, first).set()?;
        for row in rows.iter() {
            let version = self.engine.as_of(&snapshot).version_at(row)?;
            if link_of(&version.grain).is_some_and(|found| found == wanted) {
                return Ok(Some(version.grain.address()));
            }
        }
        Ok(None)
    }

    pub(super) fn pending(&self, address: &ContentAddress) -> Option<&Grain> {
        let entry = self.frame.entries().get(*self.pending.get(address)?)?;
        entry.grain()
    }

    /// Returns the grains that an identifier was assigned to, each once, the newest last.
    pub(super) fn addresses_of(&self, id: &ForeignId) -> Result<Vec<ContentAddress>, Error> {
        let mut addresses = self.engine.as_of(&self.engine.snapshot()).named(id)?;
        // An owner's tree names the grains that it was exported from by their addresses.
        let exported = markdown::address_in(id).filter(|_| self.is_own);
        if let Some(address) = exported.filter(|address| !addresses.contains(address))
            && self.is_here(&address)?
        {
            addresses.insert(0, address);
        }
        for address in self.names.get(id).into_iter().flatten() {
            addresses.retain(|known| known != address);
            addresses.push(*address);
        }
        Ok(addresses)
    }

    /// Returns a stored grain that the importer sees.
    pub(super) fn version(
        &self,
        address: &ContentAddress,
    ) -> Result<Option<(EntryId, Version)>, Error> {
        let snapshot = self.engine.snapshot();
        let Some(row) = self.engine.as_of(&snapshot).locate(address)? else {
            return Ok(None);
        };
        let version = self.engine.as_of(&snapshot).version_at(row)?;
        let is_seen = self.caller.authorize_sight(&version.grain).is_ok();
        Ok(is_seen.then_some((row, version)))
    }

    /// Adds the warnings of a record that depend on other grains, here or in the file (ruling P17).
    pub(super) fn warn_beside(&mut self, place: &Place, grain: &Grain) -> Result<(), Error> {
        let named = match named_by(grain) {
            Some(named) => match self.grain(&named)? {
                Some(found) => Some(found),
                // A dry run holds it no more.
                None if self.is_of_file(&named) => return Ok(()),
                None => {
                    // It may come later in the file.
                    self.unresolved.push((place.clone(), grain.address()));
                    return Ok(());
                }
            },
            None => None,
        };
        if let Some(warning) = beside(grain, named.as_deref()) {
            self.findings.note(place.clone(), warning.to_string());
            self.warnings.note(place.clone(), warning.to_string());
        }
        Ok(())
    }

    /// Adds the warnings of records that named a grain which had not been read yet.
    pub(super) fn warn_of_unresolved(&mut self) -> Result<(), Error> {
        for (place, address) in std::mem::take(&mut self.unresolved) {
            let Some(grain) = self.grain(&address)?.map(Cow::into_owned) else {
                continue;
            };
            let named = match named_by(&grain) {
                Some(named) => self.grain(&named)?,
                None => None,
            };
            if let Some(warning) = beside(&grain, named.as_deref()) {
                self.findings.note(place.clone(), warning.to_string());
                self.warnings.note(place, warning.to_string());
            }
        }
        Ok(())
    }

    fn grain(&self, address: &ContentAddress) -> Result<Option<Cow<'_, Grain>>, Error> {
        if let Some(pending) = self.pending(address) {
            return Ok(Some(Cow::Borrowed(pending)));
        }
        let row = self.engine.as_of(&self.engine.snapshot()).locate(address)?;
        let grain = row.map(|row| self.engine.grain_at(row, address));
        Ok(grain.transpose()?.map(Cow::Owned))
    }

    pub(super) fn is_here(&self, address: &ContentAddress) -> Result<bool, Error> {
        let snapshot = self.engine.snapshot();
        Ok(self.is_of_file(address) || self.engine.as_of(&snapshot).locate(address)?.is_some())
    }

    /// Returns whether a record is of a grain that was deleted here, by its address, its
    /// identifier or the address it was exported under, and has not been put again.
    pub(super) fn was_deleted(&self, record: &Record, is_edit: bool) -> Result<bool, Error> {
        if !self.engine.state().erasures().any() {
            return Ok(false);
        }
        let address = record.grain.address();
        let mut by_name = false;
        if let Some(id) = &record.foreign_id {
            for id in self.erased_ids(id, is_edit) {
                by_name |= was_named(&self.engine.as_of(&self.engine.snapshot()), &id)?;
            }
        }
        let snapshot = self.engine.snapshot();
        if by_name || was_deleted(&self.engine.as_of(&self.engine.snapshot()), &address)? {
            return Ok(self.engine.as_of(&snapshot).locate(&address)?.is_none());
        }
        if was_said(&self.engine.as_of(&snapshot), &record.grain)? {
            return Ok(self.engine.as_of(&snapshot).locate(&address)?.is_none());
        }
        for exported in exported_addresses(record) {
            if was_deleted(&self.engine.as_of(&self.engine.snapshot()), &exported)?
                && self.engine.as_of(&snapshot).locate(&exported)?.is_none()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Importer<'_> {
    /// Ends a batch: its frame is written, or in a dry run forgotten but for its hashes.
    pub(super) fn end_batch(&mut self, txn: &mut Transaction<'_>) -> Result<(), Error> {
        if self.preview.is_some() {
            self.warn_of_unresolved()?;
        }
        let Some(preview) = &mut self.preview else {
            return self.flush(txn);
        };
        self.frame = AdmittedFrame::by(self.caller.actor);
        self.pending.drain().for_each(|(it, _)| preview.add(&it));
        self.names.drain().for_each(|(id, _)| preview.name(&id));
        Ok(())
    }

    /// Returns whether the file brought a grain that is not stored yet.
    pub(super) fn is_of_file(&self, address: &ContentAddress) -> bool {
        let is_forgotten = |preview: &Preview| preview.has(address);
        self.pending.contains_key(address) || self.preview.as_ref().is_some_and(is_forgotten)
    }

    /// Counts a record of a dry run whose identifier came in an earlier batch; returns whether it is one. The
    /// two cannot be compared, so a record that differs counts as an update.
    pub(super) fn count_again(&mut self, record: &Record) -> Result<bool, Error> {
        let (Some(preview), Some(id)) = (&self.preview, &record.foreign_id) else {
            return Ok(false);
        };
        if !preview.is_named(id) {
            return Ok(false);
        }
        let read = record.grain.address();
        if self.renamed.get(&read).is_some() || self.is_here(&read)? {
            self.summary.unchanged += 1;
        } else {
            self.summary.updated += 1;
            self.preview.iter_mut().for_each(|it| it.add(&read));
        }
        Ok(true)
    }
}

/// The ids of messages in the logs of agents whose hooks store them too.
const HOOKED: [&str; 2] = ["claude-code:message", "codex:message"];

/// Returns whether a record is the envelope of its file.
pub(super) fn is_envelope(record: &Record) -> bool {
    record.place == Place::File && record.grain.type_() == Type::State
}

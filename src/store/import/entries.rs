//! The entries of one imported record: its grain, its status and flags in the file, its foreign
//! identifier.

use crate::codec::ContentAddress;
use crate::grain::{Grain, StatusChange, Type, Verification};
use crate::interchange::{ForeignId, Place, Record};
use crate::policy::Delegation;
use crate::store::Error;
use crate::store::import::batch::{Envelope, Importer};
use crate::store::read::unites;
use crate::store::records::{AliasRecord, FlagRecord, Record as Entry, StatusRecord};
use crate::store::rules::{Admitted, Permit, was_deleted};

impl Importer<'_> {
    /// Adds a grain to the frame, with the file's statements about it.
    pub(super) fn store(
        &mut self,
        record: &Record,
        grain: &Grain,
        admitted: &Admitted,
    ) -> Result<(), Error> {
        if let Some(Envelope {
            record,
            newest,
            admitted,
        }) = self.envelope.take()
        {
            self.insert(record, newest, admitted)?;
        }
        let address = grain.address();
        self.pending.insert(address, self.frame.len());
        let delegates_to = Delegation::of(grain).map(|one| one.to().to_owned());
        let snapshot = self.engine.snapshot();
        self.frame.grain(admitted, grain.clone())?;
        // A handle that imports is the origin, as if it had put the grain.
        if self.caller.is_owner() && needs_identity(grain) {
            self.flag(FlagRecord {
                is_from_file: true,
                ..FlagRecord::of(address)
            })?;
        }
        self.frame
            .record_consequences(&self.engine.as_of(&snapshot), grain, None)?;
        let mut change = self.status_of(record, address)?;
        let gives = delegates_to.is_some() || grain.type_() == Type::Consent;
        if gives || (unites(grain) && !self.is_own) {
            // Rulings I26, I29, P10: only the owner verifies here a delegation or a consent of a file,
            // and who is who.
            self.leave_unverified(&mut change, &record.place);
        }
        if let Some(delegatee) = &delegates_to {
            let message = format!(
                "delegates to {delegatee}: it binds and opens nothing until it is verified here"
            );
            self.findings.note(record.place.clone(), message);
        }
        self.brought(address, change)?;
        if record.exportable == Some(false) {
            self.flag(FlagRecord {
                exportable: Some(false),
                ..FlagRecord::of(address)
            })?;
        }
        self.keep_vector_of(grain, address, &record.place)
    }

    /// Leaves out that the file says of a grain that it is verified, and says so.
    pub(super) fn leave_unverified(&mut self, change: &mut StatusChange, place: &Place) {
        if change.verification == Some(Verification::Verified) {
            change.verification = None;
            let message = "is verified in the file: only the owner verifies it here";
            self.findings.note(place.clone(), message.to_owned());
        }
    }

    /// Returns the status that a file gives a record, in the addresses of this store.
    pub(super) fn status_of(
        &mut self,
        record: &Record,
        address: ContentAddress,
    ) -> Result<StatusChange, Error> {
        let mut change = record.status;
        let named = match (change.superseded_by, &record.replaced_by) {
            // PAM 16: a delta may name grains of the export that it continues.
            (None, Some(id)) => self.addresses_of(id)?.last().copied(),
            _ => None,
        };
        if let Some(by) = named {
            change.lifecycle = None;
            change.superseded_by = Some(by);
        } else if let Some(by) = change.superseded_by {
            if was_deleted(&self.engine.as_of(&self.engine.snapshot()), &by)? {
                // Its address must not be stored again either.
                change.superseded_by = None;
            } else if let Some(by) = self.renamed.get(&by) {
                change.superseded_by = Some(by);
            } else if record.foreign_id.is_some() {
                // Its successor comes later in the file, possibly under another address.
                change.superseded_by = None;
                self.waiting.entry(by).or_default().push(address);
            }
        }
        if let Some(by) = change.superseded_by
            && self.closes_cycle(address, by)?
        {
            // Ruling P16: in a cycle nothing is current, so the link that would close it is none.
            change.superseded_by = None;
            change.system_valid_to = None;
            let message =
                format!("{by} replaced it, and it replaced {by}: it is stored as current");
            self.findings.note(record.place.clone(), message);
        }
        // Ruling P18: what is withdrawn from use has ended, whatever else a file says of it.
        if change.verification == Some(Verification::Retracted) && change.superseded_by.is_none() {
            change
                .system_valid_to
                .get_or_insert_with(|| self.engine.entry_time());
        }
        Ok(change)
    }

    /// Returns whether a lineage that goes on from `by` ends in the grain itself.
    pub(super) fn closes_cycle(
        &self,
        of: ContentAddress,
        by: ContentAddress,
    ) -> Result<bool, Error> {
        let snapshot = self.engine.snapshot();
        let mut at = by;
        for _ in 0..CYCLE_MAX {
            if at == of {
                return Ok(true);
            }
            let next = match (
                self.links.get(&at),
                self.engine.as_of(&snapshot).locate(&at)?,
            ) {
                (Some(next), _) => Some(next),
                (None, Some(row)) => self.engine.as_of(&snapshot).status_at(row)?.superseded_by,
                (None, None) => None,
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(false)
    }

    /// Adds the status that the file gives a grain which it brings.
    pub(super) fn brought(
        &mut self,
        of: ContentAddress,
        change: StatusChange,
    ) -> Result<(), Error> {
        if let Some(by) = change.superseded_by {
            self.links.insert(of, by);
        }
        if !change.is_empty() {
            self.frame.brought(StatusRecord::of(of, change))?;
        }
        Ok(())
    }

    /// Adds a change of a grain that was here.
    pub(super) fn change(
        &mut self,
        permit: &Permit,
        of: ContentAddress,
        change: StatusChange,
    ) -> Result<(), Error> {
        if let Some(by) = change.superseded_by {
            self.links.insert(of, by);
        }
        let status = Entry::Status(StatusRecord::of(of, change));
        Ok(self.frame.change(permit, &status)?)
    }

    pub(super) fn flag(&mut self, flag: FlagRecord) -> Result<(), Error> {
        Ok(self.frame.record(&Entry::Flag(flag))?)
    }

    /// Assigns an identifier to a grain, unless it has it already; `before` is its earlier grain in
    /// the store.
    pub(super) fn name(
        &mut self,
        of: ContentAddress,
        id: Option<ForeignId>,
        before: Option<ContentAddress>,
    ) -> Result<(), Error> {
        let Some(id) = id else { return Ok(()) };
        if !self.may_name(&id)? {
            return Ok(());
        }
        let given = self.names.get(&id).and_then(|names| names.last());
        if given.copied().or(before) == Some(of) {
            return Ok(());
        }
        let alias = AliasRecord { of, id: id.clone() };
        self.frame.record(&Entry::Alias(alias))?;
        self.names.entry(id).or_default().push(of);
        Ok(())
    }
}

impl Importer<'_> {
    /// Whether an identifier may be assigned: one of a grain that the importer does not see stays
    /// with that, or a file could take over the records of another tenant.
    fn may_name(&self, id: &ForeignId) -> Result<bool, Error> {
        if self.caller.is_owner() {
            return Ok(true);
        }
        for address in self.addresses_of(id)? {
            if self.pending(&address).is_none() && self.version(&address)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns whether a grain takes effect by the identity of its writer, which a file does not prove:
/// a delegation, a Consent, or the end of a delegated task.
fn needs_identity(grain: &Grain) -> bool {
    let is_done = matches!(grain.text("goal_state"), Some("satisfied" | "failed"));
    Delegation::of(grain).is_some()
        || grain.type_() == Type::Consent
        || (is_done && grain.derived_from().next().is_some())
}

/// How far a lineage is followed: a longer cycle of a file is found by a check of the store.
const CYCLE_MAX: usize = 1_024;

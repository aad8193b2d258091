use crate::codec::ContentAddress;
use crate::crypto::{Did, Signers, Statement};
use crate::grain::{Grain, StatusChange, Type};
use crate::ledger::Kind;
use crate::policy::{Actor, Operation};

use crate::store::commit::group::Frame;
use crate::store::commit::put::NewGrain;
use crate::store::governance::permit::Change;
use crate::store::governance::review::encode_review;
use crate::store::instance::caller::Caller;
use crate::store::instance::open::Inner;
use crate::store::records::entry::StatusEntry;
use crate::store::{Error, Store};

impl Store {
    /// Stores a grain that replaces another, and marks the other as superseded: both or neither
    /// (OMS 28.4). Returns the address of the new grain.
    ///
    /// The new grain names the old one in `derived_from`, or a Consent in `prior_consent`.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_CONFLICT` for a grain that is no longer current (ruling I17);
    /// `ERR_SCHEMA` for a new grain that does not name the old one (ruling I5);
    /// `ERR_INVALIDATION_DENIED` where the old grain's policy forbids it (OMS 23), and the refusal
    /// is recorded; else as [`Store::put`].
    pub fn supersede(
        &self,
        old: &ContentAddress,
        new: impl Into<NewGrain>,
        justification: Option<&str>,
    ) -> Result<ContentAddress, Error> {
        let caller = Caller::default();
        self.inner.supersede(old, new.into(), justification, caller)
    }
}

impl Inner {
    pub(crate) fn supersede(
        &self,
        old: &ContentAddress,
        new: NewGrain,
        justification: Option<&str>,
        caller: Caller<'_>,
    ) -> Result<ContentAddress, Error> {
        let now = self.options.clock.now();
        let new = new.finish(now, &self.options, caller)?;
        self.admit(caller, &new)?;
        let address = new.address();
        // Before the turn to write: a caller's resolver may take its time.
        let signers = self.signers(&new, old)?;
        let signers: Vec<&str> = signers.dids().into_iter().map(Did::as_str).collect();

        let mut writer = self.lead_alone();
        let snapshot = self.index.snapshot();
        let row = self.row_of(&snapshot, old)?;
        let target = caller.shown(self.version_at(&snapshot, row)?)?;
        match target.status.superseded_by {
            // Asked again after an unknown outcome: done is done.
            Some(by) if by == address => return Ok(address),
            Some(by) => return Err(Error::Conflict { address: *old, by }),
            None if !target.status.is_current() => {
                return Err(Error::NotCurrent { address: *old });
            }
            None => {}
        }
        check_names(&new, old)?;
        let author = new.text("author_did");
        self.allow(&mut writer, &snapshot, caller, author, &target.grain)?;
        self.admit_author(&mut writer, &snapshot, caller, &new)?;
        let shield = self.shield(&snapshot, row, &target, Some(&new))?;
        let change = Change {
            operation: Operation::Supersede,
            target: old,
            facts: shield.facts(Some(&new)),
            actor: Actor {
                signers: &signers,
                justification,
                is_job: caller.is_job(),
                ..Actor::default()
            },
        };
        let mut frame = Frame::by(caller.actor);
        let reasons = [justification, new.text("supersession_justification")];
        let operation = Operation::Supersede;
        let review = self.demands(&mut writer, &frame, operation, &target.grain, reasons)?;
        self.permit(&mut writer, &change, &mut frame)?;
        if review && !frame.has(Kind::Review) {
            frame.record(Kind::Review, encode_review(old, operation.name())?);
        }
        if let Some(rule) = self.refuse_terms(&snapshot, &frame, &new)? {
            self.deny(&mut writer, caller.actor, old, operation.name(), rule)?;
        }
        let is_new = self.locate(&snapshot, &address)?.is_none();
        if is_new {
            self.refuse_deleted(&address, false)?;
            let judged = self.refuse_unfit(&new);
            self.recorded(&mut writer, caller, judged)?;
            frame.grain(new.clone())?;
            // The status entry below joins them.
            self.record_consequences(&snapshot, &mut frame, &new, None)?;
        }
        let status = StatusEntry {
            of: *old,
            change: StatusChange {
                superseded_by: Some(address),
                system_valid_to: Some(now.max(writer.last)),
                ..StatusChange::default()
            },
            justification: justification.map(str::to_owned),
            is_imported: false,
            instead_of: None,
        };
        frame.record(Kind::Status, status.encode()?);
        self.commit(&mut writer, &frame)?;
        if is_new {
            self.inherit(&target.grain, address);
        }
        Ok(address)
    }
}

/// OMS 23.1, ruling I5: a superseding grain says what it supersedes.
fn check_names(new: &Grain, old: &ContentAddress) -> Result<(), Error> {
    // A grain cannot replace itself; it could not name itself either.
    if names(new, old) && new.address() != *old {
        Ok(())
    } else {
        Err(Error::NotDerived { address: *old })
    }
}

/// Returns whether a grain names another as what it may replace.
pub(crate) fn names(new: &Grain, old: &ContentAddress) -> bool {
    new.derived_from().any(|parent| parent == *old)
        || (new.type_() == Type::Consent && new.link("prior_consent") == Some(*old))
}

impl Inner {
    /// Returns whose signatures in `supersession_auth` agree that `new` replaces `old` in this very
    /// store (ruling I10); those that do not verify count for nothing. Unless the caller brought a
    /// resolver, only a did:key can be checked.
    pub(crate) fn signers(&self, new: &Grain, old: &ContentAddress) -> Result<Signers, Error> {
        if new.field("supersession_auth").is_none() {
            return Ok(Signers::default());
        }
        let store_id = *self.manifest.store_id.as_bytes();
        let statement = Statement::supersede(new, *old, store_id)?;
        Ok(statement.signers_in(new, &*self.options.resolver))
    }

    /// Reads the grain of a row that the index says has this address.
    pub(crate) fn grain_at(&self, row: u64, address: &ContentAddress) -> Result<Grain, Error> {
        let blob = self.ledger.read_as(row, address.as_bytes())?;
        Ok(Grain::from_verified(blob, *address)?)
    }
}

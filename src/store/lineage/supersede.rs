//! Supersession: a new grain is stored and the old one ends, in one frame (OMS 28.4).

use crate::codec::ContentAddress;
use crate::grain::{Grain, StatusChange};
use crate::index::Snapshot;
use crate::ledger::{EntryId, Kind};
use crate::policy::{Actor, Operation};
use crate::store::commit::NewGrain;
use crate::store::commit::stronger_signature;
use crate::store::instance::{Caller, Inner, Writer};
use crate::store::lineage::change::Change;
use crate::store::records::{Frame, Record, StatusRecord};
use crate::store::rules::record_consequences;
use crate::store::rules::{Proposed, Way, admit, authorize_successor};
use crate::store::view::{Version, names};
use crate::store::{Error, Store};

impl Store {
    /// Stores a grain that replaces another, and marks the other as superseded, atomically (OMS
    /// 28.4). Returns the address of the new grain.
    ///
    /// The new grain names the old one in `derived_from`, or a Consent in `prior_consent`.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_CONFLICT` for a grain that is no longer current (ruling I17);
    /// `ERR_SCHEMA` for a new grain that does not name the old one (ruling I5);
    /// `ERR_INVALIDATION_DENIED` where the old grain's policy forbids it (OMS 23), and the refusal
    /// is recorded; otherwise as [`Store::put`].
    pub fn supersede(
        &self,
        old: &ContentAddress,
        new: impl Into<NewGrain>,
        justification: Option<&str>,
    ) -> Result<ContentAddress, Error> {
        let caller = self.caller()?;
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
        let now = self.now();
        let new = new.finish(now, self.options(), caller)?;
        self.authorize_put(caller, &new)?;
        let address = new.address();
        // Before the right to write is taken, since a caller's resolver may be slow.
        let signers = self.signers(&new, old)?;

        let mut writer = self.exclusive()?;
        let snapshot = self.snapshot();
        let row = self.as_of(&snapshot).row_of(old)?;
        let target = self.as_of(&snapshot).version_at(row)?;
        caller.authorize_sight(&target.grain)?;
        match target.status.superseded_by {
            // A retry after an unknown outcome: it is done already.
            Some(by) if by == address => return Ok(address),
            Some(by) => return Err(Error::Conflict { address: *old, by }),
            None if !target.status.is_current() => {
                return Err(Error::NotCurrent { address: *old });
            }
            None => {}
        }
        check_names(&new, old)?;
        let author = new.text("author_did");
        self.authorize_change(&mut writer, &snapshot, caller, author, &target.grain)?;
        let is_new = self.as_of(&snapshot).locate(&address)?.is_none();
        let mut frame = Frame::by(caller.actor);
        self.admit_successor(&mut writer, &snapshot, caller, &new, is_new, (row, &target))?;
        let judged = authorize_successor(self, &signers.voices(), &new, &target.grain);
        self.recorded(&mut writer, caller, judged)?;
        let protection = self
            .as_of(&snapshot)
            .effective_protection(row, &target, Some(&new))?;
        let voices = self.voices(&signers, &protection);
        let change = Change {
            operation: Operation::Supersede,
            target: old,
            facts: protection.facts(Some(&new)),
            actor: Actor {
                signers: &voices,
                justification,
                is_job: caller.is_job(),
                ..Actor::default()
            },
        };
        let reasons = [justification, new.text("supersession_justification")];
        let operation = Operation::Supersede;
        let is_reviewed =
            self.authorize_reason(&mut writer, caller, operation, &target.grain, reasons)?;
        self.authorize(&mut writer, &change, &mut frame)?;
        if is_reviewed && !frame.has(Kind::Review) {
            frame.review(old, operation)?;
        }
        self.add_successor(&mut writer, &snapshot, caller, &mut frame, &new, is_new)?;
        let change = StatusChange {
            superseded_by: Some(address),
            system_valid_to: Some(self.entry_time()),
            ..StatusChange::default()
        };
        let status = StatusRecord::of(*old, change).because(justification);
        frame.record(&Record::Status(status))?;
        self.commit(&mut writer, &frame)?;
        if is_new {
            self.inherit(&target.grain, address);
        }
        Ok(address)
    }

    /// Asks a superseding grain the rules of its way in; the refusal is recorded.
    fn admit_successor(
        &self,
        writer: &mut Writer,
        snapshot: &Snapshot,
        caller: Caller<'_>,
        new: &Grain,
        is_new: bool,
        (row, target): (EntryId, &Version),
    ) -> Result<(), Error> {
        let proposed = Proposed {
            grain: new,
            way: match is_new {
                true => Way::Supersede,
                false => Way::SupersedeByStored,
            },
            capability: caller.capability.map(|it| &**it),
            actor: caller.actor,
            is_again: false,
            non_superseding: &[],
            replaces: Some((row, target)),
        };
        match admit(
            &self.as_of(snapshot),
            &Frame::default(),
            &|_| None,
            &proposed,
        ) {
            Err(Error::Denied { rule, .. }) => {
                let (old, operation) = (target.grain.address(), Operation::Supersede.name());
                self.deny(writer, caller.actor, &old, operation, rule)
            }
            judged => self.recorded(writer, caller, judged.map(|_| ())),
        }
    }

    /// Adds a superseding grain to the frame of its supersession, or its signature if the grain is
    /// stored already.
    fn add_successor(
        &self,
        writer: &mut Writer,
        snapshot: &Snapshot,
        caller: Caller<'_>,
        frame: &mut Frame,
        new: &Grain,
        is_new: bool,
    ) -> Result<(), Error> {
        if !is_new {
            return match stronger_signature(&self.as_of(snapshot), None, new) {
                Ok(signature) => Ok(signature.iter().try_for_each(|it| frame.record(it))?),
                Err(error) => self.recorded(writer, caller, Err(error)),
            };
        }
        frame.grain(new.clone())?;
        // The status entry of the supersession joins them.
        record_consequences(&self.as_of(snapshot), frame, new, None)
    }
}

/// OMS 23.1, ruling I5: a superseding grain names the superseded one.
fn check_names(new: &Grain, old: &ContentAddress) -> Result<(), Error> {
    // A grain cannot replace itself, as it cannot name its own address.
    if names(new, old) && new.address() != *old {
        Ok(())
    } else {
        Err(Error::NotDerived { address: *old })
    }
}

//! Statements of a file about grains that are here: that they ended, were contradicted or verified.
//!
//! A copy of the owner's own corrects this store as far as policy permits (ruling I28). Of any other
//! file the same is counted, and has no effect (ruling I18).

use crate::codec::ContentAddress;
use crate::grain::{Grain, Lifecycle, Status, StatusChange, Type, Verification};
use crate::interchange::{Place, Record};
use crate::ledger::EntryId;
use crate::policy::{Actor, Delegation, Operation};
use crate::store::Error;
use crate::store::import::batch::Importer;
use crate::store::lineage::Change;
use crate::store::rules::{Deed, Guard, Permit, required_reason, was_deleted};
use crate::store::txn::Transaction;
use crate::store::view::Version;

/// A statement of the file about a grain that is here.
pub(super) struct Correction {
    place: Place,
    of: ContentAddress,
    said: StatusChange,
}

impl Importer<'_> {
    /// Notes what a record says about the grain of its address, which was here before: it is decided
    /// when all records are stored, since its successor may come later in the file.
    pub(super) fn note_correction(&mut self, record: &Record) -> Result<(), Error> {
        let (of, said) = (record.grain.address(), record.status);
        // An actor's file corrects nothing, and must not tell what grains of others are here.
        if said.is_empty() || !self.caller.is_owner() {
            return Ok(());
        }
        let Some((_, version)) = self.version(&of)? else {
            return Ok(());
        };
        if !needed(&version.status, &said).is_empty() {
            self.corrections.push(Correction {
                place: record.place.clone(),
                of,
                said,
            });
        }
        Ok(())
    }

    /// Carries out what was noted.
    pub(super) fn correct(&mut self, txn: &mut Transaction<'_>) -> Result<(), Error> {
        for Correction { place, of, said } in std::mem::take(&mut self.corrections) {
            let said = StatusChange {
                superseded_by: self.successor(said.superseded_by)?,
                ..said
            };
            let Some((row, version)) = self.version(&of)? else {
                continue;
            };
            let mut change = needed(&version.status, &said);
            let closes_cycle = match change.superseded_by {
                Some(by) => self.closes_cycle(of, by)?,
                None => false,
            };
            let is_ended = change.superseded_by.is_some() || change.system_valid_to.is_some();
            if !self.is_own {
                // Rulings I4, I18: a file proves nothing of its writer. It must not be silent either;
                // of a cycle the first import has told (P16).
                if version.status.is_current() && is_ended && !closes_cycle {
                    self.summary.unapplied.push((place, of));
                }
                continue;
            }
            if change.verification == Some(Verification::Retracted) && !is_ended {
                // Ruling P18: a grain that is withdrawn from use has ended.
                let is_open = version.status.is_current();
                change.system_valid_to = is_open.then(|| self.engine.entry_time());
            }
            if Delegation::of(&version.grain).is_some() || version.grain.type_() == Type::Consent {
                // Rulings I26, P10: only the owner verifies them, here.
                self.leave_unverified(&mut change, &place);
            }
            let is_fork = change.superseded_by.is_some() && version.status.superseded_by.is_some();
            if is_fork || closes_cycle {
                self.summary.unapplied.push((place.clone(), of));
            }
            if closes_cycle {
                continue;
            }
            if change.is_empty() {
                continue;
            }
            let Some(permit) = self.may_correct(txn, (row, &version), &change, &place)? else {
                continue;
            };
            self.change(&permit, of, change)?;
            self.summary.corrected += 1;
            // The next decision reads what this one changed.
            self.flush(txn)?;
        }
        Ok(())
    }

    /// Returns the address under which a successor is stored here; `None` for one that was deleted.
    fn successor(&self, by: Option<ContentAddress>) -> Result<Option<ContentAddress>, Error> {
        let by = by.map(|by| self.renamed.get(&by).unwrap_or(by));
        match by {
            Some(by) if was_deleted(&self.engine.as_of(&self.engine.snapshot()), &by)? => Ok(None),
            by => Ok(by),
        }
    }

    /// Decides a correction as if its operation were asked for here; a refusal is in the summary,
    /// and there is no permit.
    fn may_correct(
        &mut self,
        txn: &mut Transaction<'_>,
        (row, version): (EntryId, &Version),
        change: &StatusChange,
        place: &Place,
    ) -> Result<Option<Permit>, Error> {
        let ends = version.status.is_current()
            && (change.superseded_by.is_some() || change.system_valid_to.is_some());
        let counts_against = matches!(
            change.verification,
            Some(Verification::Contested | Verification::Retracted)
        );
        if !ends && !counts_against {
            return Ok(Some(Permit::unasked(Deed::FilesEnding)));
        }
        let new = match change.superseded_by {
            Some(by) => self.version(&by)?.map(|(_, version)| version.grain),
            None => None,
        };
        let decided = match &new {
            Some(new) => self.authorize_replacement(txn, row, version, new),
            None => self.authorize_ending(txn, row, version),
        };
        match decided {
            Ok(permit) => Ok(Some(permit)),
            Err(error) => {
                let stands = version.grain.address();
                self.keep_earlier(place.clone(), stands, error)?;
                let fork = new.map(|new| ([stands, new.address()], place.clone()));
                self.forks.extend(fork);
                Ok(None)
            }
        }
    }

    /// Authorizes the end of a grain that nothing replaces.
    fn authorize_ending(
        &self,
        txn: &mut Transaction<'_>,
        row: EntryId,
        target: &Version,
    ) -> Result<Permit, Error> {
        let mut permit = Permit::of(Deed::FilesEnding);
        // Left out of the statement before: see `correct`.
        permit.asks(Guard::OwnersJudgement);
        let snapshot = self.engine.snapshot();
        let no_successor: Option<&Grain> = None;
        let protection =
            self.engine
                .as_of(&snapshot)
                .effective_protection(row, target, no_successor)?;
        let address = target.grain.address();
        let change = Change {
            operation: Operation::Contradict,
            target: &address,
            facts: protection.facts(None),
            actor: Actor::default(),
        };
        let is_reviewed =
            permit.asks(Guard::Reason) && required_reason(self.engine, &target.grain, &[None])?;
        if permit.asks(Guard::Policy) {
            self.authorize_here(txn, &change, is_reviewed)?;
        }
        Ok(permit)
    }
}

/// Returns what is missing here of what a copy says. Of two judgements the graver stands,
/// of two endings the earlier, of two successors the smaller address, so that two stores that tell each
/// other what they know end equal, in either order.
fn needed(here: &Status, said: &StatusChange) -> StatusChange {
    let mut there = Status::default();
    there.apply(said);
    let successor = said.superseded_by;
    let ended = said.system_valid_to;
    StatusChange {
        superseded_by: successor.filter(|by| here.superseded_by.is_none_or(|here| *by < here)),
        system_valid_to: ended.filter(|to| here.system_valid_to.is_none_or(|here| *to < here)),
        verification: Some(there.verification)
            .filter(|said| gravity(*said) > gravity(here.verification)),
        contradicted: said.contradicted.filter(|said| *said && !here.contradicted),
        lifecycle: said
            .lifecycle
            .filter(|said| stage(*said) > stage(here.lifecycle)),
    }
}

/// Returns how far a judgement counts against a grain. No file says when it was made, so none is later.
const fn gravity(judgement: Verification) -> u8 {
    match judgement {
        Verification::Unverified => 0,
        Verification::Verified => 1,
        Verification::Contested => 2,
        Verification::Retracted => 3,
    }
}

const fn stage(lifecycle: Lifecycle) -> u8 {
    match lifecycle {
        Lifecycle::Active => 0,
        Lifecycle::Deprecated => 1,
        Lifecycle::Archived => 2,
        Lifecycle::Superseded => 3,
    }
}

use crate::codec::ContentAddress;
use crate::crypto::{Did, Statement};
use crate::grain::{Status, StatusChange, Verification};
use crate::ledger::Kind;
use crate::policy::{self, Actor, Facts, Operation, Rule, Verdict};

use crate::store::commit::group::{Frame, What, Writer};
use crate::store::governance::justification::Grounds;
use crate::store::governance::review::encode_review;
use crate::store::instance::caller::Caller;
use crate::store::instance::open::Inner;
use crate::store::records::entry::{StatusEntry, encode_denial};
use crate::store::{Error, Store};

/// A change that policy must permit.
pub(crate) struct Change<'a> {
    pub(crate) operation: Operation,
    pub(crate) target: &'a ContentAddress,
    pub(crate) facts: Facts<'a>,
    pub(crate) actor: Actor<'a>,
}

/// What is to be done to a grain, and on what grounds.
struct Deed<'a> {
    operation: Operation,
    /// What must be signed to agree to just this.
    statement: Statement,
    grounds: Grounds<'a>,
}

impl Store {
    /// Marks a grain as contradicted: it is contested and no longer current (OMS 28.3, ruling I1).
    /// Doing so again changes nothing.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_INVALIDATION_DENIED` where a policy forbids it, just as it forbids a
    /// supersession (OMS 23.7), and the refusal is recorded; storage errors.
    pub fn contradict<'a>(
        &self,
        address: &ContentAddress,
        grounds: impl Into<Grounds<'a>>,
    ) -> Result<(), Error> {
        self.inner
            .contradict(address, grounds.into(), Caller::default())
    }

    /// Records how far a grain has been verified (OMS 6.1). Saying the same again changes nothing.
    ///
    /// Contested and retracted count against a grain, so its policy is asked (OMS 23.1).
    ///
    /// # Errors
    /// As [`Store::contradict`].
    pub fn set_verification<'a>(
        &self,
        address: &ContentAddress,
        verification: Verification,
        grounds: impl Into<Grounds<'a>>,
    ) -> Result<(), Error> {
        let caller = Caller::default();
        self.inner
            .set_verification(address, verification, grounds.into(), caller)
    }
}

impl Inner {
    pub(crate) fn contradict(
        &self,
        address: &ContentAddress,
        grounds: Grounds<'_>,
        caller: Caller<'_>,
    ) -> Result<(), Error> {
        let change = |status: &Status, writer: &Writer| {
            let now = self.options.clock.now().max(writer.last);
            (!status.contradicted).then_some(StatusChange {
                contradicted: Some(true),
                verification: Some(Verification::Contested),
                // It may have ended before, and ended then.
                system_valid_to: status.system_valid_to.is_none().then_some(now),
                ..StatusChange::default()
            })
        };
        let deed = Deed {
            operation: Operation::Contradict,
            statement: Statement::contradict(*address, *self.manifest.store_id.as_bytes())?,
            grounds,
        };
        self.change(&deed, address, caller, change)
    }

    pub(crate) fn set_verification(
        &self,
        address: &ContentAddress,
        verification: Verification,
        grounds: Grounds<'_>,
        caller: Caller<'_>,
    ) -> Result<(), Error> {
        let change = |status: &Status, _: &Writer| {
            (status.verification != verification).then_some(StatusChange {
                verification: Some(verification),
                ..StatusChange::default()
            })
        };
        let store_id = *self.manifest.store_id.as_bytes();
        let deed = Deed {
            operation: Operation::Verify,
            statement: Statement::verify(*address, verification, store_id)?,
            grounds,
        };
        self.change(&deed, address, caller, change)
    }

    fn change(
        &self,
        deed: &Deed<'_>,
        target: &ContentAddress,
        caller: Caller<'_>,
        change: impl FnOnce(&Status, &Writer) -> Option<StatusChange>,
    ) -> Result<(), Error> {
        // Before the turn to write: a caller's resolver may take its time.
        let signatures = deed.grounds.signatures.iter().map(Vec::as_slice);
        let signers = deed.statement.signers(signatures, &*self.options.resolver);
        let signers: Vec<&str> = signers.dids().into_iter().map(Did::as_str).collect();
        let justification = deed.grounds.justification;
        let mut writer = self.lead_alone();
        let snapshot = self.index.snapshot();
        let row = self.row_of(&snapshot, target)?;
        let version = caller.shown(self.version_at(&snapshot, row)?)?;
        self.allow(&mut writer, &snapshot, caller, None, &version.grain)?;
        let Some(change) = change(&version.status, &writer) else {
            return Ok(());
        };
        let confirms = matches!(
            change.verification,
            Some(Verification::Verified | Verification::Unverified)
        );
        // A retraction that could be taken back by anybody would protect nothing.
        let reopens = version.status.verification != Verification::Unverified;
        let mut frame = Frame::by(caller.actor);
        if !confirms || reopens {
            let shield = self.shield(&snapshot, row, &version, None)?;
            let asked = Change {
                operation: deed.operation,
                target,
                facts: shield.facts(None),
                actor: Actor {
                    signers: &signers,
                    justification,
                    is_job: caller.is_job(),
                    ..Actor::default()
                },
            };
            let (operation, reasons) = (deed.operation, [justification, None]);
            let review = self.demands(&mut writer, &frame, operation, &version.grain, reasons)?;
            self.permit(&mut writer, &asked, &mut frame)?;
            if review && !frame.has(Kind::Review) {
                frame.record(Kind::Review, encode_review(target, operation.name())?);
            }
        }
        let entry = StatusEntry {
            of: *target,
            change,
            justification: justification.map(str::to_owned),
            is_imported: false,
            instead_of: None,
        };
        frame.record(Kind::Status, entry.encode()?);
        self.commit(&mut writer, &frame)?;
        Ok(())
    }

    /// Asks the policy. A denial becomes an entry of its own; a review item goes into the frame of
    /// what is permitted.
    pub(crate) fn permit(
        &self,
        writer: &mut Writer,
        change: &Change<'_>,
        frame: &mut Frame,
    ) -> Result<(), Error> {
        let operation = change.operation.name();
        match self.verdict(writer, change) {
            Verdict::Allow => Ok(()),
            Verdict::Review => {
                frame.record(Kind::Review, encode_review(change.target, operation)?);
                Ok(())
            }
            Verdict::Deny(rule) => self.deny(writer, frame.actor, change.target, operation, rule),
        }
    }

    /// Refuses, and records that it did.
    pub(crate) fn deny(
        &self,
        writer: &mut Writer,
        actor: Option<u64>,
        target: &ContentAddress,
        operation: &str,
        rule: Rule,
    ) -> Result<(), Error> {
        let mut denial = Frame::default();
        denial.deny_about(target, operation, rule, actor)?;
        self.commit(writer, &denial)?;
        Err(Error::Denied {
            address: *target,
            rule,
        })
    }

    /// Asks the policy what it would say, and records nothing.
    pub(crate) fn would_permit(&self, writer: &Writer, change: &Change<'_>) -> Result<(), Error> {
        match self.verdict(writer, change) {
            Verdict::Allow | Verdict::Review => Ok(()),
            Verdict::Deny(rule) => Err(Error::Denied {
                address: *change.target,
                rule,
            }),
        }
    }

    pub(crate) fn verdict(&self, writer: &Writer, change: &Change<'_>) -> Verdict {
        let moment = writer.floor.moment(self.options.clock.now());
        policy::decide(change.operation, &change.facts, &change.actor, moment)
    }
}

impl Frame {
    /// Records that something was refused to an actor, about a grain that has this address.
    pub(crate) fn deny_about(
        &mut self,
        target: &ContentAddress,
        operation: &str,
        rule: Rule,
        actor: Option<u64>,
    ) -> Result<(), Error> {
        let body = encode_denial(target, operation, rule.name())?;
        self.push(What::Record(Kind::Denial, body), actor);
        Ok(())
    }
}

//! Refusals of a transaction, each of which is recorded in a frame of its own.

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::policy::{DelegatedOperation, Operation, Rule};
use crate::store::Error;
use crate::store::engine::{Caller, Engine};
use crate::store::records::{DenialRecord, Record};
use crate::store::rules::required_reason;

use super::frame::AdmittedFrame;
use super::transaction::Transaction;

/// Refuses a new grain that a handle must not write, and records the attempt.
///
/// # Errors
/// `ERR_ACCESS_DENIED`; storage errors.
pub(crate) fn authorize_put(
    engine: &Engine,
    caller: Caller<'_>,
    grain: &Grain,
) -> Result<(), Error> {
    caller.admits(grain).or_else(|rule| {
        let denial = DenialRecord::new(None, "put", rule.name());
        Transaction::begin(engine, caller)?.refuse(denial)?;
        Err(Error::Refused { rule })
    })
}

impl Transaction<'_> {
    /// Records a refusal.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn refuse(&mut self, denial: DenialRecord) -> Result<(), Error> {
        let mut frame = AdmittedFrame::by(self.caller().actor);
        frame.record(&Record::Denial(denial))?;
        self.append(&frame)?;
        Ok(())
    }

    /// Refuses an operation on a grain by a rule, and records that.
    ///
    /// # Errors
    /// Always: the refusal; storage errors.
    pub(crate) fn deny(
        &mut self,
        target: &ContentAddress,
        operation: Operation,
        rule: Rule,
    ) -> Result<(), Error> {
        self.refuse(DenialRecord::new(
            Some(*target),
            operation.name(),
            rule.name(),
        ))?;
        Err(Error::Denied {
            address: *target,
            rule,
        })
    }

    /// Returns a decision about a new grain, and records it if it is a refusal.
    ///
    /// # Errors
    /// As the decision; storage errors.
    pub(crate) fn recorded<T>(&mut self, judged: Result<T, Error>) -> Result<T, Error> {
        self.recorded_as(judged.map_err(|error| (error, "put")))
    }

    /// As [`Transaction::recorded`], for a refusal with the name of the operation that it refuses.
    ///
    /// # Errors
    /// As the decision; storage errors.
    pub(crate) fn recorded_as<T>(
        &mut self,
        judged: Result<T, (Error, &'static str)>,
    ) -> Result<T, Error> {
        match judged {
            Ok(value) => Ok(value),
            Err((error, operation)) => {
                if let Some(denial) = denial(&error, operation) {
                    self.refuse(denial)?;
                }
                Err(error)
            }
        }
    }

    /// Refuses a change to a stored grain where the caller only reads or the author's delegations
    /// do not cover the grain; the refusal is recorded.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`; storage errors.
    pub(crate) fn authorize_change(
        &mut self,
        author: Option<&str>,
        target: &Grain,
    ) -> Result<(), Error> {
        let caller = self.caller();
        let judged = match (caller.may_write(), author.or(caller.author())) {
            (Ok(()), Some(author)) => {
                let deed = DelegatedOperation::touch(target);
                let now = self.entry_time();
                self.view().authority(author, &deed, now)?
            }
            (judged, _) => judged,
        };
        judged.or_else(|rule| {
            self.refuse(DenialRecord::new(None, "change", rule.name()))?;
            Err(Error::Refused { rule })
        })
    }

    /// As [`required_reason`], and records the refusal.
    ///
    /// # Errors
    /// `ERR_POLICY_DENIED`; storage errors.
    pub(crate) fn authorize_reason(
        &mut self,
        operation: Operation,
        target: &Grain,
        reasons: [Option<&str>; 2],
    ) -> Result<bool, Error> {
        let asked = required_reason(self, target, &reasons);
        if let Err(Error::Violation(violation)) = &asked {
            let (of, operation) = (Some(target.address()), operation.name());
            self.refuse(DenialRecord::new(of, operation, &violation.name()))?;
        }
        asked
    }
}

/// Returns the record of a refusal, of the kinds that the ledger records.
pub(crate) fn denial(error: &Error, operation: &str) -> Option<DenialRecord> {
    Some(match error {
        Error::Denied { address, rule } => {
            DenialRecord::new(Some(*address), operation, rule.name())
        }
        Error::Refused { rule } => DenialRecord::new(None, operation, rule.name()),
        Error::Violation(violation) => DenialRecord::new(None, operation, &violation.name()),
        Error::Untrusted { .. } => DenialRecord::new(None, operation, "untrusted"),
        Error::ImplicitSupersession { address } => {
            DenialRecord::new(Some(*address), operation, "implied_supersession")
        }
        _ => return None,
    })
}

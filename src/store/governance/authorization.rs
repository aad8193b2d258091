//! Authorization of writes and changes: by the handle, the author's delegations, the trust rules
//! and the regimes. Refusals are recorded.

use crate::grain::Grain;
use crate::index::Snapshot;
use crate::policy::{DelegatedOperation, Operation};
use crate::store::Error;
use crate::store::instance::{Caller, Inner, Writer};
use crate::store::records::DenialRecord;
use crate::store::rules::required_reason;

impl Inner {
    /// Refuses a new grain that a handle must not write, and records the attempt.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`; storage errors.
    pub(crate) fn authorize_put(&self, caller: Caller<'_>, grain: &Grain) -> Result<(), Error> {
        caller.admits(grain).or_else(|rule| {
            let denial = DenialRecord::new(None, "put", rule.name());
            self.record_denial(&mut *self.exclusive()?, caller.actor, denial)?;
            Err(Error::Refused { rule })
        })
    }

    /// Refuses a change to a stored grain where the caller only reads or the author's delegations
    /// do not cover the grain; the refusal is recorded.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`; storage errors.
    pub(crate) fn authorize_change(
        &self,
        writer: &mut Writer,
        snapshot: &Snapshot,
        caller: Caller<'_>,
        author: Option<&str>,
        target: &Grain,
    ) -> Result<(), Error> {
        let judged = match (caller.may_write(), author.or(caller.author())) {
            (Ok(()), Some(author)) => {
                let deed = DelegatedOperation::touch(target);
                self.as_of(snapshot)
                    .authority(author, &deed, self.entry_time())?
            }
            (judged, _) => judged,
        };
        judged.or_else(|rule| {
            let denial = DenialRecord::new(None, "change", rule.name());
            self.record_denial(writer, caller.actor, denial)?;
            Err(Error::Refused { rule })
        })
    }

    /// Returns a decision about a new grain, and records it if it is a refusal.
    ///
    /// # Errors
    /// As the decision; storage errors.
    pub(crate) fn recorded(
        &self,
        writer: &mut Writer,
        caller: Caller<'_>,
        judged: Result<(), Error>,
    ) -> Result<(), Error> {
        if let Err(error) = &judged
            && let Some(denial) = error.denial("put")
        {
            self.record_denial(writer, caller.actor, denial)?;
        }
        judged
    }

    /// As [`Inner::required_reason`], and records the refusal.
    ///
    /// # Errors
    /// `ERR_POLICY_DENIED`; storage errors.
    pub(crate) fn authorize_reason(
        &self,
        writer: &mut Writer,
        caller: Caller<'_>,
        operation: Operation,
        target: &Grain,
        reasons: [Option<&str>; 2],
    ) -> Result<bool, Error> {
        let asked = required_reason(self, target, &reasons);
        if let Err(Error::Violation(violation)) = &asked {
            let (of, operation) = (Some(target.address()), operation.name());
            let denial = DenialRecord::new(of, operation, &violation.name());
            self.record_denial(writer, caller.actor, denial)?;
        }
        asked
    }
}

impl Error {
    /// Returns the record of a refusal, of the kinds that the ledger records.
    pub(crate) fn denial(&self, operation: &str) -> Option<DenialRecord> {
        Some(match self {
            Self::Denied { address, rule } => {
                DenialRecord::new(Some(*address), operation, rule.name())
            }
            Self::Refused { rule } => DenialRecord::new(None, operation, rule.name()),
            Self::Violation(violation) => DenialRecord::new(None, operation, &violation.name()),
            Self::Untrusted { .. } => DenialRecord::new(None, operation, "untrusted"),
            Self::ImplicitSupersession { address } => {
                DenialRecord::new(Some(*address), operation, "implied_supersession")
            }
            _ => return None,
        })
    }
}

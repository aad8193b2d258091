//! A change that policy must permit: the decision, and the record of a denial (OMS 23).

use crate::codec::{self, ContentAddress};
use crate::ledger::EntryId;
use crate::policy::{self, Actor, Facts, Operation, Rule, Verdict};
use crate::store::Error;
use crate::store::instance::{Inner, Writer};
use crate::store::records::{DenialRecord, Frame, Record, ReviewRecord};

/// A change that policy must permit.
pub(crate) struct Change<'a> {
    pub(crate) operation: Operation,
    pub(crate) target: &'a ContentAddress,
    pub(crate) facts: Facts<'a>,
    pub(crate) actor: Actor<'a>,
}

impl Inner {
    /// Asks the policy. A denial becomes an entry of its own; a review goes into the frame of the
    /// permitted change.
    ///
    /// # Errors
    /// `ERR_INVALIDATION_DENIED` and the like; storage errors.
    pub(crate) fn authorize(
        &self,
        writer: &mut Writer,
        change: &Change<'_>,
        frame: &mut Frame,
    ) -> Result<(), Error> {
        match self.verdict(change) {
            Verdict::Allow => Ok(()),
            Verdict::Review => Ok(frame.review(change.target, change.operation)?),
            Verdict::Deny(rule) => {
                let operation = change.operation.name();
                self.deny(writer, frame.actor(), change.target, operation, rule)
            }
        }
    }

    /// Refuses, and records the refusal.
    ///
    /// # Errors
    /// Always: the refusal; storage errors.
    pub(crate) fn deny(
        &self,
        writer: &mut Writer,
        actor: Option<EntryId>,
        target: &ContentAddress,
        operation: &str,
        rule: Rule,
    ) -> Result<(), Error> {
        let denial = DenialRecord::new(Some(*target), operation, rule.name());
        self.record_denial(writer, actor, denial)?;
        Err(Error::Denied {
            address: *target,
            rule,
        })
    }

    /// Records a refusal in a frame of its own.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn record_denial(
        &self,
        writer: &mut Writer,
        actor: Option<EntryId>,
        denial: DenialRecord,
    ) -> Result<(), Error> {
        self.commit(writer, &Frame::of(actor, &Record::Denial(denial))?)?;
        Ok(())
    }

    /// Returns the decision of the policy without recording it.
    ///
    /// # Errors
    /// As [`Inner::authorize`].
    #[cfg(feature = "interchange")]
    pub(crate) fn preview_authorize(&self, change: &Change<'_>) -> Result<(), Error> {
        match self.verdict(change) {
            Verdict::Allow | Verdict::Review => Ok(()),
            Verdict::Deny(rule) => Err(Error::Denied {
                address: *change.target,
                rule,
            }),
        }
    }

    pub(crate) fn verdict(&self, change: &Change<'_>) -> Verdict {
        policy::decide(
            change.operation,
            &change.facts,
            &change.actor,
            self.moment(),
        )
    }
}

impl Frame {
    /// Opens a review of a change by a person.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn review(
        &mut self,
        target: &ContentAddress,
        operation: Operation,
    ) -> Result<(), codec::Error> {
        let review = ReviewRecord::opened(*target, operation.name());
        self.record(&Record::Review(review))
    }
}

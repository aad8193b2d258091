//! A change that policy must permit: the decision, and the record of a denial (OMS 23).

use crate::codec::ContentAddress;
use crate::policy::{self, Actor, Facts, Operation, Verdict};
use crate::store::Error;
use crate::store::engine::Engine;
use crate::store::txn::Transaction;

/// A change that policy must permit.
pub(crate) struct Change<'a> {
    pub(crate) operation: Operation,
    pub(crate) target: &'a ContentAddress,
    pub(crate) facts: Facts<'a>,
    pub(crate) actor: Actor<'a>,
}

impl Change<'_> {
    /// Asks the policy. A denial becomes an entry of its own; a review goes into the frame of the
    /// permitted change, also that of a regime (`is_reviewed`).
    ///
    /// # Errors
    /// `ERR_INVALIDATION_DENIED` and the like; storage errors.
    pub(crate) fn authorize(
        &self,
        txn: &mut Transaction<'_>,
        is_reviewed: bool,
    ) -> Result<(), Error> {
        match self.verdict(txn) {
            Verdict::Deny(rule) => txn.deny(self.target, self.operation, rule),
            Verdict::Allow if !is_reviewed => Ok(()),
            Verdict::Allow | Verdict::Review => {
                Ok(txn.frame_mut().review(self.target, self.operation)?)
            }
        }
    }

    /// Returns the decision of the policy without recording it.
    ///
    /// # Errors
    /// As [`Change::authorize`].
    #[cfg(feature = "interchange")]
    pub(crate) fn preview(&self, engine: &Engine) -> Result<(), Error> {
        match self.verdict(engine) {
            Verdict::Allow | Verdict::Review => Ok(()),
            Verdict::Deny(rule) => Err(Error::Denied {
                address: *self.target,
                rule,
            }),
        }
    }

    pub(crate) fn verdict(&self, engine: &Engine) -> Verdict {
        policy::decide(self.operation, &self.facts, &self.actor, engine.moment())
    }
}

//! The store's clock as the operator sees it: how far it is believed, and accepting it after a leap
//! (ruling I21).

use crate::grain::Time;
use crate::store::Admin;
use crate::store::Error;
use crate::store::records::{Authorization, PolicyRecord};

use super::regime::recorded;

/// What a store makes of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockState {
    /// What the clock says.
    pub now: Time,
    /// The time up to which it was believed last; `None` of a store without entries.
    pub trusted: Option<Time>,
    /// Whether it leapt ahead and nobody has accepted that: `timed` grains stay locked.
    pub is_doubted: bool,
}

impl Admin<'_> {
    /// Returns what the store makes of its clock.
    pub fn clock_state(self) -> ClockState {
        let clock = self.inner().state().clock();
        let now = self.inner().now();
        ClockState {
            now,
            trusted: clock.trusted(),
            is_doubted: clock.moment(now).jumped,
        }
    }

    /// Accepts what the clock says after it leapt ahead, so that `timed` grains go by it again
    /// (ruling I21). The entry in the ledger says who did and why.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn accept_clock(self, authorization: Authorization<'_>) -> Result<(), Error> {
        let inner = self.inner();
        inner.record_policy(PolicyRecord::ClockAccepted {
            told: inner.now(),
            authorization: recorded(authorization)?,
        })
    }
}

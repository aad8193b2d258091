//! The store's clock for the operator: how far it is trusted, and accepting it after a leap (ruling
//! I21).

use crate::grain::Time;
use crate::store::Admin;
use crate::store::Error;
use crate::store::records::{Authorization, PolicyRecord};

use super::regime::recorded;

/// The state of the trusted clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockState {
    /// The time of the system clock.
    pub now: Time,
    /// The time up to which it was last trusted; `None` in a store without entries.
    pub trusted: Option<Time>,
    /// Whether it leapt ahead and no operator has accepted it: `timed` grains stay locked.
    pub is_doubted: bool,
}

impl Admin<'_> {
    /// Returns the state of the trusted clock.
    pub fn clock_state(self) -> ClockState {
        let clock = self.inner().state().clock();
        let now = self.inner().now();
        ClockState {
            now,
            trusted: clock.trusted(),
            is_doubted: clock.moment(now).jumped,
        }
    }

    /// Accepts the time of the clock after a leap, so that it applies to `timed` grains again
    /// (ruling I21). The ledger entry names the authority and the reason.
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

//! The store's clock for the operator: how far it is trusted, accepting it after a leap, and dating
//! entries anew after one that was wrong (ruling I21).

use crate::grain::Time;
use crate::policy::{Authorization, RecordedAuthorization};
use crate::store::Admin;
use crate::store::Error;
use crate::store::records::PolicyRecord;

/// The state of the trusted clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockState {
    /// The time of the system clock.
    pub now: Time,
    /// The time up to which it was last trusted; `None` in a store without entries.
    pub trusted: Option<Time>,
    /// The time by the steady clock, counted from where the store was opened or from an earlier
    /// opening since the machine started: the system clock is trusted up to a day beyond it.
    pub measured: Time,
    /// The time of the last entry, which no later one is dated before; `None` in a store without
    /// entries. An entry that was written by a wrong clock may be ahead.
    pub dated: Option<Time>,
    /// Whether it leapt ahead, in one step or in several, and no operator has accepted it: `timed`
    /// grains stay locked.
    pub is_doubted: bool,
}

impl Admin<'_> {
    /// Returns the state of the trusted clock.
    pub fn clock_state(self) -> ClockState {
        let clock = self.engine().state().clock();
        let (now, opened) = (self.engine().read_clock(), self.engine().clock_opened());
        ClockState {
            now: now.told,
            trusted: clock.trusted(),
            measured: clock.measured(now, opened),
            dated: clock.last(),
            is_doubted: clock.moment(now, opened).jumped,
        }
    }

    /// Accepts the time of the clock after a leap, so that it applies to `timed` grains again
    /// (ruling I21). The ledger entry names the authority and the reason.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn accept_clock(self, authorization: Authorization<'_>) -> Result<(), Error> {
        let reading = self.engine().read_clock();
        self.trust_clock(authorization, |authorization| PolicyRecord::ClockAccepted {
            reading,
            authorization,
        })
    }

    /// Dates later entries by the clock, also where earlier ones are dated ahead of it: they were
    /// written while it was wrong, and keep their times. The clock is accepted too. The ledger entry
    /// names the authority and the reason.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn repair_clock(self, authorization: Authorization<'_>) -> Result<(), Error> {
        let reading = self.engine().read_clock();
        self.trust_clock(authorization, |authorization| PolicyRecord::ClockRepaired {
            reading,
            authorization,
        })
    }

    fn trust_clock(
        self,
        authorization: Authorization<'_>,
        setting: impl FnOnce(RecordedAuthorization) -> PolicyRecord,
    ) -> Result<(), Error> {
        self.set(authorization, setting)?;
        self.engine().measure_clock();
        Ok(())
    }
}

//! The store's clock for the operator: how far it is trusted, accepting it after a leap, and dating
//! entries anew after one that was wrong (ruling I21).

use crate::grain::Time;
use crate::policy::{Authorization, RecordedAuthorization};
use crate::store::Error;
use crate::store::Owner;
use crate::store::records::PolicyRecord;

use super::regime::set;

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

/// See [`Admin::clock_state`](crate::Admin::clock_state).
pub(crate) fn clock_state(owner: Owner<'_>) -> ClockState {
    let clock = owner.engine().state().clock();
    let (now, opened) = (owner.engine().read_clock(), owner.engine().clock_opened());
    ClockState {
        now: now.told,
        trusted: clock.trusted(),
        measured: clock.measured(now, opened),
        dated: clock.last(),
        is_doubted: clock.moment(now, opened).jumped,
    }
}

/// See [`Admin::accept_clock`](crate::Admin::accept_clock).
pub(crate) fn accept_clock(
    owner: Owner<'_>,
    authorization: Authorization<'_>,
) -> Result<(), Error> {
    let reading = owner.engine().read_clock();
    trust_clock(owner, authorization, |authorization| {
        PolicyRecord::ClockAccepted {
            reading,
            authorization,
        }
    })
}

/// See [`Admin::repair_clock`](crate::Admin::repair_clock).
pub(crate) fn repair_clock(
    owner: Owner<'_>,
    authorization: Authorization<'_>,
) -> Result<(), Error> {
    let reading = owner.engine().read_clock();
    trust_clock(owner, authorization, |authorization| {
        PolicyRecord::ClockRepaired {
            reading,
            authorization,
        }
    })
}

fn trust_clock(
    owner: Owner<'_>,
    authorization: Authorization<'_>,
    setting: impl FnOnce(RecordedAuthorization) -> PolicyRecord,
) -> Result<(), Error> {
    set(owner, authorization, setting)?;
    owner.engine().measure_clock();
    Ok(())
}

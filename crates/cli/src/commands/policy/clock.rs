//! `grainstore policy clock`: the trusted clock, the acceptance of a jump, and the repair of the
//! dates of entries.
//!
//! Time locks are evaluated against the trusted clock, so that a system clock that jumps ahead opens none.

use clap::{Args, Subcommand};
use grainstore::Time;
use grainstore::store::ClockState;
use serde_json::json;

use crate::args::AuthorizationArgs;
use crate::error::Exit;
use crate::session::Session;

#[derive(Debug, Args)]
pub(super) struct Clock {
    #[command(subcommand)]
    action: Option<ClockAction>,
}

#[derive(Debug, Subcommand)]
enum ClockAction {
    /// Accept the current time of the clock: time locks are evaluated against it again
    Accept {
        #[command(flatten)]
        authorization: AuthorizationArgs,
    },
    /// Date later entries by the clock, also where a wrong clock dated earlier ones ahead of it
    Repair {
        #[command(flatten)]
        authorization: AuthorizationArgs,
    },
}

impl Clock {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        match &self.action {
            Some(ClockAction::Accept { authorization }) => {
                store.admin()?.accept_clock(authorization.as_given())?;
            }
            Some(ClockAction::Repair { authorization }) => {
                store.admin()?.repair_clock(authorization.as_given())?;
            }
            None => {}
        }
        let state = store.admin()?.clock_state();
        let suspicion = suspicion(&state);
        if session.out.is_json() {
            session.out.json(&json!({
                "now": state.now.ms(),
                "floor": state.trusted.map(Time::ms),
                "measured": state.measured.ms(),
                "dated": state.dated.map(Time::ms),
                "doubted": state.is_doubted,
            }))?;
        } else {
            let says = suspicion.as_deref().unwrap_or("trusted");
            session.out.line(format!("clock: {}, {says}", state.now))?;
        }
        Ok(Exit::done_if(suspicion.is_none()))
    }
}

/// Returns what is wrong with the clock, and what helps; `None` if nothing is suspected.
pub(crate) fn suspicion(state: &ClockState) -> Option<String> {
    let is_a_day_before_now = |time: Time| state.now.ms().saturating_sub(time.ms()) > DAY_MS;
    let accept = "time locks stay closed until it is right or `policy clock accept`";
    if state.is_doubted {
        let floor = state.trusted.filter(|floor| is_a_day_before_now(*floor));
        return Some(match floor {
            Some(floor) => format!("more than a day ahead of the trusted time {floor}; {accept}"),
            None => format!(
                "more than a day ahead of {}, as the time that passed was measured; {accept}",
                state.measured
            ),
        });
    }
    let dated = state.dated?;
    let is_ahead = dated.ms().saturating_sub(state.now.ms()) > DAY_MS;
    is_ahead.then(|| {
        format!(
            "and entries are dated {dated}, ahead of it; if the clock is right, `policy clock \
             repair` dates later entries by it"
        )
    })
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

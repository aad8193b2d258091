//! `grainstore policy clock`: the trusted clock, and the acceptance of a jump.
//!
//! Time locks are evaluated against the trusted clock, so that a system clock that jumps ahead opens none.

use clap::{Args, Subcommand};
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
}

impl Clock {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        if let Some(ClockAction::Accept { authorization }) = &self.action {
            store.admin()?.accept_clock(authorization.as_given())?;
        }
        let state = store.admin()?.clock_state();
        if session.out.is_json() {
            session.out.json(&json!({
                "now": state.now.ms(),
                "floor": state.trusted.map(grainstore::Time::ms),
                "doubted": state.is_doubted,
            }))?;
        } else if state.is_doubted {
            let floor = state
                .trusted
                .map(|floor| floor.to_string())
                .unwrap_or_default();
            session.out.line(format!(
                "clock: {}, a day or more ahead of the trusted time {floor}; time locks stay closed",
                state.now
            ))?;
        } else {
            session.out.line(format!("clock: {}, trusted", state.now))?;
        }
        Ok(Exit::done_if(!state.is_doubted))
    }
}

use clap::{Args, Subcommand};
use serde_json::json;

use crate::args::Decision;
use crate::error::Exit;
use crate::session::Session;

#[derive(Debug, Args)]
pub(super) struct Clock {
    #[command(subcommand)]
    action: Option<ClockAction>,
}

#[derive(Debug, Subcommand)]
enum ClockAction {
    /// Accept what the clock says now: grains locked until a time go by it again
    Accept {
        #[command(flatten)]
        decision: Decision,
    },
}

impl Clock {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        if let Some(ClockAction::Accept { decision }) = &self.action {
            store.accept_clock(decision.mandate())?;
        }
        let state = store.clock_state();
        if session.out.is_json() {
            session.out.json(&json!({
                "now": state.now.ms(),
                "floor": state.floor.map(grainstore::Time::ms),
                "doubted": state.is_doubted,
            }))?;
        } else if state.is_doubted {
            let floor = state
                .floor
                .map(|floor| floor.to_string())
                .unwrap_or_default();
            session.out.line(format!(
                "the clock says {}, a day or more ahead of {floor}: timed grains stay locked",
                state.now
            ))?;
        } else {
            session.out.line(format!("the clock says {}", state.now))?;
        }
        Ok(Exit::done_if(!state.is_doubted))
    }
}

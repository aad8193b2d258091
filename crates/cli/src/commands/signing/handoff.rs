//! `grainstore agent hand-off`, `take-over` and `hand-back`: a task that one agent hands to another
//! (OMS 28.7).

use clap::Args;
use grainstore::crypto::Did;
use grainstore::store::Handoff;
use grainstore::{Store, Time};
use serde_json::json;

use crate::args::address::{self, short};
use crate::args::{As, time_from};

use crate::commands::grains::state::grain_json;
use crate::error::{CliError, Exit};
use crate::output::printable_lines;
use crate::session::Session;

/// Hand a task to another agent: the delegation, its record, and a snapshot of the conversation
///
/// Needs --as. Prints the address of the delegation, which the other agent takes over.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore agent hand-off did:web:expert.example "settle the invoice" --session s1 \
      --as did:web:desk.example --in acme:help"#)]
pub(super) struct HandOff {
    /// DID of the other agent
    to: String,
    /// Description of the task
    task: String,
    /// Conversation to hand over
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Permitted tool; may be repeated (default: all)
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// End of the delegation, even if the task is not handed back
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    until: Option<Time>,
    /// Grain to hand over as context; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    context: Vec<String>,
    #[command(flatten)]
    as_whom: As,
}

/// Take a task over, and print the grains that were handed over, as JSON lines; needs --as
#[derive(Debug, Args)]
pub(super) struct TakeOver {
    /// Address of the delegation, or its first digits, 4 or more
    delegation: String,
    #[command(flatten)]
    as_whom: As,
}

/// Hand a task back with its outcome, which ends the delegation; needs --as
#[derive(Debug, Args)]
pub(super) struct HandBack {
    /// Address of the delegation, or its first digits, 4 or more
    delegation: String,
    /// Outcome of the task
    outcome: String,
    #[command(flatten)]
    as_whom: As,
}

impl HandOff {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let to: Did = self.to.parse().map_err(|error| {
            let error = CliError::of(&error);
            error.at(&self.to)
        })?;
        let store = session.open()?;
        let handoff = self.handoff(&store)?;
        let handed = self.as_whom.narrow(&store)?.hand_off(&to, &handoff)?;
        if session.out.is_json() {
            session.out.json(&json!({
                "delegation": handed.delegation.to_string(),
                "event": handed.event.to_string(),
                "state": handed.state.map(|state| state.to_string()),
            }))?;
        } else {
            session.out.line(handed.delegation)?;
        }
        Ok(Exit::Done)
    }

    fn handoff(&self, store: &Store) -> anyhow::Result<Handoff> {
        let mut handoff = Handoff::of(&self.task);
        if let Some(session) = &self.session {
            handoff = handoff.session(session);
        }
        for tool in &self.tool {
            handoff = handoff.tool(tool);
        }
        if let Some(until) = self.until {
            handoff = handoff.until(until);
        }
        for text in &self.context {
            handoff = handoff.context(address::resolve(store, text)?);
        }
        Ok(handoff)
    }
}

impl TakeOver {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let delegation = address::resolve(&store, &self.delegation)?;
        let context = self.as_whom.narrow(&store)?.take_over(&delegation)?;
        for grain in &context {
            session.out.json(&grain_json(grain))?;
        }
        Ok(Exit::Done)
    }
}

impl HandBack {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let delegation = address::resolve(&store, &self.delegation)?;
        let handle = self.as_whom.narrow(&store)?;
        let (goal, return_to) = handle.hand_back(&delegation, &self.outcome)?;
        if session.out.is_json() {
            session.out.json(&json!({
                "goal": goal.to_string(),
                "return_to": return_to,
            }))?;
            return Ok(Exit::Done);
        }
        let to = return_to.as_deref().unwrap_or("its author");
        let line = format!("{} handed back to {to}", short(&delegation));
        session.out.line(printable_lines(&line))?;
        Ok(Exit::Done)
    }
}

//! `grainstore policy`: its subcommands, each in a file of its own.
//!
//! Holds and consents are commands of their own.

use clap::{Args, Subcommand};

use super::clock::Clock;
use super::explain::Explain;
use super::reads::Reads;
use super::regime::RegimeAction;
use super::review::ReviewAction;
use crate::error::Exit;
use crate::session::Session;

/// Manage compliance regimes, reviews, the read audit log and the trusted clock
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore policy review list")]
pub(crate) struct PolicyTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List and clear items that require review by a person
    #[command(subcommand)]
    Review(ReviewAction),
    /// Compliance presets and the regimes in force
    #[command(flatten)]
    Regime(RegimeAction),
    /// Show the policy decision for an operation without executing it; exit 3 if it is denied
    Explain(Explain),
    Reads(Reads),
    /// Show the state of the trusted clock, accept a jump ahead, or date entries anew
    Clock(Clock),
}

impl PolicyTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Review(action) => action.run(session),
            Action::Reads(reads) => reads.run(session),
            Action::Clock(clock) => clock.run(session),
            Action::Regime(action) => action.run(session),
            Action::Explain(explain) => explain.run(session),
        }
    }
}

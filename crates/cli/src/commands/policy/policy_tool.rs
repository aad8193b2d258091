use clap::{Args, Subcommand};

use super::clock::Clock;
use super::explain::Explain;
use super::reads::Reads;
use super::regime::RegimeAction;
use super::review::ReviewAction;
use crate::error::Exit;
use crate::session::Session;

/// See to policies: presets of law, what would happen and why, reviews, reads, the clock
///
/// Example: grainstore policy review list
#[derive(Debug, Args)]
pub(crate) struct PolicyTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show and clear what a person should look at
    #[command(subcommand)]
    Review(ReviewAction),
    /// Presets of law, and the regimes in force
    #[command(flatten)]
    Regime(RegimeAction),
    /// Say what would happen to a grain, and why, without doing it; exit 3 if it would be denied
    Explain(Explain),
    Reads(Reads),
    /// Show how far the clock is believed, and accept one that leapt ahead
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

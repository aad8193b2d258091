//! `grainstore audit`: the list of its actions.

use clap::{Args, Subcommand};

use crate::error::Exit;
use crate::session::Session;

use super::export::Export;
use super::head::Head;
use super::log::{Log, Timeline};
use super::prove::Prove;
use super::verify::Verify;
use super::why::Why;

/// Read the audit trail, prove its entries and its growth, and export it
///
/// The ledger is the trail: every change, refusal, import, export, erasure and check is an entry.
#[derive(Debug, Args)]
pub(crate) struct AuditTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Head(Head),
    Log(Log),
    Timeline(Timeline),
    Why(Why),
    Prove(Prove),
    Verify(Verify),
    Export(Export),
}

impl AuditTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Head(action) => action.run(session),
            Action::Log(action) => action.run(session),
            Action::Timeline(action) => action.run(session),
            Action::Why(action) => action.run(session),
            Action::Prove(action) => action.run(session),
            Action::Verify(action) => action.run(session),
            Action::Export(action) => action.run(session),
        }
    }
}

//! Moving a store to a ledger that machines share, and back.

mod pull;
mod ship;

use std::sync::Arc;

use clap::Subcommand;
use grainstore::ErrorCode;
use grainstore_shared::Sequence;

use crate::error::{CliError, Exit};
use crate::place::{is_shared, sequence_at};
use crate::session::Session;
use pull::Pull;
use ship::Ship;

/// The two ways.
#[derive(Debug, Subcommand)]
pub(crate) enum Shared {
    Ship(Ship),
    Pull(Pull),
}

impl Shared {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self {
            Self::Ship(command) => command.run(session),
            Self::Pull(command) => command.run(session),
        }
    }
}

/// Opens the sequence at the address that a command was given; one that is created has its long frames in
/// `bodies`.
fn open(url: &str, bodies: Option<&str>) -> Result<Arc<dyn Sequence>, CliError> {
    match is_shared(url) {
        true => sequence_at(url, bodies),
        false => {
            let reason =
                "the address of a shared ledger is postgres://user@host/database?store=NAME";
            Err(CliError::new(ErrorCode::Usage, reason))
        }
    }
}

use std::io::{self, IsTerminal, Write};

use clap::Args;
use grainstore::ErrorCode;
use grainstore::store::Deletion;
use serde_json::json;

use crate::address;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::session::Session;

/// Delete a grain for compliance: its bytes, its words and every entry that names it
///
/// It cannot be undone, and importing an older file does not bring it back. Backups and exports
/// made before keep their copies. Exit 3 if a hold or its retention keeps the grain.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The address of the grain, whole or its first 8 to 16 digits
    address: String,
    /// Why, in words; kept for good, so nothing of what is deleted
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Who wants it gone: a person, an office, a DID; kept for good
    #[arg(long, value_name = "WHO")]
    authority: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl Delete {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        if !self.yes && !confirmed(&address.to_string())? {
            return Ok(Exit::Nothing);
        }
        let deletion = Deletion {
            reason: &self.reason,
            authority: &self.authority,
        };
        store.delete(&address, deletion)?;
        if session.out.is_json() {
            session
                .out
                .json(&json!({ "deleted": address.to_string() }))?;
        } else {
            session.out.line(format!("deleted {address}"))?;
        }
        session
            .out
            .note("backups and exports made before keep their copies");
        Ok(Exit::Done)
    }
}

/// Asks the person at the terminal; where there is none, nobody has agreed.
fn confirmed(address: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let message = "deleting asks first: say --yes where nobody can answer";
        return Err(Problem::new(ErrorCode::Usage, message).into());
    }
    let mut terminal = io::stderr().lock();
    write!(terminal, "delete {address} for good? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

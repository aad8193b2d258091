//! `grainstore delete`: removes one grain from every file of the store.
//!
//! Supersession, which keeps the old grain, is in `supersede`.

use grainstore::{ContentAddress, ErrorCode};
use std::io::{self, IsTerminal, Write};

use clap::Args;
use grainstore::store::Authorization;
use serde_json::json;

use crate::args::address;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Delete a grain permanently: its bytes, its index terms and every entry that names it
///
/// The grains that rest on it are named first, and those that it protects, which keep its rule.
/// A deletion cannot be undone, and a later import of an older file does not restore the grain.
/// Backups and exports made before the deletion keep their copies. Exits with 3 if a legal hold or
/// a retention period protects the grain.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Address of the grain, or its first 8 to 16 digits
    address: String,
    /// Reason for the deletion; recorded permanently, so it must not quote the grain
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Authority for the deletion: a person, an office or a DID; recorded permanently
    #[arg(long, value_name = "NAME")]
    authority: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

impl Delete {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        let resting = texts(&store.admin()?.resting_on(&address)?);
        let protected = texts(&store.admin()?.protected_by(&address)?);
        for (what, grains) in [
            ("rest on it", &resting),
            ("keep the rule by which it protects them", &protected),
        ] {
            if let [first, others @ ..] = grains.as_slice() {
                let count = grains.len();
                let more = others.iter().map(|other| format!(" {other}"));
                let list: String = more.collect();
                session
                    .out
                    .note(format!("{count} grains {what}: {first}{list}"));
            }
        }
        if !self.yes && !confirmed(&address.to_string())? {
            return Ok(Exit::Nothing);
        }
        let deletion = Authorization {
            reason: &self.reason,
            authority: &self.authority,
        };
        store.admin()?.delete(&address, deletion)?;
        if session.out.is_json() {
            session.out.json(&json!({
                "deleted": address.to_string(),
                "resting": resting,
                "protected": protected,
            }))?;
        } else {
            session.out.line(format!("deleted {address}"))?;
        }
        session
            .out
            .note("backups and exports made before the deletion keep their copies");
        Ok(Exit::Done)
    }
}

fn texts(addresses: &[ContentAddress]) -> Vec<String> {
    addresses.iter().map(ToString::to_string).collect()
}

/// Asks for confirmation on the terminal; without a terminal, `--yes` is required.
fn confirmed(address: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let message = "stdin is not a terminal; pass --yes to delete without confirmation";
        return Err(CliError::new(ErrorCode::Usage, message).into());
    }
    let mut terminal = io::stderr().lock();
    write!(terminal, "delete {address} permanently? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

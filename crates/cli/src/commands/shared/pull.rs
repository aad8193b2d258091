//! `grainstore pull`: a ledger that machines share becomes a store of its own.

use std::path::PathBuf;

use clap::Args;
use grainstore::ErrorCode;
use grainstore::store::replica;
use serde_json::json;

use super::open;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Pull a ledger that machines share into a directory
///
/// Every byte is verified, and the chain from the first entry to the last. DIR is then a store of its own; run
/// again before anything is written to it, the command adds what is new.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore pull 'postgres://bot@db.example/memory?store=acme' memory.grains")]
pub(crate) struct Pull {
    /// Address of the shared ledger
    #[arg(value_name = "URL")]
    from: String,
    /// Directory: new, empty, or one that was pulled before
    #[arg(value_name = "DIR")]
    to: PathBuf,
}

impl Pull {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let sequence = open(&self.from, None)?;
        let failed = |error: &grainstore_shared::Error| {
            let code = match error.is_unreachable() {
                true => ErrorCode::Unreachable,
                false => ErrorCode::StorageIo,
            };
            CliError::new(code, error)
        };
        let identity = sequence.identity().map_err(|error| failed(&error))?;
        let missing = "no store has this name there";
        let identity = identity.ok_or_else(|| CliError::new(ErrorCode::NotAStore, missing))?;
        let pulled = replica::fold(&*sequence, &identity, &self.to);
        pulled.map_err(|error| CliError::of(&error).in_store(&self.to))?;
        let entries = sequence.head().map_err(|error| failed(&error))?.entries;
        let path = self.to.display();
        if session.out.is_json() {
            session
                .out
                .json(&json!({ "entries": entries, "path": path.to_string() }))?;
        } else {
            session
                .out
                .line(format!("pulled {path}: {entries} entries"))?;
        }
        Ok(Exit::Done)
    }
}

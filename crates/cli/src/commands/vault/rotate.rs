//! `grainstore vault rotate`: a fresh root, or another master key.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::args::key_in;
use crate::error::Exit;
use crate::session::Session;

/// Replace the root, or the master key; keys of persons do not change
///
/// The old root is overwritten: older copies of the vault and all escrow copies no longer open.
/// Interrupted, the command is run again with the same arguments.
#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// Replace the master key by that in this file
    #[arg(long, value_name = "FILE")]
    master_key: Option<PathBuf>,
}

impl Rotate {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let vault = store.admin()?.vault();
        let epoch = match &self.master_key {
            Some(path) => vault.rotate_master(&key_in(path)?)?,
            None => vault.rotate()?,
        };
        let status = vault.status()?;
        if status.escrows.iter().any(|copy| copy.epoch < epoch) {
            session
                .out
                .note("note: escrow copies of the earlier root no longer open the vault");
        }
        if session.out.is_json() {
            let replaced = self.master_key.is_some();
            session
                .out
                .json(&json!({ "epoch": epoch, "master_key_replaced": replaced }))?;
            return Ok(Exit::Done);
        }
        session.out.line(format!("rotated to epoch {epoch}"))?;
        Ok(Exit::Done)
    }
}

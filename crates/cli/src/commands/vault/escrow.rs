//! `grainstore vault escrow` and `restore-root`: encrypted copies of the root.
//!
//! The file of a copy is created before its ledger entry, so that every recorded copy has a file.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use clap::Args;
use grainstore::Time;
use grainstore::store::{Clock, SystemClock};
use serde_json::json;

use crate::args::{UnsealArgs, create_private, time_to_live};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Make a copy of the root for a recipient, to bring a lost root back
///
/// The copy opens the vault until the root is swapped: by an erasure, `user rekey` or `vault rotate`.
/// Its recipient is to destroy it when its time is over: until then a person who is erased can be
/// brought back by the recipient, the holder of the master key and an old copy of vault/ together.
/// The ledger keeps a record of each copy, and receipts for erasures list those that remain.
#[derive(Debug, Args)]
pub(super) struct Escrow {
    /// Public key of the recipient (age1…)
    #[arg(long, value_name = "RECIPIENT")]
    to: String,
    /// How long the recipient keeps the copy: 30d, 12h
    #[arg(long, value_name = "TIME", value_parser = time_to_live)]
    ttl: i64,
    /// New file for the copy
    #[arg(long, short, value_name = "FILE")]
    output: String,
}

impl Escrow {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let path = Path::new(&self.output);
        let failed = |error: std::io::Error| CliError::of(&error).at(&self.output);
        let mut file = create_private(path).map_err(failed)?;
        let until = SystemClock.now().ms().saturating_add(self.ttl);
        let made = store
            .admin()?
            .vault()
            .escrow(&self.to, Time::from_ms(until));
        let (copy, bytes) = match made {
            Ok(made) => made,
            Err(error) => {
                drop(std::fs::remove_file(path));
                return Err(error.into());
            }
        };
        let written = file.write_all(&bytes).and_then(|()| file.sync_all());
        written.map_err(failed)?;
        let (name, until) = (copy.name(), copy.until);
        if session.out.is_json() {
            session.out.json(&json!({
                "id": name,
                "epoch": copy.epoch,
                "until": until.ms(),
                "recipient": copy.recipient,
            }))?;
            return Ok(Exit::Done);
        }
        let line = format!("escrow {name}: {}, until {until}", self.output);
        session.out.line(line)?;
        Ok(Exit::Done)
    }
}

/// Bring a lost root back from an escrow copy
///
/// The copy must be of the present root, and vault/vault.redb must be there: `vault status` lists the
/// copies, and tells which of them opens the vault.
#[derive(Debug, Args)]
pub(super) struct RestoreRoot {
    /// Output of `vault escrow`
    file: String,
    #[command(flatten)]
    unseal: UnsealArgs,
}

impl RestoreRoot {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let secret = self.unseal.unseal()?;
        let file = File::open(&self.file).map_err(|error| CliError::of(&error).at(&self.file))?;
        let store = session.open()?;
        let vault = store.admin()?.vault();
        let epoch = vault
            .restore_root(file, secret.as_ref())
            .map_err(|error| CliError::of(&error))?;
        session.report_change("restored", format!("the root of epoch {epoch}"))
    }
}

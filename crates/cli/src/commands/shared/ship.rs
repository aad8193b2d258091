//! `grainstore ship`: a store becomes a ledger that machines share.

use std::path::PathBuf;

use clap::Args;
use grainstore::crypto::{OsRandom, Random};
use grainstore::store::replica;
use grainstore_shared::Node;
use serde_json::json;

use super::open;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Ship a store to a ledger on PostgreSQL that machines share
///
/// Addresses, chain and erasures stay as they are. An interrupted command goes on when it is run again. From
/// then on the machines use the address, and DIR is a backup: what is written to it later is in no other
/// machine. The keys of sealed persons (`vault/`) are not shipped.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore ship memory.grains 'postgres://bot@db.example/memory?store=acme'")]
pub(crate) struct Ship {
    /// Directory of the store
    #[arg(value_name = "DIR")]
    from: PathBuf,
    /// Address of the shared ledger: a new one, or one that this store was shipped to in part
    #[arg(value_name = "URL")]
    to: String,
    /// Put long frames of a new ledger into objects: s3://BUCKET/PREFIX, file:///DIRECTORY
    #[arg(long, value_name = "URL")]
    bodies: Option<String>,
}

impl Ship {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let sequence = open(&self.to, self.bodies.as_deref())?;
        let mut node = [0; 16];
        OsRandom
            .fill(&mut node)
            .map_err(|error| CliError::of(&error))?;
        let added = replica::share(&self.from, &*sequence, Node::new(node));
        let added = added.map_err(|error| CliError::of(&error).in_store(&self.from))?;
        let path = self.from.display();
        if session.out.is_json() {
            session
                .out
                .json(&json!({ "added": added, "path": path.to_string() }))?;
        } else {
            session
                .out
                .line(format!("shipped {path}: {added} entries"))?;
        }
        Ok(Exit::Done)
    }
}

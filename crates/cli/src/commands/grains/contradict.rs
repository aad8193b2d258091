//! `grainstore contradict`: marks a grain as contradicted.
//!
//! The invalidation policy of the grain is checked by the store.

use clap::Args;
use grainstore::store::Justification;
use serde_json::json;

use crate::args::As;
use crate::args::address;
use crate::commands::signing::agree;
use crate::error::Exit;
use crate::session::Session;

/// Mark a grain as contradicted, so that it is no longer current
///
/// Exits with 3 if the policy of the grain denies it. A denied attempt is recorded in the ledger.
#[derive(Debug, Args)]
pub(crate) struct Contradict {
    /// Address of the grain, or its first digits, 4 or more
    address: String,
    /// Reason for the change; recorded with it
    #[arg(long, value_name = "TEXT")]
    justification: Option<String>,
    /// File written by `grain agree --to contradict`; may be repeated, once per signer
    #[arg(long, value_name = "FILE")]
    auth: Vec<String>,
    #[command(flatten)]
    as_whom: As,
}

impl Contradict {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        let signatures = agree::read_all(&self.auth)?;
        let grounds = Justification {
            justification: self.justification.as_deref(),
            signatures: &signatures,
        };
        self.as_whom.narrow(&store)?.contradict(&address, grounds)?;
        if session.out.is_json() {
            session
                .out
                .json(&json!({ "contradicted": address.to_string() }))?;
        } else {
            session.out.line(address)?;
        }
        Ok(Exit::Done)
    }
}

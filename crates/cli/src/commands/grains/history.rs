//! `grainstore history`: the versions of one lineage, and the forks that imports brought.
//!
//! The table of versions is in `timeline`.

use clap::Args;
use grainstore::store::{Fork, Heads, Version};
use serde_json::{Value, json};

use super::record::version_record;
use super::state::{grain_json, signature_json, status_json};
use super::timeline::timeline;
use crate::args::address::{self, short};
use crate::args::{As, Listing};
use crate::error::Exit;
use crate::session::Session;

/// Show all versions of a grain, and forks that imports brought
#[derive(Debug, Args)]
pub(crate) struct History {
    /// Address of any version, or its first digits, 4 or more
    address: String,
    /// Show the messages before this one in its conversation, oldest first, as JSON lines
    #[arg(long, conflicts_with_all = ["format", "fields"])]
    thread: bool,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    as_whom: As,
}

impl History {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let address = address::resolve(&store, &self.address)?;
        let handle = self.as_whom.narrow(&store)?;
        if self.thread {
            for grain in handle.thread(&address)? {
                session.out.json(&grain_json(&grain))?;
            }
            return Ok(Exit::Done);
        }
        let versions = handle.history(&address)?;
        let mut heads = store.admin()?.heads(&address)?;
        // A fork outside the scope of the caller must not be disclosed.
        heads
            .others
            .retain(|fork| handle.exists(&fork.address).unwrap_or(false));
        if let Some(mut rows) = self.listing.rows(&mut session.out, &FIELDS) {
            for version in &versions {
                let whole = version_json(version)?;
                rows.add(&version_record(version)?, || whole)?;
            }
            rows.end()?;
        } else if session.out.is_json() {
            let versions: Result<Vec<Value>, _> = versions.iter().map(version_json).collect();
            let answer = json!({ "versions": versions?, "heads": heads_json(&heads) });
            session.out.json(&answer)?;
        } else {
            for line in timeline(&versions, 0).lines() {
                session.out.styled_line(&line)?;
            }
            for fork in &heads.others {
                session.out.line(fork_line(fork))?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Describes a fork: a version that an import brought beside the current one.
fn fork_line(fork: &Fork) -> String {
    let why = match fork.denied {
        Some(rule) => format!("denied by {rule}"),
        None => "another version is current".to_owned(),
    };
    let (address, of) = (short(&fork.address), short(&fork.of));
    format!("fork      {address} of {of}: {why}")
}

fn heads_json(heads: &Heads) -> Value {
    let others = heads.others.iter().map(|fork| {
        json!({
            "address": fork.address.to_string(),
            "of": fork.of.to_string(),
            "denied": fork.denied.map(grainstore::policy::Rule::name),
        })
    });
    json!({
        "winner": heads.winner.to_string(),
        "others": others.collect::<Vec<_>>(),
    })
}

/// The fields of a list that names none.
const FIELDS: [&str; 5] = ["address", "stored_at", "stored_by", "status", "summary"];

fn version_json(version: &Version) -> serde_json::Result<Value> {
    let mut document = grain_json(&version.grain);
    document["status"] = status_json(&version.status);
    document["stored_at"] = json!(version.stored_at.ms());
    document["stored_by"] = json!(version.stored_by);
    if let Some(signature) = &version.signature {
        document["signature"] = signature_json(signature);
    }
    Ok(document)
}

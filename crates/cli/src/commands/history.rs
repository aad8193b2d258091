use clap::Args;
use grainstore::store::Version;
use serde_json::{Value, json};

use super::get::{signature_json, status_json};
use crate::address::{self, short};
use crate::door::As;
use crate::exit::Exit;
use crate::session::Session;
use crate::table::Table;

/// Show what a grain replaced and what replaced it
#[derive(Debug, Args)]
pub(crate) struct History {
    /// The address of any grain of the lineage, whole or its first 8 to 16 digits
    address: String,
    #[command(flatten)]
    as_whom: As,
}

impl History {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        let versions = self.as_whom.door(&store)?.history(&address)?;
        if session.out.is_json() {
            let versions: Result<Vec<Value>, _> = versions.iter().map(version_json).collect();
            session.out.json(&json!({ "versions": versions? }))?;
        } else {
            for line in timeline(&versions, 0).lines() {
                session.out.line(line)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Returns a timeline, oldest first.
pub(super) fn timeline(versions: &[Version], indent: usize) -> Table {
    let mut table = Table::indented(indent);
    for version in versions {
        let status = &version.status;
        let state = match status.superseded_by {
            Some(by) => format!("superseded by {}", short(&by)),
            None if status.is_current() => "current".to_owned(),
            None => "no longer current".to_owned(),
        };
        let time = format!("{}  ", version.grain.created_at());
        table.add(time, &version.grain, &state);
    }
    table
}

fn version_json(version: &Version) -> serde_json::Result<Value> {
    let mut document = json!({
        "address": version.grain.address().to_string(),
        "grain": serde_json::from_str::<Value>(&version.grain.to_json())?,
        "status": status_json(&version.status),
        "stored_at": version.stored_at.ms(),
        "stored_by": version.stored_by,
    });
    if let Some(signature) = &version.signature {
        document["signature"] = signature_json(signature);
    }
    Ok(document)
}

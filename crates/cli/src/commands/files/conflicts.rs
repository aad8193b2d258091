//! `grainstore conflicts`: contradictions between imported records, listed and resolved.
//!
//! A conflict is two records with the same id and different content, or a grain that stands here and one
//! that a file puts in its place; both are stored.

use clap::{Args, Subcommand};
use grainstore::Store;
use serde_json::{Value, json};

use super::report::id_json;
use crate::args::address;
use crate::error::Exit;
use crate::session::Session;

/// List and resolve contradictions between imported records
///
/// Two records with the same id and different content are both stored, until the conflict is
/// resolved; so are a grain that stands here and one that a file puts in its place. Exits with 1 if there
/// is no open conflict.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore conflicts resolve 5f2c01ab --justification "asked Mira""#)]
pub(crate) struct Conflicts {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List open conflicts (default)
    List,
    /// Keep one grain, and mark the others as contradicted
    Resolve {
        /// Address of the grain to keep, or its first digits, 4 or more
        address: String,
        /// Reason for the choice; recorded with it
        #[arg(long, value_name = "TEXT")]
        justification: Option<String>,
    },
}

impl Conflicts {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            None | Some(Action::List) => list(&session.open_to_read()?, session),
            Some(Action::Resolve {
                address,
                justification,
            }) => {
                let store = session.open()?;
                let keep = address::resolve(&store, &address)?;
                store
                    .admin()?
                    .resolve_conflict(&keep, justification.as_deref())?;
                if session.out.is_json() {
                    session.out.json(&json!({ "kept": keep.to_string() }))?;
                } else {
                    session.out.line(keep)?;
                }
                Ok(Exit::Done)
            }
        }
    }
}

fn list(store: &Store, session: &mut Session) -> anyhow::Result<Exit> {
    let conflicts = store.admin()?.conflicts()?;
    if session.out.is_json() {
        let conflicts = conflicts.iter().map(|conflict| {
            let versions = conflict.versions.iter().map(ToString::to_string);
            json!({
                "id": id_json(conflict.id.as_ref()),
                "versions": versions.collect::<Vec<_>>(),
            })
        });
        let conflicts: Vec<Value> = conflicts.collect();
        session.out.json(&json!({ "conflicts": conflicts }))?;
    } else {
        for conflict in &conflicts {
            session.out.line(match &conflict.id {
                Some(id) => format!("{} {}", id.format(), id.id()),
                None => "the first stands, and a file puts the others in its place".to_owned(),
            })?;
            for address in &conflict.versions {
                let grain = store.get(address)?;
                let summary = grain.map(|grain| grain.summary()).unwrap_or_default();
                session.out.line(format!("  {address}  {summary}"))?;
            }
        }
    }
    Ok(if conflicts.is_empty() {
        Exit::Nothing
    } else {
        Exit::Done
    })
}

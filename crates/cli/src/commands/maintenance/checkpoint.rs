//! `grainstore checkpoint`: the signed root of the ledger, and the check of a store against one.
//!
//! A rollback of the whole store is visible only to a checkpoint kept outside it.

use clap::{Args, Subcommand};
use grainstore::ErrorCode;
use grainstore::crypto::Checkpoint as Statement;
use serde_json::{Value, json};

use crate::args::{KeySource, read_document};
use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Create signed checkpoints of the ledger, and verify the store against one
///
/// A store cannot detect by itself that all of it was rolled back to an earlier state. A checkpoint
/// kept outside the store detects it.
#[derive(Debug, Args)]
pub(crate) struct CheckpointTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Create(Create),
    Verify(Verify),
    List(List),
}

/// Verify the ledger, sign its root, and print the checkpoint, to be kept outside the store
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore checkpoint create --key operator.pem > /elsewhere/monday.json")]
struct Create {
    #[command(flatten)]
    key: KeySource,
}

/// Verify the store against a checkpoint: exit 4 if its ledger does not extend the signed one
#[derive(Debug, Args)]
struct Verify {
    /// Output of `checkpoint create`, or - for stdin
    file: String,
}

/// List the checkpoints recorded in the ledger, one per line
#[derive(Debug, Args)]
struct List {}

impl CheckpointTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Create(action) => action.run(session),
            Action::Verify(action) => action.run(session),
            Action::List(List {}) => list(session),
        }
    }
}

impl Create {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let key = self.key.read()?;
        let message = session
            .open()?
            .maintenance()?
            .checkpoint(&key, &key.did())?;
        session
            .out
            .json(&json!({ "checkpoint": hex::encode(&message) }))?;
        Ok(Exit::Done)
    }
}

impl Verify {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let text = read_document(&self.file)?;
        let document: Option<Value> = serde_json::from_str(&text).ok();
        let digits = document.and_then(|it| it["checkpoint"].as_str().map(str::to_owned));
        let message = hex::decode(digits.as_deref().unwrap_or(text.trim()));
        let message = message.ok_or_else(|| {
            let message = "neither hexadecimal digits nor the output of `checkpoint create`";
            CliError::new(ErrorCode::Corrupt, message).at(&self.file)
        })?;
        let checked = session
            .open_to_read()?
            .maintenance()?
            .verify_checkpoint(&message)?;
        let mut document = statement_json(&checked.checkpoint);
        document["signer"] = json!(checked.signer.did.as_str());
        document["is_of_this_ledger"] = json!(checked.is_of_this_ledger);
        session.out.json(&document)?;
        Ok(match checked.is_of_this_ledger {
            true => Exit::Done,
            false => Exit::Damaged,
        })
    }
}

fn list(session: &mut Session) -> anyhow::Result<Exit> {
    for message in session.open_to_read()?.maintenance()?.checkpoints()? {
        session
            .out
            .json(&json!({ "checkpoint": hex::encode(&message) }))?;
    }
    Ok(Exit::Done)
}

fn statement_json(statement: &Statement) -> Value {
    json!({
        "store_id": hex::encode(&statement.store),
        "entries": statement.entries,
        "head": hex::encode(&statement.head),
        "root": hex::encode(&statement.root),
        "time": statement.time.ms(),
        "previous": statement.previous.map(|hash| hex::encode(&hash)),
    })
}

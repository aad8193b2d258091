use clap::{Args, Subcommand};
use grainstore::ErrorCode;
use grainstore::crypto::Checkpoint as Statement;
use serde_json::{Value, json};

use super::grain::hex;
use super::signing::unhex;
use crate::exit::Exit;
use crate::key_file::KeySource;
use crate::lines::read_document;
use crate::problem::Problem;
use crate::session::Session;

/// Sign what the ledger is, and hold a store against what was signed
///
/// Nothing inside a store can show that all of it was put back to an earlier state. A checkpoint
/// kept elsewhere does.
#[derive(Debug, Args)]
pub(crate) struct CheckpointTool {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Create(Create),
    Verify(Verify),
    List(List),
}

/// Prove the ledger, sign its root, and print the checkpoint: keep it outside of the store
///
/// Example: grainstore checkpoint create --key operator.pem > /elsewhere/monday.json
#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    key: KeySource,
}

/// Hold a checkpoint against the store: exit 4 if the store does not begin with what was signed
#[derive(Debug, Args)]
struct Verify {
    /// The file that `checkpoint create` printed, or - for stdin
    file: String,
}

/// Show the checkpoints that stand in the ledger, one a line
#[derive(Debug, Args)]
struct List {}

impl CheckpointTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.verb {
            Verb::Create(verb) => verb.run(session),
            Verb::Verify(verb) => verb.run(session),
            Verb::List(List {}) => list(session),
        }
    }
}

impl Create {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let key = self.key.read()?;
        let message = session.open()?.checkpoint(&key, &key.did())?;
        session.out.json(&json!({ "checkpoint": hex(&message) }))?;
        Ok(Exit::Done)
    }
}

impl Verify {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let text = read_document(&self.file)?;
        let document: Option<Value> = serde_json::from_str(&text).ok();
        let digits = document.and_then(|it| it["checkpoint"].as_str().map(str::to_owned));
        let message = unhex(digits.as_deref().unwrap_or(text.trim()));
        let message = message.ok_or_else(|| {
            let message = "neither hexadecimal digits nor what `checkpoint create` prints";
            Problem::new(ErrorCode::Corrupt, message).at(&self.file)
        })?;
        let checked = session.open()?.verify_checkpoint(&message)?;
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
    for message in session.open()?.checkpoints()? {
        session.out.json(&json!({ "checkpoint": hex(&message) }))?;
    }
    Ok(Exit::Done)
}

fn statement_json(statement: &Statement) -> Value {
    json!({
        "store_id": hex(&statement.store),
        "entries": statement.entries,
        "head": hex(&statement.head),
        "root": hex(&statement.root),
        "time": statement.time.ms(),
        "previous": statement.previous.map(|hash| hex(&hash)),
    })
}

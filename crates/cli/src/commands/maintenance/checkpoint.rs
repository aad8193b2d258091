//! `grainstore checkpoint`: the signed root of the ledger, receipts for grains, and the check of a
//! store against them.
//!
//! A rollback of the whole store is visible only to a checkpoint kept outside it.

use clap::{Args, Subcommand};
use grainstore::ErrorCode;
use grainstore::crypto::{Checkpoint as Statement, Receipt};
use serde_json::{Value, json};

use crate::args::{KeySource, address, read_document};
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
    Receipt(ReceiptOf),
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
///
/// Of a receipt, verifies the signature, and that the grain is here: exit 1 if it is not.
#[derive(Debug, Args)]
struct Verify {
    /// Output of `checkpoint create` or `checkpoint receipt`, or - for stdin
    file: String,
}

/// Sign a receipt for a grain: its address, its place in the ledger and its time
///
/// `checkpoint verify` checks it.
#[derive(Debug, Args)]
struct ReceiptOf {
    /// Address of the grain, or its first digits, 4 or more
    address: String,
    #[command(flatten)]
    key: KeySource,
}

/// List the checkpoints recorded in the ledger, one per line
#[derive(Debug, Args)]
struct List {}

impl CheckpointTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Create(action) => action.run(session),
            Action::Verify(action) => action.run(session),
            Action::Receipt(action) => action.run(session),
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
        let member = |name: &str| Some(document.as_ref()?[name].as_str()?.to_owned());
        if let Some(digits) = member("receipt") {
            return self.receipt(session, &digits);
        }
        let digits = member("checkpoint");
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

    fn receipt(&self, session: &mut Session, digits: &str) -> anyhow::Result<Exit> {
        let message = hex::decode(digits).ok_or_else(|| {
            CliError::new(ErrorCode::Corrupt, "not hexadecimal digits").at(&self.file)
        })?;
        let (receipt, signer) = Receipt::open(&message, &*session.resolver())?;
        let store = session.open_to_read()?;
        let is_here = store.exists(&receipt.grain)?;
        session.out.json(&json!({
            "store": hex::encode(&receipt.store),
            "grain": receipt.grain.to_string(),
            "sequence": receipt.sequence,
            "time": receipt.time.ms(),
            "signer": signer.did.as_str(),
            "is_here": is_here,
        }))?;
        Ok(Exit::done_if(is_here))
    }
}

impl ReceiptOf {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let key = self.key.read()?;
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        let message = store.maintenance()?.receipt(&address, &key, &key.did())?;
        session
            .out
            .json(&json!({ "receipt": hex::encode(&message) }))?;
        Ok(Exit::Done)
    }
}

fn list(session: &mut Session) -> anyhow::Result<Exit> {
    let messages = session.open_to_read()?.maintenance()?.checkpoints()?;
    for message in &messages {
        let document = json!({ "checkpoint": hex::encode(message) });
        session.out.json(&document)?;
    }
    Ok(Exit::done_if(!messages.is_empty()))
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

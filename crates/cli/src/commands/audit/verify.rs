//! `grainstore audit verify`: a store or a proof against a checkpoint that was kept elsewhere.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::crypto::Note;
use serde_json::json;

use crate::args::read_document;
use crate::error::{CliError, Exit};
use crate::hex;
use crate::proof::Proof;
use crate::session::Session;

use super::notes::{Signers, read_note};

/// Verify the store, or a proof, against a checkpoint: exit 4 if it does not hold
///
/// Without a proof, reads and verifies the ledger of the store, which must begin with the entries of
/// the checkpoint. With one, needs no store. The signatures of a note are verified under the keys
/// that are given; without keys the file itself is trusted, and the answer says so.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore audit verify --note monday.txt --log-key KEY --witness KEY --witness KEY --witnesses 2")]
pub(super) struct Verify {
    /// Output of `audit prove`, or - for stdin
    proof: Option<String>,
    /// Checkpoint: a note, a file of notes (the last counts), or output of `checkpoint create`
    #[arg(long, value_name = "FILE")]
    note: String,
    /// Older checkpoint that a proof of growth begins with
    #[arg(long, value_name = "FILE", requires = "proof")]
    since: Option<String>,
    #[command(flatten)]
    signers: Signers,
}

impl Verify {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let note = read_note(&self.note, &session.resolver())?;
        let is_signed = self.signers.of(&note);
        let (name, holds) = match &self.proof {
            Some(file) => ("is_proven", self.proves(file, &note, session)?),
            None => {
                let store = session.open_to_read()?;
                let maintenance = store.maintenance()?;
                let is_sound = maintenance.check()?.findings.is_empty();
                let extends = maintenance.audit().extends(&note)?;
                ("is_of_this_ledger", is_sound && extends)
            }
        };
        session.out.json(&json!({
            "origin": note.origin(),
            "entries": note.entries(),
            "root": hex::encode(&note.root()),
            "is_signed": is_signed,
            name: holds,
        }))?;
        Ok(Exit::unless_damaged(!holds || is_signed == Some(false)))
    }

    fn proves(&self, file: &str, note: &Note, session: &Session) -> anyhow::Result<bool> {
        let text = read_document(file)?;
        let refused =
            || CliError::new(ErrorCode::Corrupt, "not the output of `audit prove`").at(file);
        let proof = serde_json::from_str(&text).ok();
        let proof = proof.as_ref().and_then(Proof::from_json);
        let proof = proof.ok_or_else(refused)?;
        match (proof.first(), &self.since) {
            (None, None) => Ok(proof.is_in(note)),
            (None, Some(_)) => Err(refused().into()),
            (Some(_), None) => {
                let message = "a proof of growth needs both checkpoints: --since and --note";
                Err(CliError::new(ErrorCode::Usage, message).into())
            }
            (Some(_), Some(since)) => {
                let first = read_note(since, &session.resolver())?;
                Ok(proof.extends(&first, note) && self.signers.of(&first) != Some(false))
            }
        }
    }
}

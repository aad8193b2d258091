//! `grainstore audit head`: the note of the ledger, signed or not.

use std::fs::OpenOptions;
use std::io::Write as _;

use clap::Args;
use grainstore::crypto::NoteKey;
use serde_json::json;

use crate::args::read_key;
use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Print a checkpoint of the ledger as a signed note, to be kept elsewhere
///
/// The note states the number of entries and the root over them, in the form that public logs and
/// their witnesses use (C2SP signed-note and tlog-checkpoint).
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore audit head --key operator.pem --append /elsewhere/notes.jsonl")]
pub(super) struct Head {
    /// Sign with this Ed25519 key file
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// State the first N entries instead of all
    #[arg(long, value_name = "N")]
    entries: Option<u64>,
    /// Also append the note to this file, as a line of JSON
    #[arg(long, value_name = "FILE")]
    append: Option<String>,
}

impl Head {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let key = self.key.as_deref().map(read_key).transpose()?;
        let store = session.open_to_read()?;
        let audit = store.maintenance()?.audit();
        let mut note = match self.entries {
            Some(entries) => audit.head_after(entries)?,
            None => audit.head()?,
        };
        let mut log_key = None;
        if let Some(key) = &key {
            note.sign(key)?;
            log_key = Some(NoteKey::log(note.origin(), key.verifying_key())?.to_string());
        }
        let text = note.to_string();
        if let Some(file) = &self.append {
            let append = || {
                let mut out = OpenOptions::new().append(true).create(true).open(file)?;
                out.write_all(format!("{}\n", json!({ "note": text })).as_bytes())?;
                out.sync_data()
            };
            append().map_err(|error| CliError::of(&error).at(file))?;
        }
        let out = &mut session.out;
        if out.is_json() {
            out.json(&json!({
                "note": text,
                "entries": note.entries(),
                "root": hex::encode(&note.root()),
                "log_key": log_key,
            }))?;
        } else {
            out.bytes().write_all(text.as_bytes())?;
            if let Some(key) = log_key {
                out.flush()?;
                out.note(format!("verify with --log-key {key}"));
            }
        }
        Ok(Exit::Done)
    }
}

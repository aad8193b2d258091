//! Files of checkpoints: notes, lines of notes as a schedule appends them, and the output of
//! `checkpoint create`.

use std::str::FromStr as _;

use clap::Args;
use grainstore::ErrorCode;
use grainstore::crypto::{Checkpoint, DidDocuments, Note, NoteKey};
use serde_json::Value;

use crate::args::read_document;
use crate::error::CliError;
use crate::hex;

/// The keys that must have signed a checkpoint.
#[derive(Debug, Args)]
pub(super) struct Signers {
    /// Public key of the store's operator (NAME+ID+KEY, as `audit head` prints it): the note must be
    /// signed under it
    #[arg(long, value_name = "KEY", value_parser = NoteKey::from_str)]
    log_key: Option<NoteKey>,
    /// Public key of a witness; may be repeated
    #[arg(long, value_name = "KEY", value_parser = NoteKey::from_str)]
    witness: Vec<NoteKey>,
    /// Number of these witnesses that must have signed the note
    #[arg(long, value_name = "N", default_value_t = 0)]
    witnesses: usize,
}

impl Signers {
    /// Returns whether the keys signed a note: `None` if no signature was asked for.
    pub(super) fn of(&self, note: &Note) -> Option<bool> {
        if self.log_key.is_none() && self.witnesses == 0 {
            return None;
        }
        let log = self.log_key.as_ref();
        let is_signed = log.is_none_or(|key| note.is_signed_by(key));
        Some(is_signed && note.signers(&self.witness) >= self.witnesses)
    }
}

/// Reads the last checkpoint in a file. The signature of an output of `checkpoint create` is
/// verified; those of a note are for [`Signers`].
///
/// # Errors
/// `ERR_CORRUPT`, `ERR_SIGNATURE`, `ERR_UNRESOLVED`, `ERR_IO`.
pub(crate) fn read_note(file: &str, resolver: &DidDocuments) -> anyhow::Result<Note> {
    let text = read_document(file)?;
    let refused = || CliError::new(ErrorCode::Corrupt, "not a checkpoint").at(file);
    if !text.starts_with('{') {
        return Ok(text.parse().map_err(|_| refused())?);
    }
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    let last: Value = serde_json::from_str(last.unwrap_or_default()).map_err(|_| refused())?;
    if let Some(note) = last["note"].as_str() {
        return Ok(note.parse().map_err(|_| refused())?);
    }
    let message = last["checkpoint"].as_str().and_then(hex::decode);
    let (checkpoint, _) = Checkpoint::open(&message.ok_or_else(refused)?, resolver)?;
    let Checkpoint {
        store,
        entries,
        root,
        ..
    } = checkpoint;
    Ok(Note::new(store, entries, root))
}

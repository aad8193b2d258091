//! `grainstore get`: grains by address, as JSON, as blobs, or as they are delivered.
//!
//! A signed grain leaves the store inside its signature only (OMS 9.2).

use grainstore::ErrorCode;
use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use grainstore::Grain;
use grainstore::grain::Status;
use grainstore::interchange::mg;
use grainstore::store::Signature;
use serde_json::json;

use super::state::{signature_json, signature_line, status_json, status_line};
use crate::args::As;
use crate::args::address;
use crate::error::{CliError, Exit};
use crate::output::{Output, is_screen, printable_lines};
use crate::session::Session;
use grainstore::crypto::to_delivery;

/// Show grains by address
///
/// Every read verifies the bytes of the grain against its address.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore get --archive memory.mg 42")]
pub(crate) struct Get {
    /// Addresses of grains, or their first digits, 4 or more; with --archive numbers, from 0
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<String>,
    /// Read the grains out of this .mg file by their numbers, without the others and without a store
    #[arg(long, value_name = "FILE", conflicts_with_all = ["author", "inside", "role", "cleared"])]
    archive: Option<PathBuf>,
    /// Write the raw blobs, concatenated; signed grains require --delivery instead
    #[arg(long, conflicts_with = "json")]
    blob: bool,
    /// Write the grains as delivered: the blob, or for a signed grain its COSE_Sign1 envelope
    #[arg(long, conflicts_with_all = ["json", "blob"])]
    delivery: bool,
    #[command(flatten)]
    as_whom: As,
}

impl Get {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        if (self.blob || self.delivery) && is_screen() {
            let message = "a blob is binary data, and stdout is a terminal";
            return Err(CliError::new(ErrorCode::Terminal, message).into());
        }
        if let Some(archive) = &self.archive {
            return self.run_on(archive, &mut session.out);
        }
        let store = session.open_to_read()?;
        let handle = self.as_whom.narrow(&store)?;
        let out = &mut session.out;
        let mut exit = Exit::Done;
        for text in &self.addresses {
            let found = address::resolve(&store, text).and_then(|address| {
                let grain = handle.get(&address)?;
                Ok(grain.ok_or(grainstore::store::Error::NotFound { address })?)
            });
            match found {
                Ok(grain) if self.blob || self.delivery => {
                    out.bytes().write_all(&self.bytes(&grain)?)?;
                }
                Ok(grain) => {
                    // A sealed grain may have been asked for by the address of its ciphertext.
                    let status = handle.status(&grain.address())?;
                    let signature = store.signature(&grain.address())?;
                    show(&grain, Some(&status), signature.as_ref(), out)?;
                }
                Err(error) => exit = not_found(error, out)?,
            }
        }
        Ok(exit)
    }

    /// Shows grains of an archive by their numbers (OMS 11.4). The status that its manifest may give
    /// them is not read.
    fn run_on(&self, archive: &Path, out: &mut Output) -> anyhow::Result<Exit> {
        let mut exit = Exit::Done;
        for text in &self.addresses {
            let number = text.parse().map_err(|_| {
                let message = format!("\"{text}\" is not the number of a grain of an archive");
                CliError::new(ErrorCode::Usage, message)
            })?;
            let file = File::open(archive);
            let file = file.map_err(|error| CliError::of(&error).at(archive.display()))?;
            let found = mg::grain_at(file, number);
            let found = found.map_err(|error| CliError::of(&error).at(archive.display()))?;
            match found {
                Some(grain) if self.blob || self.delivery => {
                    out.bytes().write_all(&self.bytes(&grain)?)?;
                }
                Some(grain) => show(&grain, None, None, out)?,
                None => {
                    let message = format!("{} has no grain {number}", archive.display());
                    let error = CliError::new(ErrorCode::NotFound, message);
                    exit = not_found(error.into(), out)?;
                }
            }
        }
        Ok(exit)
    }

    /// OMS 9.2: a signed grain is delivered with its signature only.
    fn bytes<'a>(&self, grain: &'a Grain) -> Result<Cow<'a, [u8]>, CliError> {
        if self.blob && grain.is_signed() {
            let message = "the grain is signed, and is delivered with its signature only";
            return Err(CliError::new(ErrorCode::SignedMismatch, message));
        }
        to_delivery(grain).map_err(|error| CliError::of(&error))
    }
}

/// Reports an error, and goes on after one that says that nothing was found.
fn not_found(error: anyhow::Error, out: &mut Output) -> anyhow::Result<Exit> {
    let reported = CliError::of(error.as_ref());
    if reported.exit() != Exit::Nothing {
        return Err(error);
    }
    out.error(&reported)?;
    Ok(Exit::Nothing)
}

fn show(
    grain: &Grain,
    status: Option<&Status>,
    signature: Option<&Signature>,
    out: &mut Output,
) -> anyhow::Result<()> {
    let address = grain.address();
    let fields = serde_json::to_value(grain)?;
    if out.is_json() {
        let mut document = json!({
            "address": address.to_string(),
            "grain": fields,
        });
        if let Some(status) = status {
            document["status"] = status_json(status);
        }
        if let Some(signature) = signature {
            document["signature"] = signature_json(signature);
        }
        return Ok(out.json(&document)?);
    }
    out.line(serde_json::to_string_pretty(&fields)?)?;
    let notes = [status.and_then(status_line), signature.map(signature_line)];
    for line in notes.into_iter().flatten() {
        out.flush()?;
        out.note(printable_lines(&format!("{address} {line}")));
    }
    Ok(())
}

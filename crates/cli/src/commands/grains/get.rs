//! `grainstore get`: grains by address, as JSON, as blobs, or as they are delivered.
//!
//! A signed grain leaves the store inside its signature only (OMS 9.2).

use grainstore::ErrorCode;
use std::borrow::Cow;
use std::io::Write;

use clap::Args;
use grainstore::grain::Status;
use grainstore::store::Signature;
use grainstore::{ContentAddress, Grain};
use serde_json::{Value, json};

use super::state::{signature_json, signature_line, status_json, status_line};
use crate::args::As;
use crate::args::address;
use crate::error::{CliError, Exit};
use crate::output::{Output, is_screen, printable_lines};
use crate::session::Session;

/// Show grains by address
///
/// Every read verifies the bytes of the grain against its address.
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// Addresses of grains, or their first digits, 4 or more
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<String>,
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
        let store = session.open_to_read()?;
        let handle = self.as_whom.narrow(&store)?;
        let out = &mut session.out;
        let mut exit = Exit::Done;
        for text in &self.addresses {
            let found = address::resolve(&store, text).and_then(|address| {
                let grain = handle.get(&address)?;
                let grain = grain.ok_or(grainstore::store::Error::NotFound { address })?;
                Ok((address, grain))
            });
            match found {
                Ok((_, grain)) if self.blob || self.delivery => {
                    out.bytes().write_all(&self.bytes(&grain)?)?;
                }
                Ok((address, grain)) => {
                    let status = handle.status(&address)?;
                    let signature = store.signature(&address)?;
                    show(&address, &grain, &status, signature.as_ref(), out)?;
                }
                Err(error) => {
                    let reported = CliError::of(error.as_ref());
                    if reported.exit() != Exit::Nothing {
                        return Err(error);
                    }
                    out.error(&reported)?;
                    exit = Exit::Nothing;
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
        grain.to_delivery().map_err(|error| CliError::of(&error))
    }
}

fn show(
    address: &ContentAddress,
    grain: &Grain,
    status: &Status,
    signature: Option<&Signature>,
    out: &mut Output,
) -> anyhow::Result<()> {
    let fields: Value = serde_json::from_str(&grain.to_json())?;
    if out.is_json() {
        let mut document = json!({
            "address": address.to_string(),
            "grain": fields,
            "status": status_json(status),
        });
        if let Some(signature) = signature {
            document["signature"] = signature_json(signature);
        }
        return Ok(out.json(&document)?);
    }
    out.line(serde_json::to_string_pretty(&fields)?)?;
    let notes = [status_line(status), signature.map(signature_line)];
    for line in notes.into_iter().flatten() {
        out.flush()?;
        out.note(printable_lines(&format!("{address} {line}")));
    }
    Ok(())
}

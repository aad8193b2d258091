use std::borrow::Cow;
use std::io::Write;

use clap::Args;
use grainstore::grain::Status;
use grainstore::policy::Trust;
use grainstore::store::Signature;
use grainstore::{ContentAddress, ErrorCode, Grain, Time};
use serde_json::{Value, json};

use crate::address;
use crate::door::As;
use crate::exit::Exit;
use crate::output::{Output, is_screen};
use crate::printable::printable_lines;
use crate::problem::Problem;
use crate::session::Session;

/// Show grains by their addresses
///
/// The bytes of a grain are checked against its address on every read.
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// Addresses, whole or their first 8 to 16 digits
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<String>,
    /// Write the blobs themselves, one after the other; those of signed grains go out only with
    /// --delivery
    #[arg(long, conflicts_with = "json")]
    blob: bool,
    /// Write the grains as they travel: a blob, or the COSE_Sign1 message around it
    #[arg(long, conflicts_with_all = ["json", "blob"])]
    delivery: bool,
    #[command(flatten)]
    as_whom: As,
}

impl Get {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        if (self.blob || self.delivery) && is_screen() {
            let message = "a blob is no text for a terminal";
            return Err(Problem::new(ErrorCode::Terminal, message).into());
        }
        let store = session.open()?;
        let door = self.as_whom.door(&store)?;
        let out = &mut session.out;
        let mut exit = Exit::Done;
        for text in &self.addresses {
            let found = address::resolve(&store, text).and_then(|address| {
                let grain = door.get(&address)?;
                let grain = grain.ok_or(grainstore::store::Error::NotFound { address })?;
                Ok((address, grain))
            });
            match found {
                Ok((_, grain)) if self.blob || self.delivery => {
                    out.bytes().write_all(&self.bytes(&grain)?)?;
                }
                Ok((address, grain)) => {
                    let status = door.status(&address)?;
                    let signature = store.signature(&address)?;
                    show(&address, &grain, &status, signature.as_ref(), out)?;
                }
                Err(error) => {
                    let problem = Problem::of(error.as_ref());
                    if problem.exit() != Exit::Nothing {
                        return Err(error);
                    }
                    out.problem(&problem)?;
                    exit = Exit::Nothing;
                }
            }
        }
        Ok(exit)
    }

    /// OMS 9.2: a signed grain is not let out without its signature.
    fn bytes<'a>(&self, grain: &'a Grain) -> Result<Cow<'a, [u8]>, Problem> {
        if self.blob && grain.is_signed() {
            let message = "the grain is signed, and travels inside its signature";
            return Err(Problem::new(ErrorCode::SignedMismatch, message));
        }
        grain.to_delivery().map_err(|error| Problem::of(&error))
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

/// Returns the members of `signature` in JSON output.
pub(super) fn signature_json(signature: &Signature) -> Value {
    let mut members = json!({
        "signer": signature.signer.as_str(),
        "trust": signature.trust.name(),
    });
    if let Trust::Untrusted(doubt) = signature.trust {
        members["doubt"] = json!(doubt.name());
    }
    members
}

fn signature_line(signature: &Signature) -> String {
    let signer = &signature.signer;
    match signature.trust {
        Trust::Verified => format!("is signed by {signer}, who is trusted with it"),
        Trust::Untrusted(doubt) => format!("is signed by {signer}, untrusted: {doubt}"),
    }
}

/// Returns the members of `status` in JSON output.
pub(super) fn status_json(status: &Status) -> Value {
    json!({
        "current": status.is_current(),
        "superseded_by": status.superseded_by.map(|address| address.to_string()),
        "system_valid_to": status.system_valid_to.map(Time::ms),
        "verification_status": status.verification.name(),
        "contradicted": status.contradicted,
        "lifecycle": status.lifecycle.name(),
    })
}

/// Returns what there is to say about a grain that is not simply current.
fn status_line(status: &Status) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(by) = status.superseded_by {
        parts.push(format!("is superseded by {by}"));
    }
    match status.system_valid_to {
        Some(time) if !status.is_current() => parts.push(format!("is not current since {time}")),
        _ => {}
    }
    let default = Status::default();
    if status.verification != default.verification {
        parts.push(format!("is {}", status.verification.name()));
    }
    if status.contradicted {
        parts.push("is contradicted".to_owned());
    }
    if status.lifecycle != default.lifecycle {
        parts.push(format!("is {}", status.lifecycle.name()));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

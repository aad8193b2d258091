use std::io::Write;

use clap::Args;
use grainstore::grain::Status;
use grainstore::{ContentAddress, Grain, Time};
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
    /// Write the blobs themselves, one after the other
    #[arg(long, conflicts_with = "json")]
    blob: bool,
    #[command(flatten)]
    as_whom: As,
}

impl Get {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        if self.blob && is_screen() {
            let message = "a blob is no text for a terminal";
            return Err(Problem::new("ERR_TERMINAL", message).into());
        }
        let store = session.open()?;
        let door = self.as_whom.door(&store)?;
        let out = &mut session.out;
        let mut exit = Exit::Done;
        for text in &self.addresses {
            let found = address::resolve(&store, text).and_then(|address| {
                let grain = door.get(&address)?;
                let grain = grain.ok_or(grainstore::store::Error::NotFound { address })?;
                Ok((address, grain, door.status(&address)?))
            });
            match found {
                Ok((_, grain, _)) if self.blob => out.bytes().write_all(grain.blob())?,
                Ok((address, grain, status)) => show(&address, &grain, &status, out)?,
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
}

fn show(
    address: &ContentAddress,
    grain: &Grain,
    status: &Status,
    out: &mut Output,
) -> anyhow::Result<()> {
    let fields: Value = serde_json::from_str(&grain.to_json())?;
    if out.is_json() {
        return Ok(out.json(&json!({
            "address": address.to_string(),
            "grain": fields,
            "status": status_json(status),
        }))?);
    }
    out.line(serde_json::to_string_pretty(&fields)?)?;
    if let Some(line) = status_line(status) {
        out.flush()?;
        out.note(printable_lines(&format!("{address} {line}")));
    }
    Ok(())
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

//! `grainstore consent due` and `run`: grains whose consent was withdrawn, and their erasure.
//!
//! Withdrawals take effect when they are stored; the erasure here removes the bytes.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::store::PendingErasure;
use serde_json::{Value, json};

use crate::args::AuthorizationArgs;
use crate::args::address::short;
use crate::error::{CliError, Exit};
use crate::session::Session;

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    authorization: AuthorizationArgs,
    /// Confirm the erasure, which cannot be undone
    #[arg(long)]
    yes: bool,
}

pub(super) fn due(session: &mut Session) -> anyhow::Result<Exit> {
    let due = session.open_to_read()?.admin()?.pending_erasures()?;
    if session.out.is_json() {
        let due: Vec<_> = due.iter().map(due_json).collect();
        session.out.json(&json!({ "due": due }))?;
        return Ok(Exit::Done);
    }
    for one in &due {
        session.out.line(line(one))?;
    }
    Ok(Exit::done_if(!due.is_empty()))
}

impl Run {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        if !self.yes {
            let message = "erasure cannot be undone; pass --yes to confirm";
            return Err(CliError::new(ErrorCode::Usage, message).into());
        }
        let done = session
            .open()?
            .admin()?
            .run_consent_erasures(self.authorization.as_given())?;
        if session.out.is_json() {
            let erased: Vec<_> = done.erased.iter().map(ToString::to_string).collect();
            let damaged: Vec<u64> = done.damaged.iter().map(|entry| entry.get()).collect();
            let kept: Vec<_> = done.kept.iter().map(due_json).collect();
            session.out.json(&json!({
                "erased": erased,
                "kept": kept,
                "damaged_entries": damaged,
            }))?;
        } else {
            for address in &done.erased {
                session.out.line(format!("erased {address}"))?;
            }
            for one in &done.kept {
                session.out.line(line(one))?;
            }
            for entry in &done.damaged {
                let message = format!("entry {entry} is damaged; delete its grain by address");
                session.out.line(message)?;
            }
        }
        if !done.damaged.is_empty() {
            return Ok(Exit::Damaged);
        }
        Ok(Exit::done_if(done.kept.is_empty()))
    }
}

fn line(due: &PendingErasure) -> String {
    let kept = match due.kept {
        Some(rule) => format!("kept: {rule}"),
        None => format!("due {}", due.due_at),
    };
    let (address, consent) = (short(&due.address), short(&due.consent));
    format!("{address}  based on {consent}  {kept}")
}

fn due_json(due: &PendingErasure) -> Value {
    json!({
        "address": due.address.to_string(),
        "consent": due.consent.to_string(),
        "withdrawal": due.withdrawal.to_string(),
        "withdrawn_at": due.withdrawn_at.ms(),
        "due_at": due.due_at.ms(),
        "kept": due.kept.map(grainstore::policy::Rule::name),
    })
}

//! `grainstore consent due` and `run`: grains whose consent was withdrawn, and their erasure.
//!
//! Withdrawals take effect when they are stored; the erasure here removes the bytes.

use std::collections::BTreeMap;

use clap::Args;
use grainstore::store::PendingErasure;
use grainstore::{ErrorCode, Store};
use serde_json::{Value, json};

use crate::args::AuthorizationArgs;
use crate::args::address::short;
use crate::error::{CliError, Exit};
use crate::hex;
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
    let store = session.open_to_read()?;
    let (due, waiting) = {
        let admin = store.admin()?;
        (admin.pending_erasures()?, admin.waiting_persons()?)
    };
    let waiting = named(&store, &waiting);
    if session.out.is_json() {
        let due: Vec<_> = due.iter().map(due_json).collect();
        let waiting = waiting_json(&waiting);
        session
            .out
            .json(&json!({ "due": due, "waiting": waiting }))?;
        return Ok(Exit::Done);
    }
    for one in &due {
        session.out.line(line(one))?;
    }
    for line in waiting_lines(&waiting) {
        session.out.line(line)?;
    }
    Ok(Exit::done_if(!(due.is_empty() && waiting.is_empty())))
}

impl Run {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        if !self.yes {
            let message = "erasure cannot be undone; pass --yes to confirm";
            return Err(CliError::new(ErrorCode::Usage, message).into());
        }
        let store = session.open()?;
        let done = store
            .admin()?
            .run_consent_erasures(self.authorization.as_given())?;
        let waiting = named(&store, &done.waiting);
        if session.out.is_json() {
            let erased: Vec<_> = done.erased.iter().map(ToString::to_string).collect();
            let damaged: Vec<u64> = done.damaged.iter().map(|entry| entry.get()).collect();
            let kept: Vec<_> = done.kept.iter().map(due_json).collect();
            session.out.json(&json!({
                "erased": erased,
                "kept": kept,
                "damaged_entries": damaged,
                "waiting": waiting_json(&waiting),
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
            for line in waiting_lines(&waiting) {
                session
                    .out
                    .line(format!("{line}: done when they are unlocked"))?;
            }
        }
        if !done.damaged.is_empty() {
            return Ok(Exit::Damaged);
        }
        let is_done = done.kept.is_empty() && done.waiting.is_empty();
        Ok(Exit::done_if(is_done))
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

/// The persons who wait: of each the pseudonym, the user id where the master key tells it, and the number
/// of grains that are due, `None` where that is unknown.
type Waiting = Vec<(String, Option<String>, Option<u64>)>;

fn named(store: &Store, persons: &BTreeMap<[u8; 16], Option<u64>>) -> Waiting {
    let is_any_known = persons.values().any(Option::is_some);
    let users = match store.admin() {
        Ok(admin) if is_any_known => admin.vault().list().unwrap_or_default(),
        _ => Vec::new(),
    };
    let user_of = |uid| users.iter().find(|user| user.uid == uid);
    let waiting = persons.iter().map(|(uid, grains)| {
        let user = user_of(*uid).map(|user| user.user.clone());
        (hex::encode(uid), user, *grains)
    });
    waiting.collect()
}

fn waiting_lines(waiting: &Waiting) -> impl Iterator<Item = String> {
    waiting.iter().map(|(uid, user, grains)| {
        let name = user.as_ref().unwrap_or(uid);
        let what = match grains {
            Some(grains) => format!("{grains} grains are due"),
            None => "could not be looked into".to_owned(),
        };
        format!("locked {name}  {what}")
    })
}

fn waiting_json(waiting: &Waiting) -> Value {
    let persons = waiting.iter();
    persons
        .map(|(uid, user, grains)| json!({ "uid": uid, "user": user, "grains": grains }))
        .collect()
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

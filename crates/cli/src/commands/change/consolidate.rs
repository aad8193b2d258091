//! `grainstore consolidate`: beliefs from turns, by a program of the user's.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use grainstore::query::{Consolidated, Consolidation};
use grainstore::{ErrorCode, Filter};
use serde_json::json;

use super::asked_program::ask;
use crate::error::{CliError, Exit};
use crate::output::printable_lines;
use crate::session::Session;

/// Derive beliefs from new turns with a program of yours
///
/// The program is started for the turns of one person in one namespace, reads them as JSON lines on stdin,
/// with what is believed already, and writes a belief a line to stdout (docs/interchange.md). No turn is
/// handed over twice; a run that was interrupted goes on with the next. `undo` takes a run back as one.
/// Exits with 1 if a line, or the belief on it, is refused.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Example, with a program that asks a model on this machine:
  grainstore consolidate --with 'python3 facts.py' --user mira --review"
)]
pub(crate) struct Consolidate {
    /// Program with its arguments, separated by spaces
    #[arg(long = "with", value_name = "CMD")]
    command: String,
    /// Name of the program, the method of its beliefs (default: the name of its file)
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Only turns of this namespace and those inside it
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Only turns of this person (user_id)
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Only turns of this conversation (session_id)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Approximate maximum number of tokens that the program is given in all
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    budget: usize,
    /// Approximate maximum number of tokens that it is given at once
    #[arg(long, value_name = "N", default_value_t = 4_000)]
    per_call: usize,
    /// Longest wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    answer_wait: u64,
    /// Hold new beliefs until a person has cleared them (`policy review`); they replace others only then
    #[arg(long)]
    review: bool,
}

impl Consolidate {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let asked = self.asked()?;
        let store = session.open()?;
        let wait = Duration::from_secs(self.answer_wait);
        let mut ask = |lines: &str| ask(&self.command, wait, lines);
        let done = store.admin()?.consolidate(&asked, &mut ask)?;
        report(&done, session)?;
        Ok(Exit::done_if(done.refused.is_empty()))
    }

    fn asked(&self) -> Result<Consolidation, CliError> {
        let name = self.command.split_whitespace().next();
        let name = name.and_then(|name| Path::new(name).file_stem()?.to_str());
        let Some(name) = self.method.as_deref().or(name) else {
            let message = "--with names no program";
            return Err(CliError::new(ErrorCode::Usage, message));
        };
        let mut turns = Filter::new();
        if let Some(namespace) = &self.namespace {
            turns = turns.namespace(namespace);
        }
        if let Some(user) = &self.user {
            turns = turns.user(user);
        }
        if let Some(session) = &self.session {
            turns = turns.session(session);
        }
        Ok(Consolidation {
            turns,
            budget: self.budget,
            per_call: self.per_call,
            awaits_review: self.review,
            ..Consolidation::by(name)
        })
    }
}

fn report(done: &Consolidated, session: &mut Session) -> anyhow::Result<()> {
    let refused = done.refused.iter().map(|error| CliError::of(error));
    if session.out.is_json() {
        let refused: Vec<_> = refused.map(|error| error.to_json()).collect();
        let stored: Vec<_> = done.stored.iter().map(ToString::to_string).collect();
        return Ok(session.out.json(&json!({
            "calls": done.calls,
            "known": done.known,
            "left": done.left,
            "refused": refused,
            "replaced": done.replaced,
            "run": done.run,
            "stored": stored,
            "turns": done.turns,
        }))?);
    }
    session.out.line(format!(
        "{} turns: {} beliefs stored, {} replaced, {} known, {} refused; {} turns left",
        done.turns,
        done.stored.len(),
        done.replaced,
        done.known,
        done.refused.len(),
        done.left
    ))?;
    for error in refused.take(SHOWN_MAX) {
        let line = printable_lines(&error.to_string());
        session.out.note(format!("refused: {line}"));
    }
    Ok(())
}

/// So many refusals are shown to people; JSON has all.
const SHOWN_MAX: usize = 20;

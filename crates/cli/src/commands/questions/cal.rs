//! `grainstore cal`: a statement of the Context Assembly Language (CAL 1.0).
//!
//! A refused statement is shown with a mark under the place of its mistake.

use std::io::{self, BufRead, Write as _};
use std::sync::Arc;

use clap::Args;
use grainstore::store::{Clock as _, SystemClock};
use grainstore::{Page, Store, Time};
use grainstore_cal::{Answer, Body, Failure, Host, Options, Query, parse};
use serde_json::{Map, Value, json};

use super::answer::{Scores, show};
use super::editor::Editor;
use crate::args::{As, read_document, time_from};
use crate::commands::grains::timeline::timeline;
use crate::error::{CliError, Exit};
use crate::output::{Output, is_dialogue, printable};
use crate::session::Session;

/// Answer a statement of the Context Assembly Language (CAL)
///
/// With --json the result is the envelope of CAL. A refused statement is shown with a mark under its
/// mistake. No statement deletes, and ADD, SUPERSEDE and REVERT need --allow-changes. Without a
/// statement they are read from stdin, each a line, until it ends; on a terminal with a history,
/// completion and colours. Exits with 1 if nothing is found.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Examples:
  grainstore cal 'RECALL beliefs ABOUT "mira" | LIMIT 5 AS sml'
  grainstore cal 'RECALL WHERE subject = $who | COUNT' --param who=mira"#)]
pub(crate) struct Cal {
    /// Statement; several arguments are joined
    #[arg(value_name = "STATEMENT")]
    statement: Vec<String>,
    /// Read the statement from a file; - for stdin
    #[arg(short, long, value_name = "FILE", conflicts_with = "statement")]
    file: Option<String>,
    /// Value of a parameter, as JSON or else as text; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, Value)>,
    /// User that MY stands for
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Moment to which words such as "yesterday" refer [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    now: Option<Time>,
    /// Make the change of ADD, SUPERSEDE or REVERT
    #[arg(long)]
    allow_changes: bool,
    #[command(flatten)]
    as_whom: As,
}

impl Cal {
    /// Returns whether statements are read from stdin, one after another.
    pub(crate) const fn is_shell(&self) -> bool {
        self.file.is_none() && self.statement.is_empty()
    }

    pub(crate) fn run(mut self, session: &mut Session) -> anyhow::Result<Exit> {
        let statement = match &self.file {
            Some(file) => Some(read_document(file)?),
            None => (!self.statement.is_empty()).then(|| self.statement.join(" ")),
        };
        let query = statement.as_deref().map(parse);
        let is_change = |query: &Query| query.is_change() && self.allow_changes;
        let changes = match &query {
            Some(query) => query.as_ref().is_ok_and(is_change),
            None => self.allow_changes,
        };
        let store = match changes {
            true => session.open()?,
            false => session.open_to_ask()?,
        };
        let asker = Asker {
            handle: self.as_whom.narrow(&store)?,
            host: match self.allow_changes {
                true => Arc::new(Host::with_changes()?),
                false => Arc::default(),
            },
            user: self.user.take(),
            parameters: self.parameters.drain(..).collect(),
            now: self.now,
        };
        match (statement, query) {
            (Some(text), Some(query)) => asker.answer(&text, query, session),
            _ if is_dialogue() => dialogue(&asker, session),
            _ => lines(&asker, &mut io::stdin().lock(), session),
        }
    }
}

/// Reads statements from a terminal, and answers them.
fn dialogue(asker: &Asker, session: &mut Session) -> anyhow::Result<Exit> {
    let message = "statements of CAL; DESCRIBE grammar shows how, Tab completes, Ctrl-D ends";
    session.out.note(message);
    let mut editor = Editor::open()?;
    while let Some(text) = editor.read()? {
        if !text.trim().is_empty() {
            asker.answer(text.trim_end(), parse(&text), session)?;
            session.out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// Reads statements, each a line and those after it that it needs, and answers them.
fn lines(asker: &Asker, input: &mut impl BufRead, session: &mut Session) -> anyhow::Result<Exit> {
    let (mut text, mut worst) = (String::new(), Exit::Done);
    loop {
        let before = text.len();
        let is_end = input.read_line(&mut text)? == 0;
        let is_asked = is_end || text[before..].trim().is_empty();
        let query = parse(&text);
        let is_unfinished = query
            .as_ref()
            .is_err_and(|error| error.is_unfinished(&text));
        if is_unfinished && !is_asked {
            continue;
        }
        if !text.trim().is_empty() {
            let exit = asker.answer(text.trim_end(), query, session)?;
            session.out.flush()?;
            // Where nothing was found, nothing went wrong.
            if exit != Exit::Nothing {
                worst = worst.worse(exit);
            }
        }
        text.clear();
        if is_end {
            return Ok(worst);
        }
    }
}

/// The asker, and the memory between statements.
struct Asker {
    handle: Store,
    host: Arc<Host>,
    user: Option<String>,
    parameters: Map<String, Value>,
    now: Option<Time>,
}

impl Asker {
    fn answer(
        &self,
        statement: &str,
        query: Result<Query, grainstore_cal::Error>,
        session: &mut Session,
    ) -> anyhow::Result<Exit> {
        let options = Options {
            user: self.user.clone(),
            parameters: self.parameters.clone(),
            host: Some(Arc::clone(&self.host)),
            ..Options::at(self.now.unwrap_or_else(|| SystemClock.now()))
        };
        let answered = query.map_err(Failure::from).and_then(|query| {
            match query.is_change() && self.host.takes_changes() {
                true => self.change(&query, &options),
                false => query.run(&self.handle, &options),
            }
        });
        match answered {
            Ok(answer) => {
                show_answer(&answer, &mut session.out)?;
                for warning in answer.warnings.iter().filter(|_| !session.out.is_json()) {
                    session
                        .out
                        .note(format!("warning[{}]: {}", warning.code, warning.message));
                }
                Ok(Exit::done_if(answer.is_found()))
            }
            Err(failure) => refuse(&failure, statement, session),
        }
    }

    /// Makes a change in its two phases: the option is the consent to it.
    fn change(&self, query: &Query, options: &Options) -> Result<Answer, Failure> {
        let prepared = self.host.prepare(&self.handle, query, options)?;
        let change = self.host.redeem(&self.handle, &prepared.token)?;
        change.apply(&self.handle)
    }
}

/// Reads the value of a parameter: JSON, or else a text.
fn parameter(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    Ok((name.trim_start_matches('$').to_owned(), value))
}

/// Shows why a statement has no answer.
fn refuse(failure: &Failure, statement: &str, session: &mut Session) -> anyhow::Result<Exit> {
    let error = match failure {
        Failure::Statement(error) => error,
        Failure::Store(error) => {
            let error = CliError::of(error).in_store(session.store_path());
            // A damaged store ends the shell, and the command says more of it.
            if error.exit() == Exit::Damaged {
                return Err(error.into());
            }
            session.out.error(&error)?;
            return Ok(error.exit());
        }
        _ => anyhow::bail!("{failure}"),
    };
    if session.out.is_json() {
        let document = json!({ "error": failure.to_json(statement) });
        session.out.json(&document)?;
    } else {
        session.out.refusal(&error.pointed(statement))?;
    }
    Ok(Exit::Failed)
}

/// Writes an answer: its envelope as JSON, the text that it asks for, or lines.
fn show_answer(answer: &Answer, out: &mut Output) -> anyhow::Result<()> {
    if out.is_json() {
        return Ok(out.json(&answer.to_json())?);
    }
    match (answer.text(), &answer.body) {
        // The formats escape what a terminal must not get.
        (Some(text), _) => write!(out.bytes(), "{text}")?,
        (None, Body::Grains(grains)) if grains.select.is_none() => {
            let envelope = Page {
                results: grains.found.clone(),
                total: grains.total,
                total_is_lower_bound: grains.total_is_lower_bound,
                ..Page::default()
            };
            show(&envelope, Scores::Hidden, out)?;
        }
        (None, Body::Grains(_)) => {
            let document = answer.to_json();
            for row in document["results"].as_array().into_iter().flatten() {
                out.line(&row["grain"])?;
            }
        }
        (None, Body::Values(values)) => {
            for value in values {
                out.line(shown(value))?;
            }
        }
        (None, Body::Groups { groups, .. }) => {
            for (value, count) in groups {
                out.line(format!("{count:>6}  {}", shown(value)))?;
            }
        }
        (None, Body::Changed { address, .. }) => out.line(address)?,
        (None, Body::Count(count)) => out.line(count)?,
        (None, Body::Exists(exists)) => out.line(exists)?,
        (None, Body::History { versions, .. }) => {
            let mut oldest_first = versions.clone();
            oldest_first.reverse();
            for line in timeline(&oldest_first, 0).lines() {
                out.styled_line(&line)?;
            }
        }
        (None, Body::Diff(changes)) => {
            for (field, from, to) in changes {
                out.line(format!("{field}: {from} -> {to}"))?;
            }
        }
        (None, Body::Batch(slots)) => {
            for (label, slot) in slots {
                out.line(format!("{label}:"))?;
                match slot {
                    Ok(answer) => show_answer(answer, out)?,
                    Err(failure) => out.line(format!("error[{}]: {failure}", failure.code()))?,
                }
            }
        }
        (None, _) => {
            let mut document = answer.to_json();
            if let Some(members) = document.as_object_mut() {
                members.remove("_cal");
            }
            out.line(serde_json::to_string_pretty(&document)?)?;
        }
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), printable)
}

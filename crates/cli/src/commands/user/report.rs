//! `grainstore user report`: everything that the store holds about a person.
//!
//! Files in other formats are written by `export --person`.

use clap::Args;
use grainstore::Store;
use grainstore::store::{PersonGrain, PersonReport};
use serde_json::{Value, json};

use super::unknown::unknown;
use super::user_tool::PersonArgs;
use crate::commands::grains::state::status_json;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// List everything about a person, and the fields by which each grain was found
///
/// Replaced versions and expired grains are included. --json prints a summary, then a line for each
/// grain, with its content, status, foreign identifiers, embeddings and recorded reads. To write the
/// grains about the person to a file of any format: `grainstore export --person ID`. Every entry of
/// the store is read; if one cannot be, the report fails.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore user report alice --json > alice.jsonl
  grainstore export --person alice --format pam --plain -o alice.json")]
pub(super) struct Report {
    #[command(flatten)]
    person: PersonArgs,
}

impl Report {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let person = self.person.person();
        let report = store.admin()?.person_report(&person)?;
        if session.out.is_json() {
            let mut document = summary_json(&report);
            document["person"] = json!(person.ids());
            session.out.json(&document)?;
            for (found, is_about) in grains(&report) {
                session.out.json(&grain_json(&store, found, is_about)?)?;
            }
        } else {
            for (found, is_about) in grains(&report) {
                session.out.line(line(found, is_about))?;
            }
            for (entry, kind) in &report.records {
                let message = format!("entry {entry}  {kind}  names the person and stays");
                session.out.line(message)?;
            }
        }
        if report.locked_persons > 0 {
            session.out.note(locked_note(report.locked_persons));
        }
        let is_empty = report.about.is_empty() && report.mentions.is_empty();
        let is_known = !is_empty || !report.records.is_empty();
        if !is_known {
            session.out.note(unknown(&store, self.person.name())?);
        }
        Ok(Exit::done_if(is_known))
    }
}

/// Returns the grains of a report, each with whether it is about the person.
fn grains(report: &PersonReport) -> impl Iterator<Item = (&PersonGrain, bool)> {
    let about = report.about.iter().map(|found| (found, true));
    about.chain(report.mentions.iter().map(|found| (found, false)))
}

pub(super) fn line(found: &PersonGrain, is_about: bool) -> String {
    let word = if is_about { "about" } else { "mentions" };
    let fields = found.found_by.join(", ");
    let kept = found.kept.map(|rule| format!("  kept: {rule}"));
    let kept = kept.unwrap_or_default();
    format!("{}  {word}  {fields}{kept}", found.address)
}

pub(super) fn locked_note(count: u64) -> String {
    let (persons, are) = match count {
        1 => ("person", "is"),
        _ => ("persons", "are"),
    };
    format!("{count} other {persons} {are} locked: what they say of this one was not looked into")
}

fn summary_json(report: &PersonReport) -> Value {
    let records = report.records.iter();
    let records = records.map(|(entry, kind)| json!({ "entry": entry.get(), "kind": kind }));
    json!({
        "about": report.about.len(),
        "mentions": report.mentions.len(),
        "records": records.collect::<Vec<_>>(),
        "entries_written": report.written,
        "tombstones_of_all_persons": report.tombstones,
        "entries_searched": report.entries,
        "locked_persons": report.locked_persons,
    })
}

fn grain_json(store: &Store, found: &PersonGrain, is_about: bool) -> anyhow::Result<Value> {
    let ids = found.foreign_ids.iter();
    let ids = ids.map(|id| json!({ "format": id.format(), "scope": id.scope(), "id": id.id() }));
    let mut document = json!({
        "address": found.address.to_string(),
        "relation": if is_about { "about" } else { "mentions" },
        "found_by": found.found_by,
        "kept": found.kept.map(grainstore::policy::Rule::name),
        "status": status_json(&found.status),
        "foreign_ids": ids.collect::<Vec<_>>(),
        "embeddings": found.embeddings,
        "reads": found.reads,
    });
    // Another user's grain is listed, and its content is for that user.
    if is_about {
        match store.get(&found.address) {
            Ok(grain) => document["grain"] = json!(grain),
            Err(error) => document["withheld"] = json!(CliError::of(&error).code().as_str()),
        }
    }
    Ok(document)
}

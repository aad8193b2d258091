//! `grainstore tail`: grains in the order in which they were stored, and those that are stored from
//! now on.
//!
//! Each line is written at once, so that a reader of the output is not behind.

use std::time::Duration;

use clap::Args;
use grainstore::ledger::EntryId;
use grainstore::store::{Change, Changed, Version};
use serde_json::json;

use super::state::grain_json;
use crate::args::{As, Filters};
use crate::error::Exit;
use crate::output::Table;
use crate::session::Session;

/// Print grains as they are stored
///
/// Without --follow: all grains that satisfy the filters, oldest first. Superseded and expired grains
/// are included. With --json, one JSON object per line: {"entry": N, "address": …, "grain": …}.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Example, what any process stores about Mira from now on:
  grainstore tail --follow --subject mira"
)]
pub(crate) struct Tail {
    /// Go on with what is stored from now on, by any process, until the command is ended
    #[arg(long, short)]
    follow: bool,
    /// Begin with this ledger entry [default: the first; with --follow, the next to be written]
    #[arg(long, value_name = "ENTRY")]
    from: Option<u64>,
    /// Include grains that await review by a person
    #[arg(long)]
    unreviewed: bool,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Tail {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let mut filter = self.filters.filter(&store)?.with_superseded();
        if self.unreviewed {
            filter = filter.with_unreviewed();
        }
        let from = match (self.from, self.follow) {
            (Some(from), _) => from,
            (None, true) => store.maintenance()?.stats()?.entries,
            (None, false) => 0,
        };
        let handle = self.as_whom.narrow(&store)?;
        let mut changes = handle.changes(EntryId::new(from)).matching(filter);
        let mut is_empty = true;
        loop {
            for change in &mut changes {
                let Change { entry, what, .. } = change?;
                if let Changed::Stored(version) = what {
                    show(entry, &version, session)?;
                    is_empty = false;
                }
            }
            if !self.follow {
                return Ok(Exit::done_if(!is_empty));
            }
            session.out.flush()?;
            changes.wait(LONG);
        }
    }
}

fn show(entry: EntryId, version: &Version, session: &mut Session) -> anyhow::Result<()> {
    if session.out.is_json() {
        let mut line = grain_json(&version.grain)?;
        line["entry"] = json!(entry.get());
        line["stored_at"] = json!(version.stored_at.ms());
        line["stored_by"] = json!(version.stored_by);
        session.out.json(&line)?;
        return Ok(());
    }
    let is_current = version.status.is_current();
    let mut table = Table::default();
    let note = if is_current { "" } else { "superseded" };
    table.add(format!("{entry:>8}  "), &version.grain, note);
    for line in table.lines() {
        session.out.styled_line(&line)?;
    }
    Ok(())
}

/// The wait is only looked at again after this.
const LONG: Duration = Duration::from_secs(3_600);

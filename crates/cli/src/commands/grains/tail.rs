//! `grainstore tail`, also called `changes`: grains in the order in which they were stored, and those that
//! are stored from now on.
//!
//! Each line is written at once, so that a reader of the output is not behind.

use std::time::Duration;

use clap::Args;
use grainstore::Time;
use grainstore::ledger::EntryId;
use grainstore::query::Changes;
use grainstore::store::{Change, Changed, Version};
use serde_json::{Value, json};

use super::record::version_record;
use super::state::grain_json;
use crate::args::{As, Filters, Listing};
use crate::error::Exit;
use crate::output::{Output, Table};
use crate::session::Session;

/// Print grains as they are stored
///
/// Without --follow: all grains that satisfy the filters, oldest first. Superseded and expired grains
/// are included. --since and --until are about the time of storing. With --json, also as --format json, one JSON object per line: {"entry": N, "address": …, "grain": …}.
#[derive(Debug, Args)]
#[command(
    visible_alias = "changes",
    after_long_help = "Examples:
  grainstore changes --since yesterday --by did:key:z6MkAgent
  grainstore tail --follow --subject mira"
)]
pub(crate) struct Tail {
    /// Go on with what is stored from now on, by any process, until the command is ended
    #[arg(long, short)]
    follow: bool,
    /// Begin with this ledger entry [default: the first; with --follow, the next to be written]
    #[arg(long, value_name = "ENTRY")]
    from: Option<u64>,
    /// Stored by this author; "owner" for the owner of the store
    #[arg(long, value_name = "DID")]
    by: Option<String>,
    /// Include grains that await review by a person
    #[arg(long)]
    unreviewed: bool,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Tail {
    pub(crate) fn run(mut self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let (since, until) = self.filters.take_span();
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
        let changes = handle.changes(EntryId::new(from)).matching(filter);
        let changes = match since {
            Some(since) => changes.since(since)?,
            None => changes,
        };
        let by = self
            .by
            .map(|by| if by == "owner" { None } else { Some(by) });
        let wanted = Wanted { until, by };
        self.listing.by_line(&session.out);
        let is_empty;
        if let Some(mut rows) = self.listing.rows(&mut session.out, &FIELDS) {
            is_empty = each(changes, self.follow, &wanted, |stored| match stored {
                Some((entry, version)) => {
                    let whole = stored_json(entry, version)?;
                    let mut record = version_record(version)?;
                    record.insert("entry".to_owned(), json!(entry.get()));
                    Ok(rows.add(&record, || whole)?)
                }
                None => Ok(rows.flush()?),
            })?;
            rows.end()?;
        } else {
            let out = &mut session.out;
            is_empty = each(changes, self.follow, &wanted, |stored| match stored {
                Some((entry, version)) => Ok(show(entry, version, out)?),
                None => Ok(out.flush()?),
            })?;
        }
        if is_empty {
            session.out.note("nothing found");
        }
        Ok(Exit::done_if(!is_empty))
    }
}

/// The changes that are shown.
struct Wanted {
    until: Option<Time>,
    /// The author; `None` in it for the owner of the store.
    by: Option<Option<String>>,
}

impl Wanted {
    fn has(&self, version: &Version) -> bool {
        let is_in_time = self.until.is_none_or(|until| version.stored_at <= until);
        is_in_time && self.by.as_ref().is_none_or(|by| *by == version.stored_by)
    }
}

/// Calls `show` with each grain that is stored, and with `None` before it waits for more. Returns
/// whether there was none.
fn each(
    mut changes: Changes,
    follow: bool,
    wanted: &Wanted,
    mut show: impl FnMut(Option<(EntryId, &Version)>) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let mut is_empty = true;
    loop {
        for change in &mut changes {
            let Change { entry, what, .. } = change?;
            if let Changed::Stored(version) = what
                && wanted.has(&version)
            {
                show(Some((entry, &version)))?;
                is_empty = false;
            }
        }
        if !follow {
            return Ok(is_empty);
        }
        show(None)?;
        changes.wait(LONG);
    }
}

fn stored_json(entry: EntryId, version: &Version) -> serde_json::Result<Value> {
    let mut line = grain_json(&version.grain);
    line["entry"] = json!(entry.get());
    line["stored_at"] = json!(version.stored_at.ms());
    line["stored_by"] = json!(version.stored_by);
    Ok(line)
}

/// The fields of a list that names none.
const FIELDS: [&str; 6] = ["entry", "address", "type", "time", "summary", "status"];

fn show(entry: EntryId, version: &Version, out: &mut Output) -> std::io::Result<()> {
    let is_current = version.status.is_current();
    let mut table = Table::default();
    let note = if is_current { "" } else { "superseded" };
    table.add(format!("{entry:>8}  "), &version.grain, note);
    for line in table.lines() {
        out.styled_line(&line)?;
    }
    Ok(())
}

/// The wait is only looked at again after this.
const LONG: Duration = Duration::from_secs(3_600);

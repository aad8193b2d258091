//! `grainstore query`: grains by field values, in order and in pages.
//!
//! Ranking by words is in `search`.

use std::io;

use clap::Args;
use grainstore::query::{Cursor, QueryPlan, Sort, SortBy};
use serde_json::json;

use super::answer::{Scores, fields, show, show_by_observer, show_rows};
use crate::args::As;
use crate::args::{Filters, Listing};
use crate::commands::user::note_nothing;
use crate::error::Exit;
use crate::output::Output;
use crate::session::Session;

/// Find grains by field values, in the order of storage
///
/// A grain must satisfy all filters. With --json the result is the envelope of OMS 28.1. Exits with
/// 1 if nothing is found.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Example, beliefs about Mira on a day, most confident first:
  grainstore query --subject mira --known-at 2026-10-01 --sort confidence --desc"
)]
pub(crate) struct Query {
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Continue after this cursor (next_cursor) of the previous page, with the same filters and order
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Include superseded grains
    #[arg(long)]
    superseded: bool,
    /// Return only grains that are no longer current
    #[arg(long, conflicts_with = "superseded")]
    only_superseded: bool,
    /// Sort key: stored, address, time (timestamp_ms, else created_at), created_at, valid_from,
    /// valid_to, system_valid_from, confidence, importance [default: stored; time with --session]
    #[arg(long, value_name = "FIELD", value_parser = sort_by)]
    sort: Option<SortBy>,
    /// Sort in descending order
    #[arg(long)]
    desc: bool,
    /// Group the results by observer (observer_type, observer_id)
    #[arg(long, conflicts_with_all = ["format", "fields"])]
    by_observer: bool,
    /// Show the query plan instead of the results
    #[arg(long, conflicts_with_all = ["format", "fields", "cursor", "author", "inside", "role", "cleared"])]
    explain: bool,
    /// Include grains that await review by a person
    #[arg(long)]
    unreviewed: bool,
    /// Include expired grains: those with a valid_to in the past, and goals past their deadline
    #[arg(long)]
    expired: bool,
    /// Include the envelopes of imported files: who wrote a file, and when
    #[arg(long)]
    envelopes: bool,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Query {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let cursor = self
            .cursor
            .as_deref()
            .map(str::parse::<Cursor>)
            .transpose()?;
        let store = session.open_to_read()?;
        let named = self.filters.named_person();
        let mut filter = self.filters.filter(&store)?;
        if self.superseded {
            filter = filter.with_superseded();
        }
        if self.unreviewed {
            filter = filter.with_unreviewed();
        }
        if self.expired {
            filter = filter.with_expired();
        }
        if self.envelopes {
            filter = filter.with_envelopes();
        }
        if self.only_superseded {
            filter = filter.only_superseded();
        }
        if self.explain {
            let plan = store.maintenance()?.explain(&filter)?;
            explain(&plan, &mut session.out)?;
            return Ok(Exit::done_if(plan.total() > 0));
        }
        let mut sort = self.sort.map_or_else(|| Sort::of(&filter), Sort::by);
        if self.desc {
            sort = sort.descending();
        }
        let handle = self.as_whom.narrow(&store)?;
        let envelope = handle.query(&filter.sorted(sort), self.limit, cursor)?;
        let columns = fields(Scores::Hidden);
        if let Some(rows) = self.listing.rows(&mut session.out, &columns) {
            show_rows(&envelope, rows)?;
        } else if self.by_observer {
            show_by_observer(&envelope, Scores::Hidden, &mut session.out)?;
        } else {
            show(&envelope, Scores::Hidden, &mut session.out)?;
        }
        if envelope.total == 0 {
            note_nothing(&store, named.as_deref(), session)?;
        }
        Ok(Exit::done_if(envelope.total > 0))
    }
}

fn sort_by(text: &str) -> Result<SortBy, String> {
    SortBy::named(text).ok_or_else(|| {
        let names = SortBy::NAMES.map(|(name, _)| name);
        format!("expected one of {}", names.join(", "))
    })
}

/// Writes the steps of a query plan.
fn explain(plan: &QueryPlan, out: &mut Output) -> io::Result<()> {
    if !out.is_json() {
        return out.line(plan);
    }
    let steps = plan.steps.iter().map(|step| {
        json!({
            "condition": step.condition,
            "way": step.access_path,
            "estimate": step.estimate,
            "left": step.left,
        })
    });
    let steps: Vec<_> = steps.collect();
    out.json(&json!({ "steps": steps, "total": plan.total() }))
}

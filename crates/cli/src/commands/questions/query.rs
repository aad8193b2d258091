use std::io;

use clap::Args;
use grainstore::query::{Cursor, Explanation, Sort, SortBy};
use serde_json::json;

use super::answer::{Scores, show};
use crate::args::Filters;
use crate::door::As;
use crate::error::Exit;
use crate::output::Output;
use crate::session::Session;

/// Find grains by their fields, oldest first
///
/// All filters that are given must hold. With --json the answer is the envelope of OMS 28.1.
/// Exit 1 if nothing is found. For example, what was known of Mira at the end of a day, the surest
/// first:
///
///   grainstore query --subject mira --known-at 2026-10-01 --sort confidence --desc
#[derive(Debug, Args)]
pub(crate) struct Query {
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Go on after this cursor (next_cursor) of the answer before, with the same filters and order
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Superseded grains too
    #[arg(long)]
    superseded: bool,
    /// Only grains that are no longer current
    #[arg(long, conflicts_with = "superseded")]
    only_superseded: bool,
    /// In this order: stored, created_at, valid_from, valid_to, system_valid_from, confidence,
    /// importance
    #[arg(long, value_name = "FIELD", value_parser = sort_by, default_value = "stored")]
    sort: SortBy,
    /// From the greatest to the least
    #[arg(long)]
    desc: bool,
    /// Tell how the answer is found, rather than the answer
    #[arg(long, conflicts_with_all = ["cursor", "author", "inside", "role", "cleared"])]
    explain: bool,
    /// Also what a person must review before a program acts on it
    #[arg(long)]
    unreviewed: bool,
    /// Also what has expired: true until before now, and goals inactive since before now
    #[arg(long)]
    expired: bool,
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
        let store = session.open()?;
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
        if self.only_superseded {
            filter = filter.only_superseded();
        }
        if self.explain {
            let plan = store.explain(&filter)?;
            explain(&plan, &mut session.out)?;
            return Ok(Exit::done_if(plan.total() > 0));
        }
        let mut sort = Sort::by(self.sort);
        if self.desc {
            sort = sort.descending();
        }
        let door = self.as_whom.door(&store)?;
        let envelope = door.query_sorted(&filter, sort, self.limit, cursor)?;
        show(&envelope, Scores::Hidden, &mut session.out)?;
        Ok(Exit::done_if(envelope.total > 0))
    }
}

fn sort_by(text: &str) -> Result<SortBy, String> {
    SortBy::named(text).ok_or_else(|| {
        let names = SortBy::NAMES.map(|(name, _)| name);
        format!("the orders are {}", names.join(", "))
    })
}

/// Writes the steps of a plan.
fn explain(plan: &Explanation, out: &mut Output) -> io::Result<()> {
    if !out.is_json() {
        return out.line(plan);
    }
    let steps = plan.steps.iter().map(|step| {
        json!({
            "condition": step.condition,
            "way": step.way.to_string(),
            "estimate": step.estimate,
            "left": step.left,
        })
    });
    let steps: Vec<_> = steps.collect();
    out.json(&json!({ "steps": steps, "total": plan.total() }))
}

//! `search` by words and `query` by fields: lists of grains.

use grainstore::ledger::EntryId;
use grainstore::query::{Sort, SortBy};
use grainstore::store::Changed;
use grainstore::text::Ranking;
use grainstore::{Page, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::filter_of;
use super::item::{Item, items_of};
use super::{Answer, Effect, Tool};
use crate::Scope;
use crate::mcp::budget::Budget;
use crate::mcp::failure::Failure;
use crate::wire::{CalendarBody, FilterBody, Moment};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// Words; "a phrase", +required, -excluded, prefix*, field:word, AND, OR, NOT.
    question: String,
    #[serde(default)]
    filter: FilterBody,
    /// Leave out what is below this share of the best score: 0.9.
    share: Option<f64>,
    #[serde(default)]
    calendar: CalendarBody,
    /// Up to 100 (default 10).
    limit: Option<u64>,
    max_tokens: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    #[serde(default)]
    filter: FilterBody,
    /// stored, time, created_at, valid_from, valid_to, confidence or importance.
    sort: Option<String>,
    #[serde(default)]
    descending: bool,
    /// Lists all stored since, old versions too.
    changes_since: Option<Moment>,
    /// With changes_since: by a DID, or owner.
    by: Option<String>,
    /// next_cursor of the page before.
    cursor: Option<String>,
    /// Up to 100 (default 20).
    limit: Option<u64>,
    max_tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Results {
    items: Vec<Item>,
    /// How many grains match.
    total: u64,
    /// Whether more than `total` may match.
    total_is_lower_bound: bool,
    /// How many that match are not in this answer.
    left_out: u64,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether the search ended at its time limit.
    is_partial: bool,
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search by words";
    const ABOUT: &'static str = "Finds memories by their words, best first. To answer a question, use \
        recall.";
    const EFFECT: Effect = Effect::Reads;
    type Output = Results;

    fn run(self, scope: &Scope) -> Result<Answer<Results>, Failure> {
        let filter = filter_of(&self.filter, scope)?;
        let limit = limit_of(self.limit, 10);
        let search = grainstore::Search::parse(&self.question)?;
        let ranking = Ranking {
            share: self.share.unwrap_or(0.0).clamp(0.0, 1.0),
            ..self.calendar.applied(Ranking::default())?
        };
        let search = search.filter(&filter).ranking(ranking).limit(limit);
        let envelope = scope.store().find(&search)?;
        let mut budget = Budget::of(self.max_tokens);
        let (items, text) = items_of(scope, &envelope, &mut budget, true)?;
        Ok(answer(&envelope, items, text, None))
    }
}

impl Tool for Query {
    const NAME: &'static str = "query";
    const TITLE: &'static str = "Query by fields";
    const ABOUT: &'static str = "Lists memories by their fields, in pages.";
    const EFFECT: Effect = Effect::Reads;
    type Output = Results;

    fn run(self, scope: &Scope) -> Result<Answer<Results>, Failure> {
        if let Some(since) = &self.changes_since {
            return self.changes(since.first()?, scope);
        }
        if self.by.is_some() {
            return Err(Failure::usage("by goes with changes_since"));
        }
        let filter = filter_of(&self.filter, scope)?;
        let by = self.sort.as_deref().map(|name| {
            let by = SortBy::named(name);
            by.ok_or_else(|| Failure::usage(format!("\"{name}\" is no order")))
        });
        let sort = by.transpose()?.map_or_else(|| Sort::of(&filter), Sort::by);
        let sort = if self.descending {
            sort.descending()
        } else {
            sort
        };
        let after = self
            .cursor
            .as_deref()
            .map(|text| scope.cursor(text))
            .transpose()?;
        let filter = filter.sorted(sort);
        let page = |limit| scope.store().query(&filter, limit, after);
        let envelope = page(limit_of(self.limit, 20))?;
        let mut budget = Budget::of(self.max_tokens);
        let (items, text) = items_of(scope, &envelope, &mut budget, false)?;
        // A page that does not fit goes on after its last item that does.
        let next = match items.len() {
            shown if shown < envelope.results.len() => page(shown)?.next_cursor,
            _ => envelope.next_cursor,
        };
        let next = next.and_then(|cursor| scope.shown(&cursor));
        Ok(answer(&envelope, items, text, next))
    }
}

impl Query {
    /// Returns the grains that were stored since, in the order of the ledger, with time and author.
    fn changes(&self, since: Time, scope: &Scope) -> Result<Answer<Results>, Failure> {
        if self.sort.is_some() || self.descending {
            return Err(Failure::usage(
                "changes come in the order of storage: leave out sort and descending",
            ));
        }
        let from = match &self.cursor {
            Some(text) => scope.entry(text)?,
            None => EntryId::FIRST,
        };
        let filter = filter_of(&self.filter, scope)?;
        let filter = filter.with_superseded().with_expired();
        let mut changes = scope.store().changes(from).matching(filter).since(since)?;
        let owner = self.by.as_deref() == Some("owner");
        let is_by = |author: Option<&str>| match &self.by {
            Some(_) if owner => author.is_none(),
            Some(by) => author == Some(by),
            None => true,
        };
        let (mut items, mut text, mut budget) =
            (Vec::new(), String::new(), Budget::of(self.max_tokens));
        let (limit, mut next) = (limit_of(self.limit, 20), changes.position());
        // A page ends after so many entries, seen or not, and the next one goes on there.
        for _ in 0..ENTRIES_OF_PAGE {
            if next >= changes.end() || items.len() == limit {
                break;
            }
            if let Some(change) = changes.step(1).next()
                && let Changed::Stored(version) = change?.what
                && is_by(version.stored_by.as_deref())
            {
                let item = Item::of(scope, &version.grain, &version.status, budget.left() / 2)?;
                if !item
                    .stored(&version)
                    .add_to(&mut items, &mut text, &mut budget)
                {
                    break;
                }
            }
            next = changes.position();
        }
        let next_cursor = match next < changes.end() {
            true => scope.shown(&next.get()),
            false => None,
        };
        if items.is_empty() {
            text.push_str("Nothing was stored.\n");
        }
        text.extend(
            next_cursor
                .iter()
                .map(|cursor| format!("More: cursor {cursor}\n")),
        );
        let output = Results {
            total: items.len() as u64,
            total_is_lower_bound: next_cursor.is_some(),
            left_out: 0,
            items,
            next_cursor,
            is_partial: false,
        };
        Ok(Answer { text, output })
    }
}

/// Some seconds of a page of changes at most.
const ENTRIES_OF_PAGE: usize = 10_000;

fn limit_of(asked: Option<u64>, default: usize) -> usize {
    let asked = asked.and_then(|asked| usize::try_from(asked).ok());
    asked.unwrap_or(default).clamp(1, 100)
}

/// Adds to the lines what is not among them.
fn answer(
    envelope: &Page,
    items: Vec<Item>,
    mut text: String,
    next_cursor: Option<String>,
) -> Answer<Results> {
    let least = if envelope.total_is_lower_bound {
        "at least "
    } else {
        ""
    };
    let (shown, total) = (items.len() as u64, envelope.total);
    text.push_str(&match total {
        0 => "Nothing was found.\n".to_owned(),
        _ => format!("\n{shown} of {least}{total}.\n"),
    });
    if let Some(cursor) = &next_cursor {
        text.push_str(&format!("More: cursor {cursor}\n"));
    } else if total > shown {
        text.push_str("More were found than are shown: raise limit or max_tokens, or narrow it.\n");
    }
    if envelope.is_partial {
        text.push_str("The search ended at its time limit.\n");
    }
    let output = Results {
        items,
        total,
        total_is_lower_bound: envelope.total_is_lower_bound,
        left_out: total.saturating_sub(shown),
        next_cursor,
        is_partial: envelope.is_partial,
    };
    Answer { text, output }
}

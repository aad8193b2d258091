//! `grainstore search`: full-text search, ranked, with the matching part of each grain.
//!
//! Filters restrict the results; the query language and the ranking are in docs/search.md.

use anyhow::Context;
use clap::Args;
use grainstore::text::Ranking;

use super::answer::{Scores, fields, show, show_by_observer, show_lines, show_rows};
use crate::args::{As, Clock, Filters, Listing, share};
use crate::commands::user::note_nothing;
use crate::error::Exit;
use crate::output::{Table, printable, width};
use crate::session::Session;

/// Find grains by words, best match first
///
/// A grain matches if any of the words occurs, in any of its forms. Query syntax:
///
///   "a phrase"               the exact phrase
///   +word -word              required, excluded
///   a AND (b OR c) AND NOT d Boolean operators
///   word* word~              prefix, approximate spelling
///   object:word              in this field only
///   word^2                   weight 2
///
/// With --json the result is the envelope of OMS 28.1; with --explain each result also has an
/// `explanation`. Exits with 1 if nothing is found.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore search "peanut* -butter""#)]
#[command(verbatim_doc_comment)]
pub(crate) struct Search {
    /// Search query; several arguments are joined
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Include superseded grains
    #[arg(long)]
    superseded: bool,
    /// Include grains that await review by a person
    #[arg(long)]
    unreviewed: bool,
    /// Include expired grains: those with a valid_to in the past, and goals past their deadline
    #[arg(long)]
    expired: bool,
    /// Group the results by observer (observer_type, observer_id)
    #[arg(long, conflicts_with_all = ["format", "fields"])]
    by_observer: bool,
    /// Leave out results below this share of the score of the best one, such as 0.9
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.0, hide_default_value = true)]
    share: f64,
    /// Rank by the words of each grain alone (BM25): no conversation, no meaning, no other spelling
    #[arg(long)]
    by_words: bool,
    /// Show how each rule of the ranking changed the score of each result
    #[arg(long, conflicts_with_all = ["by_observer", "format", "fields"])]
    explain: bool,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    clock: Clock,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Search {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_ask()?;
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
        let handle = self.as_whom.narrow(&store)?;
        let text = self.text.join(" ");
        let ranking = Ranking {
            explains: self.explain,
            share: self.share,
            ..self.clock.applied(match self.by_words {
                true => Ranking::WORDS,
                false => Ranking::default(),
            })
        };
        let search = grainstore::Search::parse(&text)?.filter(&filter);
        let search = search.ranking(ranking).limit(self.limit);
        // Snippets are cut out of each result: only the table shows them.
        let has_snippets = self.listing.is_table(&session.out) && !self.by_observer;
        let envelope = handle.find(&match has_snippets {
            true => search.snippets(width()),
            false => search,
        })?;
        if envelope.total == 0 {
            note_nothing(&store, named.as_deref(), session)?;
        }
        let columns = fields(Scores::Shown);
        if let Some(rows) = self.listing.rows(&mut session.out, &columns) {
            show_rows(&envelope, rows)?;
            return Ok(Exit::done_if(envelope.total > 0));
        }
        if self.by_observer {
            show_by_observer(&envelope, Scores::Shown, &mut session.out)?;
            return Ok(Exit::done_if(envelope.total > 0));
        }
        if session.out.is_json() {
            show(&envelope, Scores::Shown, &mut session.out)?;
            return Ok(Exit::done_if(envelope.total > 0));
        }
        let mut table = Table::indented(0);
        for found in &envelope.results {
            let snippet = found.snippet.as_ref();
            let snippet = snippet.context("a result without the snippet that was asked for")?;
            let is_current = found.status.is_current();
            let after = if is_current { "" } else { "superseded" };
            table.add_found(
                format!("{:.2}  ", found.score),
                &found.grain,
                snippet,
                after,
            );
        }
        show_lines(&envelope, &table, &mut session.out)?;
        for (word, other) in &envelope.read_as {
            session
                .out
                .note(format!("{} read as {}", printable(word), printable(other)));
        }
        if envelope.less_relevant > 0 {
            session
                .out
                .note(format!("{} less relevant left out", envelope.less_relevant));
        }
        Ok(Exit::done_if(envelope.total > 0))
    }
}

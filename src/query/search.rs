//! `Store::search`: full-text search with a filter, and snippets of its results.
//!
//! Matching and ranking are in `text`; the filter decides which rows it may return.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::codec::nfc;
use crate::index::{RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::store::{self, Store};
use crate::text::{self, Meaning, Ranking, RankingExplanation, Snippet};

use super::{Envelope, Error, Filter, Found};

impl Store {
    /// Returns the `limit` grains that match `text` best, among those that pass a filter.
    ///
    /// The query language is described in [`text::Query`]. A grain is searchable as soon as `put`
    /// returns. Turns of a conversation are also ranked by the turns around them.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark modes").confidence(0.9))?;
    /// let found = store.search("mode", &Filter::new(), 10)?;
    /// assert_eq!(found.results[0].matched_fields, ["object"]);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_SEARCH_SYNTAX`; `ERR_FILTER`; storage errors; `ERR_TEXT`, also for a store opened
    /// without its text view.
    pub fn search(&self, text: &str, filter: &Filter, limit: usize) -> Result<Envelope, Error> {
        self.visible_ranking("search", filter, limit, |filter, limit| {
            self.searched(text, filter, limit)
        })
    }

    /// Returns the result of [`Store::search`] before it is recorded as read.
    fn searched(&self, text: &str, filter: &Filter, limit: usize) -> Result<Envelope, Error> {
        let query = text::Query::parse(&nfc(text))?;
        let (found, _) = self.ranked(&query, filter, &Ranking::default(), limit, false)?;
        Ok(found)
    }

    /// Returns what [`Store::search`] returns, and how each rule of the ranking changed the score of
    /// each result.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark modes").confidence(0.9))?;
    /// let (found, explanations) = store.explain_search("mode", &Filter::new(), 10)?;
    /// assert_eq!(found.results.len(), explanations.len());
    /// assert!(explanations[0].words > 0.0);
    /// assert_eq!(explanations[0].neighbours, 0.0);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::search`].
    pub fn explain_search(
        &self,
        text: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<(Envelope, Vec<RankingExplanation>), Error> {
        let query = text::Query::parse(&nfc(text))?;
        let explained = RefCell::new(HashMap::new());
        let shown = self.visible_ranking("search", filter, limit, |filter, limit| {
            let ranking = Ranking::default();
            let (found, explanations) = self.ranked(&query, filter, &ranking, limit, true)?;
            let of_results = found.results.iter().map(|found| found.row);
            explained.replace(of_results.zip(explanations).collect());
            Ok(found)
        })?;
        let explained: HashMap<EntryId, RankingExplanation> = explained.into_inner();
        let of = |found: &Found| explained.get(&found.row).copied().unwrap_or_default();
        let explanations = shown.results.iter().map(of).collect();
        Ok((shown, explanations))
    }

    /// Returns the `limit` grains that match a query best under `ranking`, among those that pass a
    /// filter.
    ///
    /// ```
    /// use grainstore::text::{Query, Ranking};
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("what about tea (or coffee?"))?;
    /// let query = Query::words("tea (or what?");
    /// let found = store.search_ranked(&query, &Filter::new(), &Ranking::WORDS, 10)?;
    /// assert_eq!(found.total, 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::search`], except `ERR_SEARCH_SYNTAX`.
    pub fn search_ranked(
        &self,
        query: &text::Query,
        filter: &Filter,
        ranking: &Ranking,
        limit: usize,
    ) -> Result<Envelope, Error> {
        self.visible_ranking("search", filter, limit, |filter, limit| {
            Ok(self.ranked(query, filter, ranking, limit, false)?.0)
        })
    }

    /// Returns the result of [`Store::search_ranked`] before it is recorded as read, with an
    /// explanation of each.
    fn ranked(
        &self,
        query: &text::Query,
        filter: &Filter,
        ranking: &Ranking,
        limit: usize,
        explains: bool,
    ) -> Result<(Envelope, Vec<RankingExplanation>), Error> {
        let snapshot = self.snapshot();
        let rows = self.rows_to_rank(&snapshot, filter)?;
        self.ranked_among(&snapshot, &rows, query, (ranking, limit), None, explains)
    }

    /// Ranks `rows` by a query, and by the vectors of a hybrid search.
    pub(super) fn ranked_among(
        &self,
        snapshot: &Snapshot,
        rows: &RowSet,
        query: &text::Query,
        (ranking, limit): (&Ranking, usize),
        meaning: Option<&Meaning<'_>>,
        explains: bool,
    ) -> Result<(Envelope, Vec<RankingExplanation>), Error> {
        let text = self.text_view()?;
        let searched = text.find(&text::Search {
            query,
            ranking,
            limit,
            accept: &|row: EntryId| rows.contains(row),
            // The time is for the answer: building a view that was set aside takes as long as it
            // takes.
            is_over: &self.search_deadline(),
            meaning,
            explains,
            reach: None,
        })?;
        let hits = searched.hits;
        let mut envelope = Envelope {
            total: u64::try_from(hits.total).unwrap_or(u64::MAX),
            total_is_lower_bound: hits.total_is_lower_bound,
            is_partial: hits.is_partial,
            ..Envelope::default()
        };
        for hit in &hits.hits {
            let found = self.found(snapshot, hit.row, hit.relevance(), |_| hit.matched_fields())?;
            envelope.results.push(found);
        }
        Ok((envelope, searched.explanations))
    }

    /// Returns for each result the excerpt of about `len_max` characters with the most matches, and
    /// where they are.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark modes").confidence(0.9))?;
    /// let found = store.search("mode", &Filter::new(), 10)?;
    /// let snippets = store.snippets("mode", &found, 80)?;
    /// assert_eq!(snippets[0].marked("*", "*"), "user prefers dark *modes*");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_SEARCH_SYNTAX`; `ERR_TEXT`.
    pub fn snippets(
        &self,
        text: &str,
        found: &Envelope,
        len_max: usize,
    ) -> Result<Vec<Snippet>, Error> {
        let query = text::Query::parse(&nfc(text))?;
        let highlighter = self.text_view()?.highlighter(&query)?;
        let snippet = |found: &Found| {
            let language = store::language(&found.grain);
            highlighter.snippet_of(&found.grain.searchable_text(), language, len_max)
        };
        Ok(found.results.iter().map(snippet).collect())
    }
}

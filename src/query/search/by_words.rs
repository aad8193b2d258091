//! Full-text search with a filter, with or without a vector, and the snippets of its results.
//!
//! Matching and ranking are in `text`; the filter decides which rows it may return.

use crate::index::{RowSet, Snapshot};
use crate::policy::Capability;
use crate::store::{self, Access};
use crate::text::{self, Meaning, Ranking};

use super::hybrid::{QuestionVector, with_meaning};
use super::{Near, Search};
use crate::query::names::with_aliases;
use crate::query::plan::rows_to_rank;
use crate::query::recall::contradicted_by;
use crate::query::visible::visible_ranking;
use crate::query::{Error, Filter, Found, Page, dated, run_query};

/// See [`Search::words`].
pub(super) fn find(
    store: &Access,
    search: &Search<'_>,
    query: &text::Query,
) -> Result<Page, Error> {
    let own = QuestionVector::default();
    let operation = match search.vector {
        Some(_) => "search_hybrid",
        None => "search",
    };
    let rank = |filter: &Filter, limit| {
        let by = (&search.ranking, limit);
        let question = match search.vector {
            Some(Near::Vector(model, vector)) => Some((model, vector)),
            _ => own.of(store, query, &search.ranking)?,
        };
        let snapshot = store.snapshot();
        let rows = rows_to_rank(store, &snapshot, filter)?;
        let among = (&*rows, filter.answer_len_max());
        ranked_among(store, &snapshot, among, query, by, question)
    };
    let mut found = visible_ranking(store, operation, &search.filter, search.limit, rank)?;
    if let Some(len_max) = search.snippet_len {
        add_snippets(store, query, &mut found, len_max)?;
    }
    Ok(found)
}

/// Ranks `rows` by a query, and by the vector of a hybrid search, until the grains have so many
/// bytes.
fn ranked_among(
    store: &Access,
    snapshot: &Snapshot,
    (rows, len_max): (&RowSet, usize),
    query: &text::Query,
    (ranking, limit): (&Ranking, usize),
    question: Option<(&str, &[f32])>,
) -> Result<Page, Error> {
    let text = store.text_view()?;
    let when = dated::when(store, snapshot, rows, query.plain(), ranking)?;
    let named = dated::named(store, snapshot, rows, &when, ranking)?;
    let query = query.without(&when.used);
    let (query, mut read_as) = with_aliases(store, snapshot, rows, &query, ranking)?;
    let query = &*query;
    let accept = rows.membership();
    let search = |meaning: Option<&Meaning<'_>>| {
        let searched = text.find(&text::Search {
            query,
            ranking,
            limit,
            accept: &accept,
            accepted: if_few(rows, snapshot),
            own: own_rows(store, rows, ranking),
            // The time is for the answer: building a view that was set aside takes as long as
            // it takes.
            is_over: &store.search_deadline(),
            meaning,
            dated: named.dated(),
            reach: None,
            tells_fields: true,
        });
        Ok(searched?)
    };
    let (searched, near) = with_meaning(store, snapshot, rows, question, limit, search)?;
    let hits = searched.hits;
    let total = u64::try_from(hits.total).unwrap_or(u64::MAX);
    read_as.extend(hits.respelled);
    let mut envelope = Page {
        less_relevant: hits.less_relevant as u64,
        read_as,
        total: total.max(near),
        total_is_lower_bound: hits.total_is_lower_bound || question.is_some(),
        is_partial: hits.is_partial,
        ..Page::default()
    };
    let mut explanations = searched.explanations.into_iter();
    let mut len = 0_usize;
    envelope.results.reserve_exact(hits.hits.len());
    for hit in &hits.hits {
        if len >= len_max {
            envelope.is_cut = true;
            break;
        }
        let mut found = run_query::found(store, snapshot, hit.row, hit.relevance(), |_| {
            hit.matched_fields()
        })?;
        found.explanation = explanations.next().unwrap_or_default();
        len = len.saturating_add(found.grain.blob().len());
        envelope.results.push(found);
    }
    put_current_first(&mut envelope.results);
    Ok(envelope)
}

/// Adds to each result the excerpt with the most matches.
fn add_snippets(
    store: &Access,
    query: &text::Query,
    found: &mut Page,
    len_max: usize,
) -> Result<(), Error> {
    let highlighter = store.text_view()?.highlighter(query)?;
    for found in &mut found.results {
        let (text, language) = (found.grain.searchable_text(), store::language(&found.grain));
        found.snippet = Some(highlighter.snippet_of(&text, language, len_max));
    }
    Ok(())
}

/// Returns the rows whose statistics count, where `ranking` asks for those of `rows` alone: always
/// for a confined handle, since a score would tell how many grains out of its reach have a word.
pub(in crate::query) fn own_rows(
    store: &Access,
    rows: &RowSet,
    ranking: &Ranking,
) -> Option<text::OwnRows> {
    let capability = store.capability();
    let is_confined = capability.is_some_and(Capability::is_confined);
    (ranking.own_statistics || is_confined).then(|| text::OwnRows {
        count: rows.len(),
        sample: rows.iter().take(SAMPLE_LEN).collect(),
    })
}

/// Puts every result that another of them replaced or refuted right behind that one.
fn put_current_first(results: &mut Vec<Found>) {
    let stands = |found: &Found| found.status.is_current() && !found.status.contradicted;
    if results.iter().all(stands) {
        return;
    }
    // A chain of versions moves one by one: as many moves as results are enough.
    let mut moves_left = results.len() * 2;
    let mut at = 0;
    while at < results.len() && moves_left > 0 {
        let place = results.get(at).and_then(|old| place_of_new(results, old));
        match place.filter(|place| *place > at) {
            Some(place) => {
                let old = results.remove(at);
                results.insert(place, old);
                moves_left -= 1;
            }
            None => at += 1,
        }
    }
}

/// Returns the place of the result that replaced or refuted one.
fn place_of_new(results: &[Found], old: &Found) -> Option<usize> {
    let is_new = |found: &Found| match old.status.superseded_by {
        Some(by) => found.address == by,
        None => {
            let refutes = || contradicted_by(&found.grain).contains(&old.address);
            old.status.contradicted && !found.status.contradicted && refutes()
        }
    };
    results.iter().position(is_new)
}

/// Returns rows that are so few that a search looks for their documents first.
pub(in crate::query) fn if_few<'a>(rows: &'a RowSet, snapshot: &Snapshot) -> Option<&'a RowSet> {
    (rows.len().saturating_mul(FEW_OF) <= snapshot.watermark()).then_some(rows)
}

/// One row of so many is few.
const FEW_OF: u64 = 4;

/// The number of the oldest rows whose mean length stands for that of all.
const SAMPLE_LEN: usize = 128;

//! Routes that ask: query, search, recall. Results are the envelope of OMS 28.1.

use grainstore::query::Recall;
use grainstore::render::Format;
use grainstore::text::{Ranking, Snippet};
use grainstore::{Page, Search};
use serde_json::{Value, json};

use super::grains::signature_json;
use super::request::{PAGE_MAX, QueryBody, RecallBody, SearchBody, filter_of, limited};
use crate::http::answer::{Answer, bounded};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::token_scope::TokenScope;

/// Returns a page of the grains that pass a filter.
pub(crate) fn query(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: QueryBody = call.json()?;
    let view = scope.asked(body.filter.namespace.as_deref())?;
    let filter = bounded(filter_of(&body.filter)?);
    let filter = filter.clone().sorted(body.sort(&filter)?);
    let after = body.cursor.as_deref().map(|text| scope.cursor(text));
    let limit = limited(body.limit, PAGE_MAX)?;
    let found = view.query(&filter, limit, after.transpose()?)?;
    Ok(Answer::Json(200, envelope(scope, &found)?))
}

/// Returns the grains that match a text best.
pub(crate) fn search(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: SearchBody = call.json()?;
    let view = scope.asked(body.filter.namespace.as_deref())?;
    let filter = bounded(filter_of(&body.filter)?);
    let search = Search::parse(&body.question)?.filter(&filter);
    let ranking = match body.by_words {
        true => Ranking::WORDS,
        false => Ranking::default(),
    };
    let ranking = Ranking {
        explains: body.with_explanation,
        share: share(body.share)?,
        ..body.calendar.applied(ranking)?
    };
    let search = search
        .ranking(ranking)
        .limit(limited(body.limit, PAGE_MAX)?);
    let found = view.find(&match body.with_snippets {
        true => search.snippets(SNIPPET_LEN),
        false => search,
    })?;
    let mut envelope = envelope(scope, &found)?;
    for (at, found) in found.results.iter().enumerate() {
        if let Some(snippet) = &found.snippet {
            envelope["results"][at]["snippet"] = snippet_json(snippet);
        }
    }
    Ok(Answer::Json(200, envelope))
}

/// Returns an excerpt as parts, so that no reader has to count bytes.
fn snippet_json(snippet: &Snippet) -> Value {
    let (mut parts, mut from) = (Vec::new(), 0);
    let mut part = |from: usize, to: usize, is_match: bool| {
        // The marks lie between characters; another would be left out.
        match snippet.text.get(from..to) {
            None | Some("") => {}
            Some(text) => parts.push(json!({ "text": text, "is_match": is_match })),
        }
    };
    for mark in &snippet.marks {
        part(from, mark.start, false);
        part(mark.start, mark.end, true);
        from = mark.end;
    }
    part(from, snippet.text.len(), false);
    Value::Array(parts)
}

/// Returns what is known for a question, within a budget of tokens.
pub(crate) fn recall(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: RecallBody = call.json()?;
    let view = scope.asked(body.filter.namespace.as_deref())?;
    let filter = filter_of(&body.filter)?;
    let mut recall = Recall {
        budget: limited(body.budget, BUDGET_MAX)?,
        ranking: body.calendar.applied(Ranking::default())?,
        ..Recall::default()
    };
    if body.precise {
        recall = recall.precise();
    }
    let format: Format = match &body.format {
        None => Format::default(),
        Some(name) => name.parse().map_err(Failure::usage)?,
    };
    let known = view.recall(&body.question, &filter, &recall)?;
    let lines = known.passages.iter().flat_map(|passage| &passage.lines);
    let addresses: Vec<_> = lines.map(|line| line.address.to_string()).collect();
    Ok(Answer::Json(
        200,
        json!({
            "text": known.render(format),
            "addresses": addresses,
            "tokens": known.tokens,
            "is_cut": known.is_cut,
            "less_relevant": known.less_relevant,
            "read_as": pairs(&known.read_as),
            "is_partial": known.is_partial,
        }),
    ))
}

/// Returns the envelope of OMS 28.1, whose cursor is sealed.
fn envelope(scope: &TokenScope, found: &Page) -> Result<Value, Failure> {
    let mut results = Vec::with_capacity(found.results.len());
    for one in &found.results {
        let mut result = json!({
            "grain": one.grain,
            "score": one.score,
            "matched_fields": one.matched_fields,
            "content_address": one.address.to_string(),
        });
        if let Some(by) = scope.successor(&one.status)? {
            result["superseded_by"] = json!(by.to_string());
        }
        if let Some(signature) = &one.signature {
            result["signature"] = signature_json(signature);
        }
        if !one.explanation.is_empty() {
            let parts = one.explanation.iter();
            let parts = parts.map(|(rule, value)| ((*rule).to_owned(), json!(value)));
            result["explanation"] = Value::Object(parts.collect());
        }
        results.push(result);
    }
    let next = found
        .next_cursor
        .map(|cursor| scope.seal(&cursor.to_string()));
    let mut envelope = json!({
        "results": results,
        "total": found.total,
        "next_cursor": next.transpose()?,
    });
    if found.total_is_lower_bound {
        envelope["total_is_lower_bound"] = json!(true);
    }
    if found.less_relevant > 0 {
        envelope["less_relevant"] = json!(found.less_relevant);
    }
    if !found.read_as.is_empty() {
        envelope["read_as"] = pairs(&found.read_as);
    }
    if found.is_partial {
        envelope["partial"] = json!("deadline");
    } else if found.is_cut && found.next_cursor.is_none() {
        // A search has no next page.
        envelope["partial"] = json!("size");
    }
    Ok(envelope)
}

/// Returns words with what each was read as.
fn pairs(words: &[(String, String)]) -> Value {
    let words = words.iter();
    let words = words.map(|(word, other)| (word.clone(), json!(other)));
    Value::Object(words.collect())
}

/// Returns a share from 0 to 1.
///
/// # Errors
/// `ERR_USAGE`.
fn share(share: f64) -> Result<f64, Failure> {
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(Failure::usage(format!(
            "a share is from 0 to 1, not {share}"
        ))),
    }
}

const BUDGET_MAX: usize = 100_000;

const SNIPPET_LEN: usize = 200;

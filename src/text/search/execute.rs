//! The execution of a search: plan, score all segments, rerank, and resolve the hits.
//!
//! `search` and `recall` are the two entry points; both evaluate one snapshot.

use crate::ledger::EntryId;
use crate::text::error::Error;
use crate::text::index::segment_reader::Segment;
use crate::text::index::view::View;
use crate::text::query::lowering::Query;
use crate::text::query::plan::Plan;
use crate::text::query::statistics::{OwnRows, Statistics};
use crate::text::search::bm25::{self, SegmentScorer};
use crate::text::search::conversation::{self, Conversations};
use crate::text::search::hit::{Hit, Hits, RecalledHit, TOTAL_MAX};
use crate::text::search::phrase::PhraseMatcher;
use crate::text::search::ranking::{Ranking, RankingExplanation};
use crate::text::search::rerank::{Explanations, Meaning, Reranker};
use crate::text::search::top_docs::{Candidate, TopDocs, as_f32};

/// A search: what is asked, and what may be shown.
pub(crate) struct Search<'a> {
    pub(crate) query: &'a Query,
    pub(crate) ranking: &'a Ranking,
    /// The maximum number of hits.
    pub(crate) limit: usize,
    pub(crate) accept: &'a (dyn Fn(EntryId) -> bool + Sync),
    /// The rows that `accept` accepts, where statistics are those of these alone.
    pub(crate) own: Option<OwnRows>,
    /// Asked before every few thousand rows: a search that is over returns the hits so far.
    pub(crate) is_over: &'a (dyn Fn() -> bool + Sync),
    /// The vectors of a hybrid search.
    pub(crate) meaning: Option<&'a Meaning<'a>>,
    /// The number of turns around each hit that a recall returns; `None` of a search, which counts
    /// its matches instead.
    pub(crate) reach: Option<usize>,
}

/// The result of a search: its hits, with their explanations, and the turns around them for a
/// recall.
#[derive(Default)]
pub(crate) struct Searched {
    pub(crate) hits: Hits,
    /// One for each hit, if they were asked for.
    pub(crate) explanations: Vec<Vec<(&'static str, f64)>>,
    /// Those of each hit, for a recall.
    turns: Vec<Vec<EntryId>>,
}

impl View {
    pub(in crate::text) fn search(&self, search: &Search<'_>) -> Result<Searched, Error> {
        if search.query.is_empty() && search.meaning.is_none() {
            return Ok(Searched::default());
        }
        self.find(search).map_err(Error::index("searching"))
    }

    fn find(&self, search: &Search<'_>) -> tantivy::Result<Searched> {
        let (query, ranking, limit) = (search.query, search.ranking, search.limit);
        let snapshot = self.snapshot();
        let segments = snapshot.segments(&self.fields)?;
        let plan = self.plan(search, &segments)?;
        let norms = bm25::norms(&plan);
        // Reranking may promote candidates that the words alone rank low.
        let kept = match (ranking.uses_signals(), ranking.uses_conversation()) {
            (true, _) => limit.max(SIGNAL_CANDIDATES),
            (false, true) => limit.max(CONVERSATION_CANDIDATES),
            (false, false) => limit,
        };
        // A recall does not report a total.
        let count_max = if search.reach.is_some() { 0 } else { TOTAL_MAX };
        let mut top = TopDocs::new(kept, count_max, search.accept, search.is_over);
        for (number, segment) in segments.iter().enumerate() {
            if top.is_over() {
                break;
            }
            SegmentScorer::open(segment, &plan, &norms)?.offer(number, &mut top);
        }
        let (total, total_is_lower_bound) = top.total();
        let is_partial = top.is_over();
        let mut candidates = top.into_candidates();
        let mut explanations = ranking.explains.then(Explanations::new);
        let mut conversations = Conversations::new();
        if ranking.uses_conversation() && !is_partial {
            let reranker = Reranker {
                segments: &segments,
                fields: &self.fields,
                plan: &plan,
                norms: &norms,
                ranking,
                asked: &query.asked,
                accept: search.accept,
                meaning: search.meaning,
            };
            conversations = reranker.rank(&mut candidates, explanations.as_mut())?;
        }
        if ranking.uses_signals() {
            weigh(&mut candidates, &segments, ranking, explanations.as_mut());
        }
        if ranking.reranks() {
            candidates.sort_unstable_by(Candidate::best_first);
            candidates.truncate(limit);
        }
        let turns = match search.reach {
            Some(reach) => conversation::around(
                &candidates,
                conversations,
                &segments,
                &self.fields,
                reach,
                search.accept,
            )?,
            None => Vec::new(),
        };
        let explained = explanations.map(|explanations| parts(&candidates, &explanations));
        Ok(Searched {
            explanations: explained.unwrap_or_default(),
            turns,
            hits: Hits {
                // Turns of a conversation that was read are hits without a match.
                total: total.max(candidates.len().min(TOTAL_MAX)),
                total_is_lower_bound: total_is_lower_bound || is_partial,
                is_partial,
                hits: hits(&candidates, &segments, &plan)?,
            },
        })
    }
}

impl View {
    /// Plans a search over the statistics that it asks for.
    fn plan(&self, search: &Search<'_>, segments: &[Segment<'_>]) -> tantivy::Result<Plan> {
        let fields = &self.fields;
        let statistics = match &search.own {
            Some(own) => Statistics::of_own(segments, fields, own, search.accept)?,
            None => Statistics::of_all(segments),
        };
        let (keeps_stop_words, relatives) = (self.options.stop_words, search.ranking.relatives);
        let clauses = &search.query.clauses;
        Plan::of(
            clauses,
            fields,
            keeps_stop_words,
            relatives,
            segments,
            &statistics,
        )
    }
}

/// Multiplies the scores by the signals of the candidates.
fn weigh(
    candidates: &mut [Candidate],
    segments: &[Segment<'_>],
    ranking: &Ranking,
    mut explanations: Option<&mut Explanations>,
) {
    for candidate in candidates {
        let Some(segment) = segments.get(candidate.segment) else {
            continue;
        };
        let time_ms = segment.time_ms(candidate.document);
        let signals = ranking.signals(time_ms, segment.importance(candidate.document));
        if let Some(explanations) = &mut explanations {
            let explanation = explanations.entry(candidate.row);
            let explanation = explanation.or_insert_with(|| by_words(candidate.score));
            explanation.signals = signals;
        }
        candidate.score *= signals;
    }
}

/// Returns the parts of the score of each candidate.
fn parts(candidates: &[Candidate], explanations: &Explanations) -> Vec<Vec<(&'static str, f64)>> {
    let parts = |candidate: &Candidate| {
        let explanation = explanations.get(&candidate.row).copied();
        let explanation = explanation.unwrap_or_else(|| by_words(candidate.score));
        explanation.parts().collect()
    };
    candidates.iter().map(parts).collect()
}

impl Searched {
    /// Returns the hits of a recall, each with the turns around it.
    pub(crate) fn into_recalled(self) -> Vec<RecalledHit> {
        let around = self.hits.hits.into_iter().zip(self.turns);
        around
            .map(|(hit, turns)| RecalledHit { hit, turns })
            .collect()
    }
}

/// Returns the explanation of a score by words alone.
fn by_words(words: f64) -> RankingExplanation {
    RankingExplanation {
        words,
        ..RankingExplanation::default()
    }
}

/// Returns candidates as hits, with the fields that matched.
fn hits(
    candidates: &[Candidate],
    segments: &[Segment<'_>],
    plan: &Plan,
) -> tantivy::Result<Vec<Hit>> {
    let mut hits: Vec<(usize, &Candidate, Hit)> = Vec::with_capacity(candidates.len());
    for (rank, candidate) in candidates.iter().enumerate() {
        let hit = Hit {
            row: candidate.row,
            score: as_f32(candidate.score),
            fields: 0,
        };
        hits.push((rank, candidate, hit));
    }
    hits.sort_unstable_by_key(|(_, at, _)| (at.segment, at.document));
    for of_segment in hits.chunk_by_mut(|(_, a, _), (_, b, _)| a.segment == b.segment) {
        let segment = of_segment
            .first()
            .and_then(|(_, at, _)| segments.get(at.segment));
        let Some(segment) = segment else {
            continue;
        };
        for leaf in plan.leaves.iter().filter(|leaf| leaf.is_scored) {
            let mut matcher = PhraseMatcher::open(segment, leaf)?;
            for (_, at, hit) in of_segment.iter_mut() {
                hit.fields |= matcher.fields(at.document);
            }
        }
    }
    hits.sort_unstable_by_key(|(rank, ..)| *rank);
    Ok(hits.into_iter().map(|(.., hit)| hit).collect())
}

/// The number of candidates that are reranked by their conversations, together with the other
/// matches in those.
const CONVERSATION_CANDIDATES: usize = 256;

/// The number of candidates that are reranked by time and importance.
const SIGNAL_CANDIDATES: usize = 1_000;

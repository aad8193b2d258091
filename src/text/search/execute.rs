//! The execution of a search: plan, score all segments, rerank, and resolve the hits.
//!
//! `search` and `recall` are the two entry points; both evaluate one snapshot.

use crate::ledger::EntryId;
use crate::text::error::Error;
use crate::text::index::segment_reader::Segment;
use crate::text::index::view::View;
use crate::text::query::lowering::Query;
use crate::text::query::plan::Plan;
use crate::text::search::bm25::{self, SegmentScorer};
use crate::text::search::conversation::{self, Conversations};
use crate::text::search::hit::{Hit, Hits, RecalledHit, TOTAL_MAX};
use crate::text::search::phrase::PhraseMatcher;
use crate::text::search::ranking::Ranking;
use crate::text::search::top_docs::{Candidate, TopDocs, as_f32};

impl View {
    pub(in crate::text) fn search(
        &self,
        query: &Query,
        ranking: &Ranking,
        limit: usize,
        accept: &(dyn Fn(EntryId) -> bool + Sync),
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Hits, Error> {
        if query.is_empty() {
            return Ok(Hits::default());
        }
        let found = self.find(query, ranking, (limit, None), accept, is_over);
        let (hits, _) = found.map_err(Error::index("searching"))?;
        Ok(hits)
    }

    pub(in crate::text) fn recall(
        &self,
        query: &Query,
        ranking: &Ranking,
        (limit, reach): (usize, usize),
        accept: &(dyn Fn(EntryId) -> bool + Sync),
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Vec<RecalledHit>, bool), Error> {
        if query.is_empty() {
            return Ok((Vec::new(), false));
        }
        let found = self.find(query, ranking, (limit, Some(reach)), accept, is_over);
        let (hits, turns) = found.map_err(Error::index("recalling"))?;
        let around = hits.hits.into_iter().zip(turns);
        let around = around.map(|(hit, turns)| RecalledHit { hit, turns });
        Ok((around.collect(), hits.is_partial))
    }

    fn find(
        &self,
        query: &Query,
        ranking: &Ranking,
        (limit, reach): (usize, Option<usize>),
        accept: &(dyn Fn(EntryId) -> bool + Sync),
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> tantivy::Result<(Hits, Vec<Vec<EntryId>>)> {
        let snapshot = self.snapshot();
        let segments = snapshot.segments(&self.fields)?;
        let keeps_stop_words = self.options.stop_words;
        let plan = Plan::of(&query.clauses, &self.fields, keeps_stop_words, &segments)?;
        let norms = bm25::norms(&plan);
        // Reranking may promote candidates that the words alone rank low.
        let kept = match (ranking.uses_signals(), ranking.uses_conversation()) {
            (true, _) => limit.max(SIGNAL_CANDIDATES),
            (false, true) => limit.max(CONVERSATION_CANDIDATES),
            (false, false) => limit,
        };
        // A recall does not report a total.
        let count_max = if reach.is_some() { 0 } else { TOTAL_MAX };
        let mut top = TopDocs::new(kept, count_max, accept, is_over);
        for (number, segment) in segments.iter().enumerate() {
            if top.is_over() {
                break;
            }
            SegmentScorer::open(segment, &plan, &norms)?.offer(number, &mut top);
        }
        let (total, total_is_lower_bound) = top.total();
        let is_partial = top.is_over();
        let mut candidates = top.into_candidates();
        let mut conversations = Conversations::new();
        if ranking.uses_conversation() && !is_partial {
            conversations = conversation::rank(
                &mut candidates,
                &segments,
                &self.fields,
                &plan,
                &norms,
                ranking,
                accept,
            )?;
        }
        if ranking.uses_signals() {
            for candidate in &mut candidates {
                if let Some(segment) = segments.get(candidate.segment) {
                    let time_ms = segment.time_ms(candidate.document);
                    let importance = segment.importance(candidate.document);
                    candidate.score *= ranking.signals(time_ms, importance);
                }
            }
        }
        if ranking.reranks() {
            candidates.sort_unstable_by(Candidate::best_first);
            candidates.truncate(limit);
        }
        let turns = match reach {
            Some(reach) => conversation::around(
                &candidates,
                conversations,
                &segments,
                &self.fields,
                reach,
                accept,
            )?,
            None => Vec::new(),
        };
        let hits = Hits {
            total,
            total_is_lower_bound: total_is_lower_bound || is_partial,
            is_partial,
            hits: hits(&candidates, &segments, &plan)?,
        };
        Ok((hits, turns))
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

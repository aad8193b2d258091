//! The cuts of a precise search: beside the best hit, and by the words of the question that a hit has.
//!
//! Scores do not carry over from one store to another, so neither cut is a score.

use crate::text::index::segment_reader::Segment;
use crate::text::query::plan::Plan;
use crate::text::search::hit::relevance;
use crate::text::search::postings_cursor::PostingsCursor;
use crate::text::search::ranking::Ranking;
use crate::text::search::rerank::Dated;
use crate::text::search::top_docs::{Candidate, as_f32};

/// Drops the candidates, given best first, that a ranking does not find relevant; returns how many.
pub(in crate::text) fn keep(
    candidates: &mut Vec<Candidate>,
    ranking: &Ranking,
    segments: &[Segment<'_>],
    plan: &Plan,
    dated: Dated<'_>,
) -> tantivy::Result<usize> {
    let before = candidates.len();
    if ranking.coverage > 0.0 {
        let covered = covered(candidates, segments, plan)?;
        let mut covered = covered.into_iter();
        candidates.retain(|candidate| {
            let share = covered.next().unwrap_or(0.0);
            // A turn of the named time may have no word of the question.
            share >= ranking.coverage || dated.rows.contains(&candidate.row)
        });
    }
    if ranking.share > 0.0 {
        let score = |candidate: &Candidate| relevance(as_f32(candidate.score));
        let best = candidates.first().map_or(0.0, score);
        candidates.retain(|candidate| score(candidate) >= ranking.share * best);
    }
    Ok(before - candidates.len())
}

/// Returns for each candidate the share of the weight of the question that its words have.
pub(super) fn covered(
    candidates: &[Candidate],
    segments: &[Segment<'_>],
    plan: &Plan,
) -> tantivy::Result<Vec<f64>> {
    let scored = || plan.leaves.iter().filter(|leaf| leaf.is_scored);
    let all: f64 = scored().map(|leaf| leaf.weight).sum();
    let mut covered = vec![0.0; candidates.len()];
    let mut places: Vec<usize> = (0..candidates.len()).collect();
    let place = |at: &usize| candidates.get(*at).map(|it| (it.segment, it.document));
    places.sort_unstable_by_key(place);
    for (number, segment) in segments.iter().enumerate() {
        for leaf in scored() {
            let mut cursor = PostingsCursor::open(segment, leaf)?;
            for at in &places {
                let Some(candidate) = candidates.get(*at).filter(|it| it.segment == number) else {
                    continue;
                };
                let has = cursor.lower_bound(candidate.document) == candidate.document
                    && cursor.count(candidate.document) > 0.0;
                if let Some(covered) = covered.get_mut(*at).filter(|_| has && all > 0.0) {
                    *covered += leaf.weight / all;
                }
            }
        }
    }
    Ok(covered)
}

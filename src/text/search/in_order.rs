//! Hits in the order of time, for a question that asks for the last, the first or the number.
//!
//! Those that fit it about as well as any are what it asks about. Scores do not tell them from the
//! others, since a short text scores more than a long one with the same words: how much of the question
//! they have does.

use crate::ledger::EntryId;
use crate::text::index::segment_reader::Segment;
use crate::text::query::plan::Plan;
use crate::text::search::relevant::covered;
use crate::text::search::top_docs::Candidate;

/// The one of many that a question asks for, or their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Last,
    First,
    Count,
}

/// Puts the candidates, given best first, that are what the question asks about before the others, in
/// the order that it asks for, and keeps `limit` of all. Where their number is asked for the best stay
/// first, and it returns the rows that count.
pub(in crate::text) fn put(
    candidates: &mut Vec<Candidate>,
    order: Order,
    limit: usize,
    segments: &[Segment<'_>],
    plan: &Plan,
) -> tantivy::Result<Vec<EntryId>> {
    let covered = covered(candidates, segments, plan)?;
    let most = covered.iter().copied().fold(0.0, f64::max);
    let is_asked = |share: &f64| most > 0.0 && *share >= SHARE * most;
    let mut counted = Vec::new();
    if order == Order::Count {
        let asked = candidates.iter().zip(&covered);
        let asked = asked.filter(|(_, share)| is_asked(share));
        counted.extend(asked.map(|(candidate, _)| candidate.row));
    } else {
        let (mut asked, mut others) = (Vec::new(), Vec::new());
        for (candidate, share) in candidates.drain(..).zip(covered) {
            let group = if is_asked(&share) {
                &mut asked
            } else {
                &mut others
            };
            group.push(candidate);
        }
        let time_ms = |candidate: &Candidate| {
            let segment = segments.get(candidate.segment);
            segment.map_or(0, |segment| segment.time_ms(candidate.document))
        };
        asked.sort_by_key(time_ms);
        if order == Order::Last {
            asked.reverse();
        }
        candidates.append(&mut asked);
        candidates.append(&mut others);
    }
    candidates.truncate(limit);
    Ok(counted)
}

/// A text with this share of the words of the best is about the same.
const SHARE: f64 = 0.65;

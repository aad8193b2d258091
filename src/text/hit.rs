use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::grain;

/// A row that matched.
///
/// ```
/// use grainstore::text::Hit;
///
/// let hit = Hit { row: 7, score: 4.0, fields: 0 };
/// assert_eq!(hit.relevance(), 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The ledger sequence that was fed.
    pub row: u64,
    /// The score by the words and what else ranks: above 0, without an upper end.
    pub score: f32,
    /// The fields of the grain that say what was looked for, as bits; see
    /// [`matched_fields`](Self::matched_fields).
    pub fields: u64,
}

impl Hit {
    /// Returns the score in [0, 1) for the envelope of OMS 28.1: `score / (score + 4)`.
    ///
    /// It grows with the score and looks at nothing else, so the same hit keeps its relevance
    /// whatever is found beside it. 4 is about what one fitting word in a mid-sized store scores.
    pub fn relevance(&self) -> f64 {
        let score = f64::from(self.score);
        score / (score + SCORE_HALF)
    }

    /// Returns the fields of the grain that say what was looked for.
    pub fn matched_fields(&self) -> Vec<&'static str> {
        let fields = (1..).zip(grain::WORDED);
        let matched = fields.filter(|(bit, _)| self.fields >> bit & 1 == 1);
        matched.map(|(_, name)| *name).collect()
    }
}

/// A hit, and where its document is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub(super) row: u64,
    pub(super) score: f64,
    /// The place of its segment among those of the search.
    pub(super) segment: usize,
    pub(super) document: u32,
}

impl Candidate {
    /// Returns the score, as coarse as two ways to compute it may differ.
    fn rounded(&self) -> f32 {
        as_f32(self.score)
    }

    /// Orders the better one first: by score, then the older row.
    pub(super) fn best_first(&self, other: &Self) -> Ordering {
        let by_score = other.rounded().total_cmp(&self.rounded());
        by_score.then(self.row.cmp(&other.row))
    }
}

/// Rounds a score: once, at the end.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding once is the point"
)]
pub(super) const fn as_f32(score: f64) -> f32 {
    score as f32
}

/// The best rows, and how many there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    /// How many accepted rows match, up to [`TOTAL_MAX`].
    pub total: usize,
    /// Whether more than [`TOTAL_MAX`] match, so that `total` is where the count stopped.
    pub total_is_lower_bound: bool,
    /// The hits, best first; of equal scores the older row first.
    pub hits: Vec<Hit>,
}

/// Keeps the best `limit` of the candidates it is offered, and counts them.
pub(super) struct Best<'a> {
    limit: usize,
    accept: &'a (dyn Fn(u64) -> bool + Sync),
    accepted: usize,
    worst_first: BinaryHeap<Ranked>,
}

impl<'a> Best<'a> {
    /// Returns an empty collection that will admit only rows for which `accept` holds.
    pub(super) fn new(limit: usize, accept: &'a (dyn Fn(u64) -> bool + Sync)) -> Self {
        Self {
            limit,
            accept,
            accepted: 0,
            worst_first: BinaryHeap::new(),
        }
    }

    /// Counts a candidate, and keeps it if it is among the best so far.
    ///
    /// Once the count has ended, only one that would be kept is worth asking the caller about.
    pub(super) fn offer(&mut self, candidate: Candidate) {
        let is_contender = self.is_contender(&candidate);
        if (self.accepted > TOTAL_MAX && !is_contender) || !(self.accept)(candidate.row) {
            return;
        }
        self.accepted = self.accepted.saturating_add(1);
        if is_contender {
            if self.worst_first.len() == self.limit {
                self.worst_first.pop();
            }
            self.worst_first.push(Ranked(candidate));
        }
    }

    /// Returns how many were accepted, up to [`TOTAL_MAX`], and whether there are more.
    pub(super) fn total(&self) -> (usize, bool) {
        (self.accepted.min(TOTAL_MAX), self.accepted > TOTAL_MAX)
    }

    /// Returns what was kept, best first.
    pub(super) fn into_candidates(self) -> Vec<Candidate> {
        let ranked = self.worst_first.into_sorted_vec();
        ranked
            .into_iter()
            .map(|Ranked(candidate)| candidate)
            .collect()
    }

    fn is_contender(&self, candidate: &Candidate) -> bool {
        if self.worst_first.len() < self.limit {
            return true;
        }
        let worst = self.worst_first.peek();
        worst.is_some_and(|Ranked(worst)| candidate.best_first(worst) == Ordering::Less)
    }
}

/// A candidate ordered best first, so that the greatest is the worst.
struct Ranked(Candidate);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.best_first(&other.0)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

/// Where counting ends.
pub const TOTAL_MAX: usize = 10_000;

/// The score of relevance one half.
const SCORE_HALF: f64 = 4.0;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate(row: u64, score: f64) -> Candidate {
        Candidate {
            row,
            score,
            segment: 0,
            document: 0,
        }
    }

    proptest! {
        #[test]
        fn the_best_are_those_a_full_sort_would_put_first(
            scores in prop::collection::vec(0_u8..8, 0..60),
            limit in 0_usize..70,
        ) {
            let accept = |row: u64| row % 5 > 1;
            let all = (0_u64..).zip(&scores).map(|(row, score)| candidate(row, (*score).into()));
            let mut best = Best::new(limit, &accept);
            all.clone().for_each(|hit| best.offer(hit));
            let mut sorted: Vec<Candidate> = all.filter(|hit| accept(hit.row)).collect();
            prop_assert_eq!(best.total(), (sorted.len(), false));
            sorted.sort_by(Candidate::best_first);
            sorted.truncate(limit);
            prop_assert_eq!(best.into_candidates(), sorted);
        }
    }

    #[test]
    fn counting_ends_at_the_maximum_and_says_so() {
        for (offered, is_lower_bound) in [(10_000, false), (10_001, true), (10_500, true)] {
            let mut best = Best::new(1, &|_| true);
            (0..offered).for_each(|row| best.offer(candidate(row, 1.0)));
            assert_eq!(best.total(), (TOTAL_MAX, is_lower_bound));
            assert_eq!(best.into_candidates(), [candidate(0, 1.0)]);
        }
    }

    #[test]
    fn a_better_hit_after_the_count_has_ended_is_still_kept() {
        let mut best = Best::new(1, &|row| row != 20_001);
        (0..20_000).for_each(|row| best.offer(candidate(row, 1.0)));
        best.offer(candidate(20_001, 3.0));
        best.offer(candidate(20_002, 2.0));
        assert_eq!(best.into_candidates(), [candidate(20_002, 2.0)]);
    }
}

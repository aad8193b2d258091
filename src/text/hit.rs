use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A row that matched.
///
/// ```
/// use grainstore::text::Hit;
///
/// let hit = Hit { row: 7, score: 4.0 };
/// assert_eq!(hit.relevance(), 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The ledger sequence that was fed.
    pub row: u64,
    /// The BM25 score: above 0, without an upper end.
    pub score: f32,
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

    /// Orders the better hit first: by score, then the older row.
    fn best_first(&self, other: &Self) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then(self.row.cmp(&other.row))
    }
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

/// Keeps the best `limit` of the hits it is offered, and counts them.
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

    /// Counts `hit`, and keeps it if it is among the best so far.
    ///
    /// Once the count has ended, only a hit that would be kept is worth asking the caller about.
    pub(super) fn offer(&mut self, hit: Hit) {
        let is_contender = self.is_contender(&hit);
        if (self.accepted > TOTAL_MAX && !is_contender) || !(self.accept)(hit.row) {
            return;
        }
        self.accepted = self.accepted.saturating_add(1);
        if is_contender {
            if self.worst_first.len() == self.limit {
                self.worst_first.pop();
            }
            self.worst_first.push(Ranked(hit));
        }
    }

    /// Returns what was kept, best first.
    pub(super) fn into_hits(self) -> Hits {
        let ranked = self.worst_first.into_sorted_vec();
        Hits {
            total: self.accepted.min(TOTAL_MAX),
            total_is_lower_bound: self.accepted > TOTAL_MAX,
            hits: ranked.into_iter().map(|Ranked(hit)| hit).collect(),
        }
    }

    fn is_contender(&self, hit: &Hit) -> bool {
        if self.worst_first.len() < self.limit {
            return true;
        }
        let worst = self.worst_first.peek();
        worst.is_some_and(|Ranked(worst)| hit.best_first(worst) == Ordering::Less)
    }
}

/// A hit ordered best first, so that the greatest is the worst.
struct Ranked(Hit);

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

    proptest! {
        #[test]
        fn the_best_are_those_a_full_sort_would_put_first(
            scores in prop::collection::vec(0_u8..8, 0..60),
            limit in 0_usize..70,
        ) {
            let accept = |row: u64| row % 5 > 1;
            let all = (0_u64..).zip(&scores).map(|(row, score)| Hit { row, score: (*score).into() });
            let mut best = Best::new(limit, &accept);
            all.clone().for_each(|hit| best.offer(hit));
            let mut sorted: Vec<Hit> = all.filter(|hit| accept(hit.row)).collect();
            let total = sorted.len();
            sorted.sort_by(Hit::best_first);
            sorted.truncate(limit);
            let expected = Hits { total, total_is_lower_bound: false, hits: sorted };
            prop_assert_eq!(best.into_hits(), expected);
        }
    }

    #[test]
    fn counting_ends_at_the_maximum_and_says_so() {
        for (offered, total_is_lower_bound) in [(10_000, false), (10_001, true), (10_500, true)] {
            let mut best = Best::new(1, &|_| true);
            (0..offered).for_each(|row| best.offer(Hit { row, score: 1.0 }));
            let hits = best.into_hits();
            assert_eq!(hits.total, TOTAL_MAX);
            assert_eq!(hits.total_is_lower_bound, total_is_lower_bound);
            assert_eq!(hits.hits, [Hit { row: 0, score: 1.0 }]);
        }
    }

    #[test]
    fn a_better_hit_after_the_count_has_ended_is_still_kept() {
        let mut best = Best::new(1, &|row| row != 20_001);
        (0..20_000).for_each(|row| best.offer(Hit { row, score: 1.0 }));
        best.offer(Hit {
            row: 20_001,
            score: 3.0,
        });
        best.offer(Hit {
            row: 20_002,
            score: 2.0,
        });
        assert_eq!(
            best.into_hits().hits,
            [Hit {
                row: 20_002,
                score: 2.0
            }]
        );
    }
}

use std::cmp::Ordering;

use super::segment::Segment;
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
        let fields = (1..).zip(grain::SEARCHABLE_FIELDS);
        let matched = fields.filter(|(bit, _)| self.fields >> bit & 1 == 1);
        matched.map(|(_, name)| *name).collect()
    }
}

/// A hit, and where its document is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub(super) row: u64,
    /// What decides between equal scores.
    pub(super) order: u64,
    pub(super) score: f64,
    /// The place of its segment among those of the search.
    pub(super) segment: usize,
    pub(super) document: u32,
}

impl Candidate {
    /// Orders the better one first: by score, as coarse as two ways to compute it may differ, then
    /// by its order, then the older row.
    pub(super) fn best_first(&self, other: &Self) -> Ordering {
        let by_score = as_f32(other.score).total_cmp(&as_f32(self.score));
        let by_order = by_score.then(self.order.cmp(&other.order));
        by_order.then(self.row.cmp(&other.row))
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

/// A hit and what was said around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    /// The hit.
    pub hit: Hit,
    /// Its row, and those of the turns around it, in the order in which they were said.
    pub turns: Vec<u64>,
}

/// The best rows, and how many there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    /// How many accepted rows match, up to [`TOTAL_MAX`].
    pub total: usize,
    /// Whether more than [`TOTAL_MAX`] match, so that `total` is where the count stopped.
    pub total_is_lower_bound: bool,
    /// The hits, best first; of equal scores as [`Document::order`](super::Document::order) says.
    pub hits: Vec<Hit>,
}

/// Keeps the best `limit` of the candidates it is offered, and counts them.
pub(super) struct Best<'a> {
    limit: usize,
    /// After how many the count ends.
    count_max: usize,
    accept: &'a (dyn Fn(u64) -> bool + Sync),
    accepted: usize,
    /// The best so far, and up to as many that came after `worst` was found.
    kept: Vec<Candidate>,
    /// The last of the best `limit` of those that were looked at.
    worst: Option<Candidate>,
}

impl<'a> Best<'a> {
    /// Returns an empty collection that will admit only rows for which `accept` holds, and counts
    /// up to `count_max` of them.
    pub(super) fn new(
        limit: usize,
        count_max: usize,
        accept: &'a (dyn Fn(u64) -> bool + Sync),
    ) -> Self {
        Self {
            limit,
            count_max,
            accept,
            accepted: 0,
            kept: Vec::new(),
            worst: None,
        }
    }

    /// Counts a document, and keeps it if it is among the best so far.
    ///
    /// Once the count has ended, only one that would be kept is worth asking the caller about.
    pub(super) fn offer(
        &mut self,
        segment: &Segment<'_>,
        number: usize,
        document: u32,
        score: f64,
    ) {
        let is_hopeless = self
            .worst
            .is_some_and(|worst| as_f32(score) < as_f32(worst.score));
        if is_hopeless && self.has_counted() {
            return;
        }
        if let Some(row) = segment.row(document) {
            self.offer_row(row, is_hopeless, || Candidate {
                row,
                order: segment.order(document),
                score,
                segment: number,
                document,
            });
        }
    }

    fn offer_row(&mut self, row: u64, is_hopeless: bool, candidate: impl Fn() -> Candidate) {
        let contender = if is_hopeless || self.limit == 0 {
            None
        } else {
            let candidate = candidate();
            let is_better = |worst: &Candidate| candidate.best_first(worst) == Ordering::Less;
            self.worst
                .as_ref()
                .is_none_or(is_better)
                .then_some(candidate)
        };
        if (contender.is_none() && self.has_counted()) || !(self.accept)(row) {
            return;
        }
        self.accepted = self.accepted.saturating_add(1);
        if let Some(contender) = contender {
            self.kept.push(contender);
            if self.kept.len() >= self.limit.saturating_mul(2) {
                self.forget_worse();
            }
        }
    }

    /// Returns the score that a document must have to change anything.
    pub(super) fn floor(&mut self) -> f32 {
        if !self.has_counted() {
            return f32::NEG_INFINITY;
        }
        if self.limit == 0 {
            return f32::INFINITY;
        }
        if self.worst.is_none() && self.kept.len() >= self.limit {
            self.forget_worse();
        }
        self.worst
            .map_or(f32::NEG_INFINITY, |worst| as_f32(worst.score))
    }

    /// Returns how many were accepted, up to where the count ends, and whether there are more.
    pub(super) fn total(&self) -> (usize, bool) {
        (self.accepted.min(self.count_max), self.has_counted())
    }

    /// Returns what was kept, best first.
    pub(super) fn into_candidates(mut self) -> Vec<Candidate> {
        self.kept.sort_unstable_by(Candidate::best_first);
        self.kept.truncate(self.limit);
        self.kept
    }

    const fn has_counted(&self) -> bool {
        self.accepted > self.count_max
    }

    fn forget_worse(&mut self) {
        let last = self.limit.saturating_sub(1);
        if last < self.kept.len() {
            let (_, worst, _) = self
                .kept
                .select_nth_unstable_by(last, Candidate::best_first);
            self.worst = Some(*worst);
            self.kept.truncate(self.limit);
        }
    }
}

/// Where counting ends.
pub const TOTAL_MAX: usize = 1_000;

/// The score of relevance one half.
const SCORE_HALF: f64 = 4.0;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate(row: u64, score: f64) -> Candidate {
        Candidate {
            row,
            order: row * 7 % 11,
            score,
            segment: 0,
            document: 0,
        }
    }

    impl Best<'_> {
        fn offer_candidate(&mut self, candidate: Candidate) {
            self.offer_row(candidate.row, false, || candidate);
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
            let mut best = Best::new(limit, TOTAL_MAX, &accept);
            all.clone().for_each(|hit| best.offer_candidate(hit));
            let mut sorted: Vec<Candidate> = all.filter(|hit| accept(hit.row)).collect();
            prop_assert_eq!(best.total(), (sorted.len(), false));
            sorted.sort_by(Candidate::best_first);
            sorted.truncate(limit);
            prop_assert_eq!(best.into_candidates(), sorted);
        }
    }

    #[test]
    fn counting_ends_at_the_maximum_and_says_so() {
        for (offered, is_lower_bound) in [(1_000, false), (1_001, true), (1_500, true)] {
            let mut best = Best::new(1, TOTAL_MAX, &|_| true);
            (0..offered).for_each(|row| best.offer_candidate(candidate(row, 1.0)));
            assert_eq!(best.total(), (TOTAL_MAX, is_lower_bound));
            assert_eq!(best.into_candidates(), [candidate(0, 1.0)]);
        }
    }

    #[test]
    fn a_better_hit_after_the_count_has_ended_is_still_kept() {
        let mut best = Best::new(1, TOTAL_MAX, &|row| row != 20_001);
        (0..20_000).for_each(|row| best.offer_candidate(candidate(row, 1.0)));
        best.offer_candidate(candidate(20_001, 3.0));
        best.offer_candidate(candidate(20_002, 2.0));
        assert_eq!(best.into_candidates(), [candidate(20_002, 2.0)]);
    }
}

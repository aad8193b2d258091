//! The best documents of a search: a bounded collection, a count of matches, and the threshold to
//! enter it.

use std::cmp::Ordering;

use crate::ledger::EntryId;
use crate::text::index::segment_reader::Segment;

/// A hit and the location of its document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::text) struct Candidate {
    pub(in crate::text) row: EntryId,
    /// The tie-breaker between equal scores.
    pub(in crate::text) order: u64,
    pub(in crate::text) score: f64,
    /// The index of its segment in the search.
    pub(in crate::text) segment: usize,
    pub(in crate::text) document: u32,
}

impl Candidate {
    /// Orders the better one first: by score, rounded to `f32` since two ways to compute it may
    /// differ in the last bits, then by tie-breaker, then the older row.
    pub(in crate::text) fn best_first(&self, other: &Self) -> Ordering {
        let by_score = as_f32(other.score).total_cmp(&as_f32(self.score));
        let by_order = by_score.then(self.order.cmp(&other.order));
        by_order.then(self.row.cmp(&other.row))
    }
}

/// Rounds a score. This happens once, at the end.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding once is the point"
)]
pub(in crate::text) const fn as_f32(score: f64) -> f32 {
    score as f32
}

/// Keeps the best `limit` candidates that it is offered, and counts the accepted ones.
pub(in crate::text) struct TopDocs<'a> {
    limit: usize,
    /// The count at which counting stops.
    count_max: usize,
    accept: &'a (dyn Fn(EntryId) -> bool + Sync),
    is_over: &'a (dyn Fn() -> bool + Sync),
    /// Whether the search has ended early.
    is_partial: bool,
    accepted: usize,
    /// The best candidates so far, and up to as many later ones.
    kept: Vec<Candidate>,
    /// The last of the best `limit`, as of the last pruning.
    worst: Option<Candidate>,
}

impl<'a> TopDocs<'a> {
    /// Returns an empty collection that admits rows for which `accept` returns true and counts up
    /// to `count_max` of them, until `is_over` returns true.
    pub(in crate::text) fn new(
        limit: usize,
        count_max: usize,
        accept: &'a (dyn Fn(EntryId) -> bool + Sync),
        is_over: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self {
            limit,
            count_max,
            accept,
            is_over,
            is_partial: false,
            accepted: 0,
            kept: Vec::new(),
            worst: None,
        }
    }

    /// Returns whether the time of the search is over; asked before each block of documents.
    pub(in crate::text) fn is_over(&mut self) -> bool {
        self.is_partial = self.is_partial || (self.is_over)();
        self.is_partial
    }

    /// Counts a document, and keeps it if it is among the best so far.
    ///
    /// After counting has stopped, `accept` is called only for documents that would be kept.
    pub(in crate::text) fn offer(
        &mut self,
        segment: &Segment<'_>,
        number: usize,
        document: u32,
        score: f64,
    ) {
        let is_below = self
            .worst
            .is_some_and(|worst| as_f32(score) < as_f32(worst.score));
        if is_below && self.count_ended() {
            return;
        }
        if let Some(row) = segment.row(document) {
            self.offer_row(row, is_below, || Candidate {
                row,
                order: segment.order(document),
                score,
                segment: number,
                document,
            });
        }
    }

    fn offer_row(&mut self, row: EntryId, is_below: bool, candidate: impl Fn() -> Candidate) {
        let contender = if is_below || self.limit == 0 {
            None
        } else {
            let candidate = candidate();
            let is_better = |worst: &Candidate| candidate.best_first(worst) == Ordering::Less;
            self.worst
                .as_ref()
                .is_none_or(is_better)
                .then_some(candidate)
        };
        if (contender.is_none() && self.count_ended()) || !(self.accept)(row) {
            return;
        }
        self.accepted = self.accepted.saturating_add(1);
        if let Some(contender) = contender {
            self.kept.push(contender);
            if self.kept.len() >= self.limit.saturating_mul(2) {
                self.prune();
            }
        }
    }

    /// Returns the minimum score that can change the result.
    pub(in crate::text) fn threshold(&mut self) -> f32 {
        if !self.count_ended() {
            return f32::NEG_INFINITY;
        }
        if self.limit == 0 {
            return f32::INFINITY;
        }
        if self.worst.is_none() && self.kept.len() >= self.limit {
            self.prune();
        }
        self.worst
            .map_or(f32::NEG_INFINITY, |worst| as_f32(worst.score))
    }

    /// Returns the number of accepted rows, up to the limit of the count, and whether there are
    /// more.
    pub(in crate::text) fn total(&self) -> (usize, bool) {
        (self.accepted.min(self.count_max), self.count_ended())
    }

    /// Returns the kept candidates, best first.
    pub(in crate::text) fn into_candidates(mut self) -> Vec<Candidate> {
        self.kept.sort_unstable_by(Candidate::best_first);
        self.kept.truncate(self.limit);
        self.kept
    }

    const fn count_ended(&self) -> bool {
        self.accepted > self.count_max
    }

    fn prune(&mut self) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::search::hit::TOTAL_MAX;

    fn candidate(row: u64, score: f64) -> Candidate {
        Candidate {
            row: EntryId::new(row),
            order: row * 7 % 11,
            score,
            segment: 0,
            document: 0,
        }
    }

    impl TopDocs<'_> {
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
            let accept = |row: EntryId| row.get() % 5 > 1;
            let all = (0..).zip(&scores).map(|(row, score)| candidate(row, (*score).into()));
            let mut top = TopDocs::new(limit, TOTAL_MAX, &accept, &|| false);
            all.clone().for_each(|hit| top.offer_candidate(hit));
            let mut sorted: Vec<Candidate> = all.filter(|hit| accept(hit.row)).collect();
            prop_assert_eq!(top.total(), (sorted.len(), false));
            sorted.sort_by(Candidate::best_first);
            sorted.truncate(limit);
            prop_assert_eq!(top.into_candidates(), sorted);
        }
    }

    #[test]
    fn counting_ends_at_the_maximum_and_says_so() {
        for (offered, is_lower_bound) in [(1_000, false), (1_001, true), (1_500, true)] {
            let mut top = TopDocs::new(1, TOTAL_MAX, &|_| true, &|| false);
            (0..offered).for_each(|row| top.offer_candidate(candidate(row, 1.0)));
            assert_eq!(top.total(), (TOTAL_MAX, is_lower_bound));
            assert_eq!(top.into_candidates(), [candidate(0, 1.0)]);
        }
    }

    #[test]
    fn a_better_hit_after_the_count_has_ended_is_still_kept() {
        let mut top = TopDocs::new(1, TOTAL_MAX, &|row| row.get() != 20_001, &|| false);
        (0..20_000).for_each(|row| top.offer_candidate(candidate(row, 1.0)));
        top.offer_candidate(candidate(20_001, 3.0));
        top.offer_candidate(candidate(20_002, 2.0));
        assert_eq!(top.into_candidates(), [candidate(20_002, 2.0)]);
    }
}

//! Hybrid search: words and vectors combined by their ranks.

use std::collections::BTreeMap;

use crate::codec::ContentAddress;
use crate::store::Store;

use super::{Envelope, Error, Filter, Found};

impl Store {
    /// Returns the `limit` best grains by words and vectors combined, among those that pass a
    /// filter: reciprocal rank fusion of [`Store::search`] and [`Store::nearest`].
    ///
    /// The score is the sum of 1 / (60 + rank) over both rankings, relative to the sum of a grain
    /// that is first in both. The total is a lower bound: the greater of both totals.
    ///
    /// # Errors
    /// As [`Store::search`] and [`Store::nearest`].
    pub fn search_hybrid(
        &self,
        text: &str,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, Error> {
        self.visible_ranking("search_hybrid", filter, limit, |filter, limit| {
            self.hybrid(text, model, vector, filter, limit)
        })
    }

    fn hybrid(
        &self,
        text: &str,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, Error> {
        let deep = limit.saturating_mul(4).max(DEEP);
        let words = self.searched(text, filter, deep)?;
        let near = self.near(model, vector, filter, deep)?;
        Ok(fuse(words, near, limit))
    }
}

/// Combines two rankings by rank, since their scores are not comparable.
fn fuse(words: Envelope, near: Envelope, limit: usize) -> Envelope {
    let total = words.total.max(near.total);
    let is_partial = words.is_partial || near.is_partial;
    let mut ranked: BTreeMap<ContentAddress, Found> = BTreeMap::new();
    for results in [words.results, near.results] {
        for (rank, found) in (1_u32..).zip(results) {
            let worth = SMOOTH / (SMOOTH + f64::from(rank - 1)) / 2.0;
            ranked
                .entry(found.address)
                .and_modify(|known| known.score += worth)
                .or_insert(Found {
                    score: worth,
                    ..found
                });
        }
    }
    let mut results: Vec<_> = ranked.into_values().collect();
    // The sort is stable: of equal scores the lower address comes first.
    results.sort_by(|a, b| b.score.total_cmp(&a.score));
    results.truncate(limit);
    Envelope {
        results,
        total,
        total_is_lower_bound: true,
        is_partial,
        next_cursor: None,
    }
}

/// 60 + 1, so that the first rank scores 1 before scaling.
const SMOOTH: f64 = 61.0;

/// The minimum number of results taken from each ranking.
const DEEP: usize = 50;

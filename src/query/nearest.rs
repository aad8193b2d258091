//! Vector search: nearest neighbours of a vector or grain, and hybrid search by words and vectors.
//!
//! Vectors come from the caller and are compared exactly, in `vector`.

use std::collections::BTreeMap;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::store::Store;

use super::{Envelope, Error, Filter, Found};

impl Store {
    /// Returns the `limit` grains whose vectors of a model are nearest to a vector, among those
    /// that pass a filter. All vectors are compared. The score is (1 + cosine) / 2.
    ///
    /// # Errors
    /// `ERR_FILTER`; `ERR_EMBEDDING` for a vector of another length; storage errors.
    pub fn nearest(
        &self,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, Error> {
        self.visible_ranking("nearest", filter, limit, |filter, limit| {
            self.near(model, vector, filter, limit)
        })
    }

    fn near(
        &self,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, Error> {
        let snapshot = self.snapshot();
        let rows = self.rows(&snapshot, filter)?;
        let (near, total) = self.nearest_rows(&snapshot, model, vector, &rows, limit)?;
        let mut envelope = Envelope {
            total,
            ..Envelope::default()
        };
        for near in near {
            let score = f64::midpoint(1.0, f64::from(near.cosine)).clamp(0.0, 1.0);
            let found = self.found(&snapshot, near.row, score, |_: &Grain| Vec::new())?;
            envelope.results.push(found);
        }
        Ok(envelope)
    }

    /// Returns the `limit` grains whose vectors are nearest to that of a grain, without the grain
    /// itself; none if it has no vector of the model.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; as [`Store::nearest`].
    pub fn similar(
        &self,
        address: &ContentAddress,
        model: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, Error> {
        self.visible_ranking("similar", filter, limit, |filter, limit| {
            self.alike(address, model, filter, limit)
        })
    }

    fn alike(
        &self,
        address: &ContentAddress,
        model: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, Error> {
        let Some(vector) = self.vector_of(address, model)? else {
            return Ok(Envelope::default());
        };
        let mut near = self.near(model, &vector, filter, limit.saturating_add(1))?;
        let before = near.results.len();
        near.results.retain(|found| found.address != *address);
        near.total -= (before - near.results.len()) as u64;
        near.results.truncate(limit);
        Ok(near)
    }

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
        next_cursor: None,
    }
}

/// 60 + 1, so that the first rank scores 1 before scaling.
const SMOOTH: f64 = 61.0;

/// The minimum number of results taken from each ranking.
const DEEP: usize = 50;

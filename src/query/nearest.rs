//! Vector search: nearest neighbours of a vector or grain.
//!
//! Vectors come from the caller and are compared in `vector`.

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::store::Store;

use super::{Envelope, Error, Filter};

impl Store {
    /// Returns the `limit` grains whose vectors of a model are nearest to a vector, among those
    /// that pass a filter. Up to 50,000 vectors of the model are all compared; of more those that are
    /// likely to be near, so that a few of the nearest may be missed, unless at most 12,000 pass the
    /// filter. The score is (1 + cosine) / 2.
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

    pub(super) fn near(
        &self,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, Error> {
        let snapshot = self.snapshot();
        let rows = self.rows_to_rank(&snapshot, filter)?;
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
}

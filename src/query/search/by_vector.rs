//! Vector search: nearest neighbours of a vector or grain.
//!
//! Vectors come from the caller and are compared in `vector`.

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::store::Access;
use crate::store::read::{nearest_rows, vector_of};

use super::Search;
use crate::query::plan::rows_to_rank;
use crate::query::visible::visible_ranking;
use crate::query::{Error, Filter, Page, run_query};

/// See [`Search::near`].
pub(super) fn nearest(
    store: &Access,
    model: &str,
    vector: &[f32],
    of: &Search<'_>,
) -> Result<Page, Error> {
    visible_ranking(store, "nearest", &of.filter, of.limit, |filter, limit| {
        near(store, model, vector, filter, limit)
    })
}

fn near(
    store: &Access,
    model: &str,
    vector: &[f32],
    filter: &Filter,
    limit: usize,
) -> Result<Page, Error> {
    let snapshot = store.snapshot();
    let rows = rows_to_rank(store, &snapshot, filter)?;
    let (near, total) = nearest_rows(store, &snapshot, model, vector, &rows, limit)?;
    let mut envelope = Page {
        total,
        ..Page::default()
    };
    for near in near {
        let score = f64::midpoint(1.0, f64::from(near.cosine)).clamp(0.0, 1.0);
        let found = run_query::found(store, &snapshot, near.row, score, |_: &Grain| Vec::new())?;
        envelope.results.push(found);
    }
    Ok(envelope)
}

/// See [`Search::like`].
pub(super) fn similar(
    store: &Access,
    address: &ContentAddress,
    model: &str,
    of: &Search<'_>,
) -> Result<Page, Error> {
    visible_ranking(store, "similar", &of.filter, of.limit, |filter, limit| {
        alike(store, address, model, filter, limit)
    })
}

fn alike(
    store: &Access,
    address: &ContentAddress,
    model: &str,
    filter: &Filter,
    limit: usize,
) -> Result<Page, Error> {
    let Some(vector) = vector_of(store, address, model)? else {
        return Ok(Page::default());
    };
    let mut near = near(store, model, &vector, filter, limit.saturating_add(1))?;
    let before = near.results.len();
    near.results.retain(|found| found.address != *address);
    near.total -= (before - near.results.len()) as u64;
    near.results.truncate(limit);
    Ok(near)
}

//! Hybrid search: words and vectors combined in one score. The vector of a question is the caller's,
//! or that of the first of `Options::embedders`.

use std::cell::{OnceCell, RefCell};

use crate::index::{RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::query::Error;
use crate::store::commit::{embedded, embedder};
use crate::store::read::nearest_rows;
use crate::store::{Access, read};
use crate::text::{self, Meaning, Ranking};

/// The vector of a question, made when it is first needed and once for each question.
#[derive(Debug, Default)]
pub(in crate::query) struct QuestionVector(OnceCell<Option<Vec<f32>>>);

impl QuestionVector {
    /// Returns the vector with the name of its model; `None` of a store without an embedder, of a
    /// ranking without meaning, and of a question that says nothing to the model.
    ///
    /// # Errors
    /// `ERR_EMBEDDER`.
    pub(in crate::query) fn of<'a>(
        &'a self,
        store: &'a Access,
        query: &text::Query,
        ranking: &Ranking,
    ) -> Result<Option<(&'a str, &'a [f32])>, Error> {
        let Some(embedder) = embedder(store).filter(|_| ranking.meaning > 0.0) else {
            return Ok(None);
        };
        if self.0.get().is_none() {
            let vector = embedded(store, query.plain())?;
            self.0.get_or_init(|| vector);
        }
        let vector = self.0.get().and_then(Option::as_deref);
        Ok(vector.map(|vector| (embedder.model(), vector)))
    }
}

/// Passes on what the vector of a question says of rows, and returns the number of vectors among
/// them too; without a vector, nothing.
pub(in crate::query) fn with_meaning<T>(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
    question: Option<(&str, &[f32])>,
    limit: usize,
    rank: impl FnOnce(Option<&Meaning<'_>>) -> Result<T, Error>,
) -> Result<(T, u64), Error> {
    let Some(of) = question else {
        return Ok((rank(None)?, 0));
    };
    let (near, total) = nearest_rows(store, snapshot, of.0, of.1, rows, limit.max(NEAREST))?;
    let scale = scale(store, snapshot, of, rows)?;
    let failed = RefCell::new(None);
    let nearness = |rows: &[EntryId]| match read::cosines(store, snapshot, of.0, of.1, rows) {
        Ok(cosines) => cosines.into_iter().map(|it| scale.of(it)).collect(),
        Err(error) => {
            *failed.borrow_mut() = Some(error);
            Vec::new()
        }
    };
    let meaning = Meaning {
        nearest: near.iter().map(|near| near.row).collect(),
        of: &nearness,
    };
    let ranked = rank(Some(&meaning))?;
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok((ranked, total)),
    }
}

/// Returns the scale of the cosines of rows, of which it compares some evenly.
fn scale(
    store: &Access,
    snapshot: &Snapshot,
    (model, vector): (&str, &[f32]),
    rows: &RowSet,
) -> Result<Scale, Error> {
    let step = usize::try_from(rows.len() / SAMPLE_LEN + 1).unwrap_or(usize::MAX);
    let sample: Vec<EntryId> = rows.iter().step_by(step).collect();
    let cosines = read::cosines(store, snapshot, model, vector, &sample)?;
    let cosines: Vec<f64> = cosines.into_iter().flatten().map(f64::from).collect();
    let count = cosines.iter().map(|_| 1.0).sum::<f64>();
    let mean = cosines.iter().sum::<f64>() / f64::max(count, 1.0);
    let squares = cosines.iter().map(|cosine| (cosine - mean).powi(2));
    let deviation = (squares.sum::<f64>() / f64::max(count, 1.0)).sqrt();
    Ok(Scale {
        mean,
        deviation,
        share: (count / VECTORS_FULL).sqrt().clamp(SHARE_MIN, 1.0),
    })
}

/// The scale on which cosines are compared.
struct Scale {
    mean: f64,
    deviation: f64,
    /// The share of the weight that few vectors have.
    share: f64,
}

impl Scale {
    fn of(&self, cosine: Option<f32>) -> f64 {
        let cosine = cosine.map_or(self.mean, f64::from);
        if self.deviation > 0.0 {
            self.share * f64::max((cosine - self.mean) / self.deviation, 0.0)
        } else {
            0.0
        }
    }
}

/// The minimum number of nearest rows that are ranked together with the matches.
const NEAREST: usize = 256;

/// The number of rows, about, whose cosines give the scale.
const SAMPLE_LEN: u64 = 4_096;

/// The number of vectors from which on deviations have their whole weight.
const VECTORS_FULL: f64 = 600.0;

/// The share of the weight that the fewest vectors have.
const SHARE_MIN: f64 = 0.5;

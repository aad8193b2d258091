//! Vectors of grains: storing and reading them, and finding the nearest rows.

use std::collections::BTreeMap;

use crate::codec::{ContentAddress, nfc};
use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::store::engine::Engine;
use crate::store::records::{EmbeddingRecord, Record};
use crate::store::state::StoredAt;
use crate::store::txn::Transaction;
use crate::store::{Access, Error, read};
use crate::vector::{Near, VectorIndex};

use super::audit::refuse_read;
use super::consented::{authorize_read, is_consent_asked_to_read};
use super::get::seen_row;

/// A vector of a grain, computed by a model of the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The grain.
    pub of: ContentAddress,
    /// The name of the model: only vectors of the same model are compared.
    pub model: String,
    /// The vector; only its direction counts.
    pub vector: Vec<f32>,
}

impl Embedding {
    /// Returns the vector that a model made of a grain.
    pub fn new(of: ContentAddress, model: impl Into<String>, vector: &[f32]) -> Self {
        Self {
            of,
            model: model.into(),
            vector: vector.to_vec(),
        }
    }

    /// Returns its record, with the other members of the file's record.
    pub(crate) fn to_record(&self, source: Option<&str>) -> EmbeddingRecord {
        EmbeddingRecord {
            of: self.of,
            model: self.model.clone(),
            vector: self.vector.clone(),
            source: source.map(str::to_owned),
        }
    }
}

/// See [`Store::put_embeddings`](crate::Store::put_embeddings).
pub(crate) fn put_embeddings(store: &Access, embeddings: &[Embedding]) -> Result<(), Error> {
    let engine = &*store.engine;
    let caller = store.caller()?;
    caller.may_write().map_err(|rule| Error::Refused { rule })?;
    let mut txn = Transaction::begin(engine, caller)?;
    let snapshot = engine.snapshot();
    let mut lengths = Lengths::default();
    for embedding in embeddings {
        seen_row(store, &snapshot, &embedding.of)?;
        judge_embedding(engine, &snapshot, embedding, &mut lengths)?;
        txn.record(&Record::Embedding(embedding.to_record(None)))?;
    }
    txn.commit()?;
    Ok(())
}

/// See [`Store::embedding`](crate::Store::embedding).
pub(crate) fn embedding(
    store: &Access,
    address: &ContentAddress,
    model: &str,
) -> Result<Option<Vec<f32>>, Error> {
    let found = vector_of(store, address, model)?;
    let mut read_recorder = read::read_recorder(store, "embedding");
    if found.is_some() && read_recorder.is_watched() {
        let row = store.engine.as_of(&store.snapshot()).row_of(address)?;
        read_recorder.add(&store.engine.grain_at(row, address)?);
    }
    read_recorder.record()?;
    Ok(found)
}

/// Returns what [`Store::embedding`] does, for the store's own use.
pub(crate) fn vector_of(
    store: &Access,
    address: &ContentAddress,
    model: &str,
) -> Result<Option<Vec<f32>>, Error> {
    let snapshot = store.snapshot();
    let row = seen_row(store, &snapshot, address)?;
    // A vector reveals the content of its grain, so it needs the same consent.
    if is_consent_asked_to_read(store) {
        let grain = store.engine.grain_at(row, address)?;
        let allowed = authorize_read(store, &snapshot, &grain);
        allowed.map_err(|refusal| refuse_read(store, "embedding", &grain, refusal))?;
    }
    let found = with_view(&store.engine, &snapshot, model, |index| index.get(row))?;
    Ok(found.flatten())
}

/// Returns the nearest of some rows to a vector, and how many of them have a vector.
pub(crate) fn nearest_rows(
    store: &Access,
    snapshot: &Snapshot,
    model: &str,
    vector: &[f32],
    rows: &RowSet,
    limit: usize,
) -> Result<(Vec<Near>, u64), Error> {
    let found = with_view(&store.engine, snapshot, model, |index| {
        if vector.len() != index.dimensions() {
            return Err(Error::Embedding {
                reason: "it is not as long as those of the model",
            });
        }
        Ok(index.nearest(vector, limit, rows))
    })?;
    found.unwrap_or_else(|| Ok((Vec::new(), 0)))
}

/// Returns the cosine of each row and a vector; `None` of a row without a vector of the model.
#[cfg(feature = "text")]
pub(crate) fn cosines(
    store: &Access,
    snapshot: &Snapshot,
    model: &str,
    vector: &[f32],
    rows: &[EntryId],
) -> Result<Vec<Option<f32>>, Error> {
    let cosines = with_view(&store.engine, snapshot, model, |index| {
        index.cosines(vector, rows)
    })?;
    Ok(cosines.unwrap_or_default())
}

/// The lengths of the vectors of models, as far as they are known.
pub(crate) type Lengths = BTreeMap<String, usize>;

fn check(embedding: &Embedding) -> Result<(), Error> {
    let refuse = |reason| Err(Error::Embedding { reason });
    let vector = &embedding.vector;
    if embedding.model.is_empty() || embedding.model.len() > MODEL_LEN_MAX {
        refuse("its model needs a name of at most 256 bytes")
    } else if vector.len() > DIMENSIONS_MAX {
        refuse("it has more than 16,384 numbers")
    } else if !vector.iter().all(|value| value.is_finite()) {
        refuse("its numbers must be finite")
    } else if vector.iter().all(|value| *value == 0.0) {
        refuse("it has no direction")
    } else {
        Ok(())
    }
}

/// Validates a vector by itself, and against the others of its model.
///
/// # Errors
/// `ERR_EMBEDDING`; storage errors.
pub(crate) fn judge_embedding(
    engine: &Engine,
    snapshot: &Snapshot,
    embedding: &Embedding,
    lengths: &mut Lengths,
) -> Result<(), Error> {
    check(embedding)?;
    let len = match lengths.get(&embedding.model) {
        Some(len) => *len,
        None => {
            let known = with_view(engine, snapshot, &embedding.model, VectorIndex::dimensions)?;
            let len = known.unwrap_or(embedding.vector.len());
            lengths.insert(embedding.model.clone(), len);
            len
        }
    };
    if embedding.vector.len() != len {
        return Err(Error::Embedding {
            reason: "it is not as long as the others of its model",
        });
    }
    Ok(())
}

/// Returns those of some rows that have no vector of a model.
///
/// # Errors
/// Storage errors.
pub(crate) fn without_vector(
    engine: &Engine,
    snapshot: &Snapshot,
    model: &str,
    rows: &RowSet,
) -> Result<RowSet, Error> {
    let mut lacking = rows.clone();
    with_view(engine, snapshot, model, |matrix| {
        lacking.retain(|row| matrix.get(row).is_none());
    })?;
    Ok(lacking)
}

pub(super) fn embedding_record(engine: &Engine, row: EntryId) -> Result<EmbeddingRecord, Error> {
    match engine.record_at(row)? {
        Record::Embedding(embedding) => Ok(embedding),
        _ => Err(Error::damaged(format!("entry {row}"), "not an embedding")),
    }
}

/// Passes on the index of a model, brought up to the snapshot; `None` if the model has no
/// vectors.
fn with_view<T>(
    engine: &Engine,
    snapshot: &Snapshot,
    model: &str,
    ask: impl FnOnce(&VectorIndex) -> T,
) -> Result<Option<T>, Error> {
    let model = &*nfc(model);
    let rows = || Ok(snapshot.of_kind(Kind::Embedding).set()?);
    let read = |entry| {
        let embedding = embedding_record(engine, entry)?;
        if embedding.model != model {
            return Ok(None);
        }
        let grain = engine.as_of(snapshot).locate(&embedding.of)?;
        let vector = embedding.vector;
        Ok(grain.map(|grain| StoredAt { grain, vector }))
    };
    let vectors = &engine.caches().vectors;
    vectors.with(model, snapshot.watermark(), rows, read, ask)
}

const DIMENSIONS_MAX: usize = 16_384;
const MODEL_LEN_MAX: usize = 256;

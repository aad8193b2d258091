//! Vectors of grains: storing and reading them, and finding the nearest rows.

use std::collections::BTreeMap;

use crate::codec::{ContentAddress, nfc};
use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::store::engine::Engine;
use crate::store::records::{EmbeddingRecord, Record};
use crate::store::state::StoredAt;
use crate::store::txn::Transaction;
use crate::store::{Error, Store};
use crate::vector::{Near, VectorIndex};

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

impl Store {
    /// Stores vectors that a model made of grains, each in place of an earlier one of that model: all
    /// of them, or none if one is refused. A vector is a ledger entry, goes into backups, and is
    /// deleted with its grain.
    ///
    /// The store has no model: a caller that searches brings a vector of the same model.
    ///
    /// ```
    /// use grainstore::store::Embedding;
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let tea = store.put(Draft::event("she likes tea"))?;
    /// let sea = store.put(Draft::event("she lives by the sea"))?;
    /// store.put_embeddings(&[Embedding::new(tea, "tiny", &[0.9, 0.1])])?;
    /// store.put_embeddings(&[Embedding::new(sea, "tiny", &[0.2, 0.8])])?;
    /// let near = store.nearest("tiny", &[1.0, 0.0], &Filter::new(), 1)?;
    /// assert_eq!(near.results[0].address, tea);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, also for a grain that the handle does not see; `ERR_ACCESS_DENIED` through
    /// a reader's handle; `ERR_EMBEDDING` for a vector that is empty, too long, not finite, without
    /// a direction, or of another length than the model's others, and for a model without a name;
    /// storage errors.
    pub fn put_embeddings(&self, embeddings: &[Embedding]) -> Result<(), Error> {
        let engine = &*self.engine;
        let caller = self.caller()?;
        caller.may_write().map_err(|rule| Error::Refused { rule })?;
        let mut txn = Transaction::begin(engine, caller)?;
        let snapshot = engine.snapshot();
        let mut lengths = Lengths::default();
        for embedding in embeddings {
            self.seen_row(&snapshot, &embedding.of)?;
            judge_embedding(engine, &snapshot, embedding, &mut lengths)?;
            txn.record(&Record::Embedding(embedding.to_record(None)))?;
        }
        txn.commit()?;
        Ok(())
    }

    /// Returns the vector that a model made of a grain, with the length 1; of a model with more than
    /// 50,000 vectors rounded to multiples of 2^-15.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_CONSENT` as [`Store::get`]; storage errors.
    pub fn embedding(
        &self,
        address: &ContentAddress,
        model: &str,
    ) -> Result<Option<Vec<f32>>, Error> {
        let found = self.vector_of(address, model)?;
        let mut read_recorder = self.read_recorder("embedding");
        if found.is_some() && read_recorder.is_watched() {
            let row = self.engine.as_of(&self.snapshot()).row_of(address)?;
            read_recorder.add(&self.engine.grain_at(row, address)?);
        }
        read_recorder.record()?;
        Ok(found)
    }

    /// Returns what [`Store::embedding`] does, for the store's own use.
    pub(crate) fn vector_of(
        &self,
        address: &ContentAddress,
        model: &str,
    ) -> Result<Option<Vec<f32>>, Error> {
        let snapshot = self.snapshot();
        let row = self.seen_row(&snapshot, address)?;
        // A vector reveals the content of its grain, so it needs the same consent.
        if self.is_consent_asked_to_read() {
            let grain = self.engine.grain_at(row, address)?;
            let allowed = self.authorize_read(&snapshot, &grain);
            allowed.map_err(|refusal| self.refuse_read("embedding", &grain, refusal))?;
        }
        let found = with_view(&self.engine, &snapshot, model, |index| index.get(row))?;
        Ok(found.flatten())
    }

    /// Returns the nearest of some rows to a vector, and how many of them have a vector.
    pub(crate) fn nearest_rows(
        &self,
        snapshot: &Snapshot,
        model: &str,
        vector: &[f32],
        rows: &RowSet,
        limit: usize,
    ) -> Result<(Vec<Near>, u64), Error> {
        let found = with_view(&self.engine, snapshot, model, |index| {
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
        &self,
        snapshot: &Snapshot,
        model: &str,
        vector: &[f32],
        rows: &[EntryId],
    ) -> Result<Vec<Option<f32>>, Error> {
        let cosines = with_view(&self.engine, snapshot, model, |index| {
            index.cosines(vector, rows)
        })?;
        Ok(cosines.unwrap_or_default())
    }
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

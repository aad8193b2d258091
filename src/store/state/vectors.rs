use std::collections::{BTreeMap, HashSet};

use parking_lot::RwLock;

use crate::codec::{ContentAddress, nfc};
use crate::grain::Time;
use crate::index::{RowSet, Snapshot};
use crate::interchange::{StoredVector, Vectors as ForeignVectors};
use crate::ledger::Kind;
use crate::vector::{Matrix, Near};

use crate::store::commit::group::Frame;
use crate::store::instance::open::Inner;
use crate::store::records::entry::EmbeddingEntry;
use crate::store::{Error, Store};

/// A vector that somebody's model made of a grain.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The grain.
    pub of: ContentAddress,
    /// The name of the model: vectors of one model are compared with each other, and only those.
    pub model: String,
    /// The vector; only its direction counts.
    pub vector: Vec<f32>,
}

/// The matrices of the models that were asked about, built from the ledger when they first are.
#[derive(Debug, Default)]
pub(crate) struct Vectors(RwLock<BTreeMap<String, View>>);

/// The vectors of one model.
#[derive(Debug)]
struct View {
    matrix: Matrix,
    /// How many ledger entries it knows.
    seen: u64,
    /// The row of the grain by the row of the entry, so that what is erased is forgotten.
    entries: BTreeMap<u64, u64>,
}

impl Store {
    /// Keeps the vector that a model made of a grain, in place of an earlier one of that model. It
    /// is a ledger entry, goes into backups, and is deleted with its grain.
    ///
    /// The store has no model and asks none: whoever searches brings vectors of the same model.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let tea = store.put(Draft::event("she likes tea"))?;
    /// let sea = store.put(Draft::event("she lives by the sea"))?;
    /// store.put_embedding(&tea, "tiny", &[0.9, 0.1])?;
    /// store.put_embedding(&sea, "tiny", &[0.2, 0.8])?;
    /// let near = store.nearest("tiny", &[1.0, 0.0], &Filter::new(), 1)?;
    /// assert_eq!(near.results[0].address, tea);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_EMBEDDING` for a vector that is empty, too long, not finite, without a
    /// direction, or of another length than the model's others, and for a model without a name;
    /// storage errors.
    pub fn put_embedding(
        &self,
        address: &ContentAddress,
        model: &str,
        vector: &[f32],
    ) -> Result<(), Error> {
        self.put_embeddings(&[Embedding {
            of: *address,
            model: model.to_owned(),
            vector: vector.to_vec(),
        }])
    }

    /// Keeps vectors together: all of them, or none if one is refused.
    ///
    /// # Errors
    /// As [`Store::put_embedding`].
    pub fn put_embeddings(&self, embeddings: &[Embedding]) -> Result<(), Error> {
        let inner = &*self.inner;
        let mut writer = inner.lead_alone();
        let snapshot = inner.index.snapshot();
        let mut frame = Frame::default();
        let mut lengths = Lengths::default();
        for embedding in embeddings {
            inner.row_of(&snapshot, &embedding.of)?;
            inner.judge_embedding(&snapshot, embedding, &mut lengths)?;
            frame.record(Kind::Embedding, EmbeddingEntry::encode(embedding, None)?);
        }
        inner.commit(&mut writer, &frame)?;
        Ok(())
    }

    /// Returns the vector that a model made of a grain, with the length 1.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_CONSENT` as [`Store::get`]; storage errors.
    pub fn embedding(
        &self,
        address: &ContentAddress,
        model: &str,
    ) -> Result<Option<Vec<f32>>, Error> {
        let found = self.vector_of(address, model)?;
        let mut outgoing = self.outgoing("embedding");
        if found.is_some() && outgoing.is_watched() {
            let row = self.inner.row_of(&self.snapshot(), address)?;
            outgoing.add(&self.inner.grain_at(row, address)?);
        }
        outgoing.record()?;
        Ok(found)
    }

    /// Returns what [`Store::embedding`] does, for the store's own use.
    pub(crate) fn vector_of(
        &self,
        address: &ContentAddress,
        model: &str,
    ) -> Result<Option<Vec<f32>>, Error> {
        let snapshot = self.snapshot();
        let row = self.inner.row_of(&snapshot, address)?;
        // What a grain says can be guessed from its vector.
        if self.inner.demands_for_reading() {
            let grain = self.inner.grain_at(row, address)?;
            self.inner.refuse_reading(&snapshot, &grain)?;
        }
        let found = self.inner.with_view(&snapshot, model, |matrix| {
            matrix.get(row).map(<[f32]>::to_vec)
        })?;
        Ok(found.flatten())
    }

    /// Returns the newest vector of each of some grains, whatever model made it.
    pub(crate) fn stored_vectors(
        &self,
        wanted: &HashSet<ContentAddress>,
    ) -> Result<ForeignVectors, Error> {
        let mut found = ForeignVectors::new();
        self.inner
            .each_embedding(&self.snapshot(), &mut |entry, at| {
                if wanted.contains(&entry.of) {
                    let vector = StoredVector {
                        model: entry.model,
                        numbers: entry.vector,
                        record: entry.record,
                        at,
                    };
                    found.insert(entry.of, vector);
                }
            })?;
        Ok(found)
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
        let found = self.inner.with_view(snapshot, model, |matrix| {
            if vector.len() != matrix.dimensions() {
                return Err(Error::Embedding {
                    reason: "it is not as long as those of the model",
                });
            }
            let total = rows.iter().filter(|row| matrix.get(*row).is_some()).count() as u64;
            let is_few = rows.len() < matrix.len() as u64 / FEW_OF;
            Ok(if is_few {
                (matrix.nearest_of(vector, limit, rows.iter()), total)
            } else {
                let accepts = |row| rows.contains(row);
                (matrix.nearest(vector, limit, &accepts), total)
            })
        })?;
        found.unwrap_or_else(|| Ok((Vec::new(), 0)))
    }
}

/// How long the vectors of models are, as far as it is known.
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

impl Inner {
    /// Judges a vector by itself, and by the others of its model.
    ///
    /// # Errors
    /// `ERR_EMBEDDING`; storage errors.
    pub(crate) fn judge_embedding(
        &self,
        snapshot: &Snapshot,
        embedding: &Embedding,
        lengths: &mut Lengths,
    ) -> Result<(), Error> {
        check(embedding)?;
        let len = match lengths.get(&embedding.model) {
            Some(len) => *len,
            None => {
                let known = self.with_view(snapshot, &embedding.model, Matrix::dimensions)?;
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

    /// Shows every vector that is kept, the oldest first, with the time at which it came.
    pub(crate) fn each_embedding(
        &self,
        snapshot: &Snapshot,
        show: &mut dyn FnMut(EmbeddingEntry, Time),
    ) -> Result<(), Error> {
        for row in snapshot.of_kind(Kind::Embedding).set()?.iter() {
            let entry = self.ledger.read(row)?;
            let embedding = EmbeddingEntry::decode(&entry.body)
                .ok_or_else(|| Error::damaged(format!("entry {row}"), "not an embedding"))?;
            show(embedding, Time::from_ms(entry.header.time_ms));
        }
        Ok(())
    }

    /// Asks the matrix of a model, brought to where the snapshot is; none if the model has none.
    fn with_view<T>(
        &self,
        snapshot: &Snapshot,
        model: &str,
        ask: impl FnOnce(&Matrix) -> T,
    ) -> Result<Option<T>, Error> {
        let model = &*nfc(model);
        let end = snapshot.watermark();
        {
            let views = self.vectors.0.read();
            if let Some(view) = views.get(model).filter(|view| view.seen >= end) {
                return Ok(Some(ask(&view.matrix)));
            }
        }
        let mut views = self.vectors.0.write();
        let seen = views.get(model).map_or(0, |view| view.seen);
        let entries = snapshot.of_kind(Kind::Embedding).set()?;
        for row in entries.iter_from(seen) {
            let body = self.ledger.read(row)?.body;
            let entry = EmbeddingEntry::decode(&body)
                .ok_or_else(|| Error::damaged(format!("entry {row}"), "not an embedding"))?;
            if entry.model != model {
                continue;
            }
            let Some(grain) = self.locate(snapshot, &entry.of)? else {
                continue;
            };
            let view = views.entry(model.to_owned()).or_insert_with(|| View {
                matrix: Matrix::new(entry.vector.len()),
                seen: 0,
                entries: BTreeMap::new(),
            });
            if view.matrix.set(grain, &entry.vector) {
                view.entries.insert(row, grain);
            }
        }
        Ok(views.get_mut(model).map(|view| {
            view.seen = view.seen.max(end);
            ask(&view.matrix)
        }))
    }

    /// Forgets the vectors of erased entries.
    pub(crate) fn forget_vectors(&self, erased: &[u64]) {
        for view in self.vectors.0.write().values_mut() {
            for row in erased {
                if let Some(grain) = view.entries.remove(row) {
                    view.matrix.remove(grain);
                }
            }
        }
    }
}

/// Where fewer than one in so many vectors may be shown, only those are looked at.
const FEW_OF: u64 = 4;

const DIMENSIONS_MAX: usize = 16_384;
const MODEL_LEN_MAX: usize = 256;

//! The vectors of the embeddings file beside a store, in and out (PAM 12).

use std::sync::Arc;

use crate::codec::{Map, Value};
use crate::grain::Grain;
use crate::interchange::io::record_sink::changed;
use crate::interchange::{Error, ForeignId, ForeignVector, Loss, Place, VectorOf};

use super::super::types::embeddings::{self, EMBEDDING, Embedding, Embeddings};
use super::super::write::document::Writer;
use super::super::write::uuid::uuid_of;
use super::build::Names;
use super::store_file::Known;
use super::validation_pass::ValidationIndex;
use crate::interchange::Diagnostics;

/// Vectors that were validated; they are made when they are asked for.
pub(crate) struct Vectors {
    pub(crate) file: Embeddings,
    pub(crate) len: u64,
    /// Whose memories they are of.
    pub(crate) owner: String,
    /// The memories of the store that they came with.
    pub(crate) of: Option<(Arc<ValidationIndex>, Arc<Known>)>,
    /// Whether they may be of memories that came with another one.
    pub(crate) is_delta: bool,
}

impl Vectors {
    /// Returns how many there are.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Hands them over one after the other, while they are wanted.
    ///
    /// # Errors
    /// `ERR_IO`, also if the file is not what it was.
    pub(crate) fn each(&self, take: &mut dyn FnMut(ForeignVector) -> bool) -> Result<(), Error> {
        let (mut non_fatal, mut loss) = (Diagnostics::default(), Loss::default());
        let read = self.file.read(&mut non_fatal, &mut loss, &mut |embedding| {
            let vector = self.vector(embedding);
            vector.is_none_or(&mut *take)
        });
        read.map(drop).map_err(|_| changed())
    }

    fn vector(&self, embedding: Embedding) -> Option<ForeignVector> {
        let id = embedding.memory_id;
        let address = self.of.as_ref().and_then(|(index, known)| {
            let number = index.number(&id)?;
            known.addresses.get(number).copied()
        });
        let of = match address {
            Some(address) => VectorOf::Grain(address),
            // PAM 16: a delta may bring the vector of a memory that it does not hold.
            None if self.is_delta => VectorOf::Named(ForeignId {
                format: Names::PAM.memory,
                scope: self.owner.clone(),
                id,
            }),
            None => return None,
        };
        Some(ForeignVector {
            of,
            model: embedding.model,
            place: Place::Pointer(embedding.at),
            numbers: embedding.numbers,
            record: embedding.record,
        })
    }
}

impl Writer<'_> {
    /// Writes the vector of a memory. Where none goes out nothing may point to one (PAM 12); a
    /// record that named none stays as it is, for the embedding names the memory.
    pub(crate) fn embedding(&mut self, grain: &Grain, map: &mut Map, names_it: bool) {
        let told = map.remove("embedding_ref");
        let vector = match self.vectors.get(&grain.address()) {
            Some(vector) if self.with_files => vector,
            found => {
                let what = found.map_or("embedding_ref", |_| EMBEDDING);
                if found.is_some() || told.is_some() {
                    self.loss.count(what);
                }
                return;
            }
        };
        let said = vector.record.as_deref();
        let said = said.and_then(|record| {
            let record = Value::from_json(record).ok()?;
            Some(record.as_map()?.get("id")?.as_text()?.to_owned())
        });
        let told = told.and_then(|told| told.as_text().map(str::to_owned));
        let address = grain.address();
        let made = uuid_of(&[address.as_bytes(), vector.model.as_bytes()].concat());
        let mut names = [told, said, Some(made)].into_iter().flatten();
        let Some(id) = names.find(|id| self.embedding_ids.insert(id.clone())) else {
            return;
        };
        let memory_id = map.get("id").and_then(Value::as_text).unwrap_or_default();
        let entry = embeddings::entry(&id, memory_id, vector);
        self.embeddings.push(entry);
        if names_it {
            map.insert("embedding_ref", id);
        }
    }
}

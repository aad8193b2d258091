//! The vectors of the embeddings file beside a store, in and out, and what memories say about them
//! (PAM 12).

use std::io::ErrorKind;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::Grain;
use crate::interchange::{Error, ForeignVector, VectorOf};

use super::embeddings::{self, EMBEDDING, Embedding, Embeddings, FILE};
use super::import::{Importer, Talks};
use super::storage::read_below;
use super::uuid::uuid_of;
use super::write::Writer;
use super::{code, parse};

impl Importer<'_> {
    /// Reads the embeddings file beside the store; one that is not there is no fault (PAM 12).
    pub(super) fn vectors(&mut self, addresses: &[Option<ContentAddress>]) -> Vec<ForeignVector> {
        let loaded = self.load_embeddings().unwrap_or_else(|error| {
            self.minded.push(error);
            None
        });
        let embeddings = loaded.as_ref().map(|value| {
            let (at, version) = (format!("{FILE}#"), self.document.version);
            let (minded, loss) = (&mut self.minded, &mut self.loss);
            let read = Embeddings::read(value, &at, Some(version), minded, loss);
            read.unwrap_or_else(|error| {
                self.minded.push(error);
                Embeddings::default()
            })
        });
        self.judge_embedding_refs(embeddings.as_ref());
        let kept = embeddings.into_iter().flat_map(|it| it.kept);
        kept.filter_map(|one| self.vector(one, addresses)).collect()
    }

    fn vector(
        &mut self,
        embedding: Embedding<'_>,
        addresses: &[Option<ContentAddress>],
    ) -> Option<ForeignVector> {
        let id = embedding.memory_id;
        let number = self.document.numbers.get(id);
        let of = match number.and_then(|number| addresses.get(*number).copied().flatten()) {
            Some(address) => VectorOf::Grain(address),
            // PAM 16: a delta may bring the vector of a memory that it does not hold.
            None if self.document.is_delta() => {
                VectorOf::Named(self.foreign_id(self.names.memory, id))
            }
            None => {
                let message = "no memory has this id";
                let object = &embedding.object;
                let error = object.member_fault("memory_id", code::EMBEDDING_REF, message);
                self.minded.push(error);
                self.loss.count(EMBEDDING);
                return None;
            }
        };
        Some(ForeignVector {
            of,
            model: embedding.model.to_owned(),
            place: embedding.place(),
            numbers: embedding.numbers,
            record: embedding.record,
        })
    }

    fn load_embeddings(&self) -> Result<Option<Value>, Error> {
        let name = FILE;
        let bytes = match self.talks {
            Talks::Below(folder) => match read_below(folder, name, "") {
                Ok(bytes) => bytes,
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            },
            Talks::Packed(packed) => match packed.get(name) {
                Some(bytes) => bytes.clone(),
                None => return Ok(None),
            },
            Talks::Nowhere | Talks::Made(_) | Talks::Alone(_) => return Ok(None),
        };
        parse(&bytes, name).map(Some)
    }

    /// Judges what memories say about their embeddings.
    fn judge_embedding_refs(&mut self, embeddings: Option<&Embeddings<'_>>) {
        for memory in &self.document.memories {
            let Some(id) = memory.object.get("embedding_ref").and_then(Value::as_text) else {
                continue;
            };
            let fault = |message: &str| {
                let object = &memory.object;
                object.member_fault("embedding_ref", code::EMBEDDING_REF, message)
            };
            match embeddings {
                None => self.loss.count("embedding_ref"),
                Some(file) => match file.ids.get(id) {
                    None => self.minded.push(fault("no embedding has this id")),
                    Some(of) if *of != memory.id => {
                        self.minded
                            .push(fault("that embedding is of another memory"));
                    }
                    Some(_) => {}
                },
            }
        }
    }
}

impl Writer<'_> {
    /// Writes the vector of a memory. Where none goes out nothing may point to one (PAM 12); a
    /// record that named none stays as it is, for the embedding names the memory.
    pub(super) fn embedding(&mut self, grain: &Grain, map: &mut Map, names_it: bool) {
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

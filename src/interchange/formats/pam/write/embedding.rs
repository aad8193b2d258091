//! The vectors of written memories, and the references to them (PAM 12).

use crate::codec::{Map, Value};
use crate::grain::Grain;

use super::super::types::embeddings::{self, EMBEDDING};
use super::document::Writer;
use super::uuid::uuid_of;

impl Writer<'_> {
    /// Writes the vector of a memory. Without it, no reference may point to one (PAM 12); a record
    /// without a reference keeps none, since the embedding names the memory.
    pub(crate) fn embedding(&mut self, grain: &Grain, map: &mut Map, names_it: bool) {
        let reference = map.remove("embedding_ref");
        let vector = match self.vectors.get(&grain.address()) {
            Some(vector) if self.with_files => vector,
            found => {
                let what = found.map_or("embedding_ref", |_| EMBEDDING);
                if found.is_some() || reference.is_some() {
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
        let reference = reference.and_then(|reference| reference.as_text().map(str::to_owned));
        let address = grain.address();
        let derived = uuid_of(&[address.as_bytes(), vector.model.as_bytes()].concat());
        let mut names = [reference, said, Some(derived)].into_iter().flatten();
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

//! The vectors of the embeddings file beside a store (PAM 12).

use std::sync::Arc;

use crate::interchange::io::record_sink::changed;
use crate::interchange::model::vector::VectorSource;
use crate::interchange::{Diagnostics, Error, ForeignId, ForeignVector, Loss, Place, VectorOf};

use super::super::types::embeddings::{Embedding, Embeddings};
use super::build::Names;
use super::build_memory::BuiltMemories;
use super::validation_pass::ValidationIndex;

/// Valid vectors, which are read when they are asked for.
pub(crate) struct Vectors {
    pub(crate) file: Embeddings,
    pub(crate) len: u64,
    /// The owner of their memories.
    pub(crate) owner: String,
    /// The memories of the store that they came with.
    pub(crate) of: Option<(Arc<ValidationIndex>, Arc<BuiltMemories>)>,
    /// Whether they may be of memories that came with another store.
    pub(crate) is_delta: bool,
}

impl VectorSource for Vectors {
    fn len(&self) -> u64 {
        self.len
    }

    fn each(&self, take: &mut dyn FnMut(ForeignVector) -> bool) -> Result<(), Error> {
        let (mut non_fatal, mut loss) = (Diagnostics::default(), Loss::default());
        let read = self.file.read(&mut non_fatal, &mut loss, &mut |embedding| {
            let vector = self.vector(embedding);
            vector.is_none_or(&mut *take)
        });
        read.map(drop).map_err(|_| changed())
    }
}

impl Vectors {
    fn vector(&self, embedding: Embedding) -> Option<ForeignVector> {
        let id = embedding.memory_id;
        let address = self.of.as_ref().and_then(|(index, known)| {
            let number = index.number(&id)?;
            known.addresses.get(number).copied()
        });
        // Beside an archive the grains are named by their addresses.
        let named = || id.parse().ok().filter(|_| self.of.is_none());
        let of = match address.or_else(named) {
            Some(address) => VectorOf::Grain(address),
            // PAM 16: an incremental store may bring the vector of a memory that it does not hold.
            None if self.is_delta => {
                VectorOf::Named(ForeignId::new(Names::PAM.memory, self.owner.as_str(), id))
            }
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

//! The vectors of grains, as an export writes them.
//!
//! Keeping vectors and asking for the nearest is in `embedding`.

use std::collections::HashSet;

use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::index::Snapshot;
use crate::interchange::{StoredVector, Vectors};
use crate::ledger::Kind;
use crate::store::instance::Inner;
use crate::store::records::EmbeddingRecord;
use crate::store::{Error, Store};

impl Store {
    /// Returns the newest vector of each of some grains, whatever model made it.
    pub(crate) fn stored_vectors(
        &self,
        wanted: &HashSet<ContentAddress>,
    ) -> Result<Vectors, Error> {
        let mut found = Vectors::new();
        self.inner
            .each_embedding(&self.snapshot(), &mut |entry, at| {
                if wanted.contains(&entry.of) {
                    let vector = StoredVector {
                        model: entry.model,
                        numbers: entry.vector,
                        record: entry.source,
                        at,
                    };
                    found.insert(entry.of, vector);
                }
            })?;
        Ok(found)
    }
}

impl Store {
    /// Returns how many of some grains have a vector.
    pub(crate) fn with_vectors(&self, grains: &HashSet<ContentAddress>) -> Result<u64, Error> {
        let mut found = HashSet::new();
        if !grains.is_empty() {
            self.inner
                .each_embedding(&self.snapshot(), &mut |entry, _| {
                    if grains.contains(&entry.of) {
                        found.insert(entry.of);
                    }
                })?;
        }
        Ok(u64::try_from(found.len()).unwrap_or(u64::MAX))
    }
}

impl Inner {
    /// Shows every vector that is kept, the oldest first, with the time at which it came.
    fn each_embedding(
        &self,
        snapshot: &Snapshot,
        show: &mut dyn FnMut(EmbeddingRecord, Time),
    ) -> Result<(), Error> {
        for row in snapshot.of_kind(Kind::Embedding).set()?.iter() {
            let at = Time::from_ms(self.ledger().read(row)?.header.time_ms);
            show(self.embedding_record(row)?, at);
        }
        Ok(())
    }
}

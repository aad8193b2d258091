//! The import of vectors, which come with records or in files of their own.

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::index::{Family, Snapshot};
use crate::interchange::{ForeignVector, ForeignVectors, Place, VectorOf, carried_vector};
use crate::store::Error;
use crate::store::read::{Embedding, judge_embedding};
use crate::store::records::{EntryBody, Record};
use crate::store::txn::Transaction;

use super::batch::Importer;

impl Importer<'_> {
    /// Stores the vectors of a file, after its records. One that cannot be stored is reported and
    /// counted: it refuses no record, and can be computed again (PAM 12).
    pub(super) fn keep(&mut self, vectors: &ForeignVectors) -> Result<(), Error> {
        let mut batch = Vec::new();
        let mut kept = Ok(());
        vectors.each(&mut |vector| {
            batch.push(vector);
            if batch.len() == BATCH_LEN {
                kept = self.keep_all(std::mem::take(&mut batch));
            }
            kept.is_ok()
        })?;
        kept?;
        self.keep_all(batch)
    }

    /// Stores the vector that the record of a grain carries, beside the grain. The record keeps it in
    /// any case.
    pub(super) fn keep_vector_of(
        &mut self,
        grain: &Grain,
        of: ContentAddress,
        place: &Place,
    ) -> Result<(), Error> {
        let Some((model, vector)) = carried_vector(grain) else {
            return Ok(());
        };
        let embedding = Embedding { of, model, vector };
        if let Some(reason) = self.keep_embedding(&embedding, None)? {
            let message = format!("similar does not find it: {reason}");
            self.findings.note(place.clone(), message);
        }
        Ok(())
    }

    /// Counts a record as unchanged: the grain at `here` says the same. Returns that address.
    pub(super) fn keep_unchanged(
        &mut self,
        grain: &Grain,
        here: ContentAddress,
        place: &Place,
    ) -> Result<ContentAddress, Error> {
        self.summary.unchanged += 1;
        self.keep_vector_of(grain, here, place)?;
        Ok(here)
    }

    fn keep_all(&mut self, vectors: Vec<ForeignVector>) -> Result<(), Error> {
        let mut txn = Transaction::begin(self.engine, self.caller)?;
        for vector in vectors {
            match self.of(&vector.of)? {
                Some(of) => self.keep_one(of, vector)?,
                None => {
                    let why = missing(&vector.of);
                    self.pass_over(vector, &why);
                }
            }
        }
        self.end_batch(&mut txn)
    }

    fn keep_one(&mut self, of: ContentAddress, vector: ForeignVector) -> Result<(), Error> {
        let embedding = Embedding {
            of,
            model: vector.model.clone(),
            vector: vector.numbers.clone(),
        };
        if let Some(reason) = self.keep_embedding(&embedding, Some(&vector.record))? {
            self.pass_over(vector, reason);
        }
        Ok(())
    }

    /// Stores a vector unless it is stored already; returns why it cannot be one of its model.
    fn keep_embedding(
        &mut self,
        embedding: &Embedding,
        record: Option<&str>,
    ) -> Result<Option<&'static str>, Error> {
        let snapshot = self.engine.snapshot();
        match judge_embedding(self.engine, &snapshot, embedding, &mut self.lengths) {
            Ok(()) => {}
            Err(Error::Embedding { reason }) => return Ok(Some(reason)),
            Err(error) => return Err(error),
        }
        let body = EntryBody::record(&Record::Embedding(embedding.to_record(record)))?;
        if !self.has(&snapshot, embedding, &body)? {
            self.frame.push(body);
            self.summary.embedded += 1;
        }
        Ok(None)
    }

    /// Returns the stored grain of a vector.
    fn of(&self, of: &VectorOf) -> Result<Option<ContentAddress>, Error> {
        let address = match of {
            VectorOf::Grain(read) if self.passed_over.contains(read) => return Ok(None),
            VectorOf::Grain(read) => Some(self.renamed.get(read).unwrap_or(*read)),
            VectorOf::Named(id) => self.addresses_of(id)?.pop(),
        };
        Ok(match address {
            Some(address) if self.is_of_file(&address) => Some(address),
            Some(address) if self.version(&address)?.is_some() => Some(address),
            _ => None,
        })
    }

    /// Returns whether the newest vector of a grain and a model equals this one.
    fn has(
        &self,
        snapshot: &Snapshot,
        embedding: &Embedding,
        body: &EntryBody,
    ) -> Result<bool, Error> {
        let mentions = snapshot.pointing_at(Family::Mentions, &embedding.of);
        for row in mentions.rows()?.iter().rev() {
            if let Record::Embedding(found) = self.engine.record_at(row)?
                && found.of == embedding.of
                && found.model == embedding.model
            {
                // One that was made here has no record, and that of an export says no more.
                let is_same = found.source.is_none() && found.vector == embedding.vector;
                return Ok(is_same || body.is(&Record::Embedding(found)));
            }
        }
        Ok(false)
    }

    fn pass_over(&mut self, vector: ForeignVector, why: &str) {
        let message = format!("PAM_EMBEDDING_REF: not kept: {why}");
        self.findings.note(vector.place, message);
        self.summary.loss.count("embedding");
    }
}

/// Describes the missing grain of a vector: a file alone names no owner, so its scope may be the
/// reason.
fn missing(of: &VectorOf) -> String {
    match of {
        VectorOf::Grain(_) => "the memory it is of was not taken in".to_owned(),
        VectorOf::Named(id) => format!("no memory {:?} in the scope {:?}", id.id(), id.scope()),
    }
}

/// Vectors that are stored together.
const BATCH_LEN: usize = 256;

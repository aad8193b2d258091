//! Vectors that come with records, or with nothing but the names of records.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::codec::ContentAddress;
use crate::interchange::{ForeignVector, VectorOf};
use crate::ledger::Kind;
use crate::store::Error;
use crate::store::embedding::{Embedding, Lengths};
use crate::store::entry::EmbeddingEntry;

use super::batch::Importer;

impl Importer<'_> {
    /// Keeps the vectors of a file, after its records. One that cannot be kept is told and counted:
    /// it keeps no record out, and can be made anew (PAM 12).
    pub(super) fn keep(&mut self, vectors: Vec<ForeignVector>) -> Result<(), Error> {
        if vectors.is_empty() {
            return Ok(());
        }
        let mut known = Vec::with_capacity(vectors.len());
        for vector in vectors {
            match self.of(&vector.of)? {
                Some(of) => known.push((of, vector)),
                None => {
                    let why = missing(&vector.of);
                    self.pass_over(vector, &why);
                }
            }
        }
        let here = self.bodies(&known.iter().map(|(of, _)| *of).collect())?;
        let mut lengths = Lengths::new();
        let mut vectors = known.into_iter().peekable();
        while vectors.peek().is_some() {
            let mut writer = self.inner.lead_alone();
            for (of, vector) in vectors.by_ref().take(BATCH_LEN) {
                self.keep_one(of, vector, &here, &mut lengths)?;
            }
            self.flush(&mut writer)?;
        }
        Ok(())
    }

    fn keep_one(
        &mut self,
        of: ContentAddress,
        vector: ForeignVector,
        here: &Bodies,
        lengths: &mut Lengths,
    ) -> Result<(), Error> {
        let snapshot = self.inner.index.snapshot();
        let embedding = Embedding {
            of,
            model: vector.model.clone(),
            vector: vector.numbers.clone(),
        };
        match self.inner.judge_embedding(&snapshot, &embedding, lengths) {
            Ok(()) => {}
            Err(Error::Embedding { reason }) => {
                self.pass_over(vector, reason);
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        let body = EmbeddingEntry::encode(&embedding, Some(&vector.record))?;
        let hash: [u8; 32] = Sha256::digest(&body).into();
        if here.get(&(of, embedding.model)) != Some(&hash) {
            self.frame.record(Kind::Embedding, body);
            self.summary.embedded += 1;
        }
        Ok(())
    }

    /// Returns what a vector is of here.
    fn of(&self, of: &VectorOf) -> Result<Option<ContentAddress>, Error> {
        let address = match of {
            VectorOf::Grain(read) if self.passed_over.contains(read) => return Ok(None),
            VectorOf::Grain(read) => Some(self.renamed.get(read).copied().unwrap_or(*read)),
            VectorOf::Named(id) => self.addresses_of(id)?.pop(),
        };
        Ok(match address {
            Some(address) if self.is_here(&address)? => Some(address),
            _ => None,
        })
    }

    /// Returns the hashes of the vectors that are here of some grains, so that nothing is kept twice.
    fn bodies(&self, wanted: &HashSet<ContentAddress>) -> Result<Bodies, Error> {
        let mut bodies = Bodies::new();
        let mut failed = None;
        let snapshot = self.inner.index.snapshot();
        self.inner.each_embedding(&snapshot, &mut |entry, _| {
            if wanted.contains(&entry.of) {
                let embedding = Embedding {
                    of: entry.of,
                    model: entry.model.clone(),
                    vector: entry.vector,
                };
                match EmbeddingEntry::encode(&embedding, entry.record.as_deref()) {
                    Ok(body) => {
                        let hash = Sha256::digest(&body).into();
                        bodies.insert((entry.of, entry.model), hash);
                    }
                    Err(error) => failed = Some(error),
                }
            }
        })?;
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(bodies),
        }
    }

    fn pass_over(&mut self, vector: ForeignVector, why: &str) {
        let message = format!("PAM_EMBEDDING_REF: not kept: {why}");
        self.findings.push(vector.place, message);
        self.summary.loss.count("embedding");
    }
}

/// The hash of the vector that is here, by grain and model.
type Bodies = HashMap<(ContentAddress, String), [u8; 32]>;

/// Says what a vector is of that is not here: a file alone names no owner, so its scope may be the
/// reason.
fn missing(of: &VectorOf) -> String {
    match of {
        VectorOf::Grain(_) => "the memory it is of was not taken in".to_owned(),
        VectorOf::Named(id) => format!("no memory {:?} in the scope {:?}", id.id, id.scope),
    }
}

/// Vectors that go in together.
const BATCH_LEN: usize = 256;

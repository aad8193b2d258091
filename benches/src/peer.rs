//! The measured operations as one trait, for the store and the engines it is compared with.

use std::collections::HashSet;

use grainstore::codec::Profile;
use grainstore::{ContentAddress, Draft, Grain};
use rayon::prelude::*;

use crate::Result;
use crate::facts::families_of;

/// A store of grains: this one, or the same tables in another engine.
pub trait Peer {
    /// Stores drafts together and returns once they are durable.
    fn put_batch(&mut self, drafts: Vec<Draft>) -> Result<()>;

    /// Stores batches, each durable before the next, and returns once all of them are.
    fn put_batches(&mut self, batches: Vec<Vec<Draft>>) -> Result<()> {
        batches
            .into_iter()
            .try_for_each(|batch| self.put_batch(batch))
    }

    /// Returns once every word stored is in the full-text index.
    fn index_text(&mut self) -> Result<()>;

    /// Lets work in the background end, so that it is counted and what follows is not disturbed.
    fn settle(&mut self) -> Result<()>;

    /// Takes less room, where that is a choice; returns whether it is.
    fn compress(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Returns a blob whose address was computed from its bytes.
    fn get(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>>;

    /// Returns up to `limit` rows of a family, one of `facts::PAIRS`, whose keys begin with these terms.
    fn rows_of(&self, _family: usize, _bound: &[&str], _limit: usize) -> Result<Vec<u64>> {
        Err("no tables of statements".into())
    }

    /// Returns up to `limit` grains with this subject, relation and object.
    fn triples(&self, pattern: &Pattern<'_>, limit: usize) -> Result<Found> {
        let parts = pattern.parts();
        let families = families_of(parts.map(|part| part.is_some()));
        let rows_of = |(family, places): (usize, &[usize]), limit| {
            let mut bound = [""; 2];
            for (text, place) in bound.iter_mut().zip(places) {
                *text = parts[*place].unwrap_or_default();
            }
            self.rows_of(family, &bound[..places.len()], limit)
        };
        let mut families = families.iter().copied();
        let Some(first) = families.next() else {
            return Ok(Found::Rows(Vec::new()));
        };
        let Some(second) = families.next() else {
            return rows_of(first, limit).map(Found::Rows);
        };
        let mut rows = rows_of(first, usize::MAX)?;
        let others: HashSet<u64> = rows_of(second, usize::MAX)?.into_iter().collect();
        rows.retain(|row| others.contains(row));
        rows.truncate(limit);
        Ok(Found::Rows(rows))
    }

    /// Returns the grains created in `from_ms..=to_ms`.
    fn in_time(&self, from_ms: i64, to_ms: i64) -> Result<Found>;

    /// Returns up to `limit` grains whose words fit best, and how many fit at all if it was counted.
    fn search(&self, words: &Words, limit: usize) -> Result<Found>;

    /// Returns how many grains have these words; not measured.
    fn count(&self, words: &Words) -> Result<Count>;

    /// Returns the address of a row; not measured.
    fn address_of(&self, row: u64) -> Result<ContentAddress>;

    /// Returns the addresses of what was found, in their order; not measured.
    fn addresses(&self, found: &Found) -> Result<Vec<ContentAddress>> {
        let mut addresses = match found {
            Found::Rows(rows) => rows
                .iter()
                .map(|row| self.address_of(*row))
                .collect::<Result<Vec<_>>>()?,
            Found::Addresses(addresses) => addresses.clone(),
        };
        addresses.sort_unstable();
        Ok(addresses)
    }
}

/// An answer: the numbers by which an engine knows its grains, or their addresses.
#[derive(Debug, Clone)]
pub enum Found {
    /// Row numbers.
    Rows(Vec<u64>),
    /// Addresses.
    Addresses(Vec<ContentAddress>),
}

impl Found {
    /// Returns how many were found.
    pub const fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Addresses(addresses) => addresses.len(),
        }
    }

    /// Returns whether nothing was found.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How many grains an engine says there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Exactly(u64),
    /// So many or more: the store counts frequent words to a thousand.
    AtLeast(u64),
}

impl Count {
    /// Returns whether both can be true.
    pub const fn agrees_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Exactly(one), Self::Exactly(other)) => one == other,
            (Self::AtLeast(bound), Self::Exactly(count))
            | (Self::Exactly(count), Self::AtLeast(bound)) => bound <= count,
            (Self::AtLeast(_), Self::AtLeast(_)) => true,
        }
    }
}

/// A question about statements; what is absent may be anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pattern<'a> {
    /// The subject.
    pub subject: Option<&'a str>,
    /// The relation.
    pub relation: Option<&'a str>,
    /// The object.
    pub object: Option<&'a str>,
}

impl<'a> Pattern<'a> {
    /// Returns subject, relation and object.
    pub const fn parts(&self) -> [Option<&'a str>; 3] {
        [self.subject, self.relation, self.object]
    }
}

/// A question about words.
#[derive(Debug, Clone)]
pub enum Words {
    /// One word.
    Term(String),
    /// Both words, anywhere.
    And(String, String),
    /// Either word.
    Or(String, String),
    /// Both words, one after the other.
    Phrase(String, String),
}

/// Writes the blobs of a batch and computes their addresses, on as many cores as the store may use:
/// what the store does itself is not to be an advantage over its peers.
pub fn finish(drafts: Vec<Draft>) -> Result<Vec<Grain>> {
    let grains = drafts
        .into_par_iter()
        .with_min_len(64)
        .map(|draft| draft.finish(Profile::Extended));
    Ok(grains.collect::<std::result::Result<_, _>>()?)
}

/// Returns the bytes if they have the address, which is computed anew.
pub fn verified(blob: Vec<u8>, address: &ContentAddress) -> Result<Vec<u8>> {
    if ContentAddress::of(&blob) == *address {
        Ok(blob)
    } else {
        Err("a blob does not have its address".into())
    }
}

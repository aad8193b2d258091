//! fjall: one keyspace for each family, interned terms in five bytes, one durable batch a commit.

use std::path::Path;

use ::fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use grainstore::{ContentAddress, Draft};

use crate::Result;
use crate::facts::{
    CREATED_AT, Keys, PAIRS, SINGLES, Terms, pair_key, prefix_of, row_at_end, row40, single_key,
};
use crate::peer::{Count, Found, Peer, Words, finish, verified};

/// The tables in fjall.
pub struct Fjall {
    db: Database,
    grains: Keyspace,
    addresses: Keyspace,
    dictionary: Keyspace,
    pairs: Vec<Keyspace>,
    singles: Vec<Keyspace>,
    rows: u64,
    terms: Terms,
}

impl Fjall {
    /// Creates the keyspaces in a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let db = Database::builder(folder).cache_size(1 << 30).open()?;
        let keyspace = |name: &str| db.keyspace(name, KeyspaceCreateOptions::default);
        let pairs = PAIRS.iter().map(|(name, _)| keyspace(name));
        let singles = SINGLES.iter().map(|name| keyspace(name));
        Ok(Self {
            grains: keyspace("grain")?,
            addresses: keyspace("address")?,
            dictionary: keyspace("term")?,
            pairs: pairs.collect::<::fjall::Result<_>>()?,
            singles: singles.collect::<::fjall::Result<_>>()?,
            db,
            rows: 0,
            terms: Terms::default(),
        })
    }

    fn keyspaces(&self) -> impl Iterator<Item = &Keyspace> {
        let single = [&self.grains, &self.addresses, &self.dictionary];
        single.into_iter().chain(&self.pairs).chain(&self.singles)
    }
}

impl Peer for Fjall {
    fn put_batch(&mut self, drafts: Vec<Draft>) -> Result<()> {
        let grains = finish(drafts)?;
        let keys = Keys::of(self.rows, &grains, &mut self.terms);
        let mut batch = self.db.batch().durability(Some(PersistMode::SyncData));
        for (row, grain) in (self.rows..).zip(&grains) {
            batch.insert(&self.grains, row40(row), grain.blob());
        }
        for (prefix, row) in &keys.addresses {
            let prefix = prefix.to_be_bytes();
            // A grain that is there already must not get a second row.
            if self.addresses.contains_key(prefix)? {
                return Err("a grain is there already".into());
            }
            batch.insert(&self.addresses, prefix, row40(*row));
        }
        for (text, id) in self.terms.take_new() {
            batch.insert(&self.dictionary, text, row40(id));
        }
        for (keyspace, keys) in self.pairs.iter().zip(&keys.pairs) {
            for key in keys {
                batch.insert(keyspace, pair_key(key), []);
            }
        }
        for (keyspace, keys) in self.singles.iter().zip(&keys.singles) {
            for (a, row) in keys {
                batch.insert(keyspace, single_key(*a, *row), []);
            }
        }
        batch.commit()?;
        self.rows += grains.len() as u64;
        Ok(())
    }

    fn index_text(&mut self) -> Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        for keyspace in self.keyspaces() {
            keyspace.rotate_memtable_and_wait()?;
        }
        Ok(())
    }

    fn get(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>> {
        let Some(row) = self.addresses.get(prefix_of(address).to_be_bytes())? else {
            return Ok(None);
        };
        let blob = self.grains.get(row)?.map(|blob| blob.to_vec());
        blob.map(|blob| verified(blob, address)).transpose()
    }

    fn rows_of(&self, family: usize, bound: &[&str], limit: usize) -> Result<Vec<u64>> {
        let mut prefix = Vec::with_capacity(16);
        for text in bound {
            let Some(id) = self.dictionary.get(text)? else {
                return Ok(Vec::new());
            };
            prefix.extend_from_slice(&id);
        }
        let keys = self.pairs[family].prefix(prefix).take(limit);
        let rows = keys.map(|guard| Ok(row_at_end(&guard.key()?)));
        rows.collect()
    }

    fn in_time(&self, from_ms: i64, to_ms: i64) -> Result<Found> {
        let from = from_ms.cast_unsigned().to_be_bytes();
        let to = (to_ms + 1).cast_unsigned().to_be_bytes();
        let keys = self.singles[CREATED_AT].range(from..to);
        let rows = keys.map(|guard| Ok(row_at_end(&guard.key()?)));
        Ok(Found::Rows(rows.collect::<Result<_>>()?))
    }

    fn search(&self, _: &Words, _: usize) -> Result<Found> {
        Err("fjall has no full-text search".into())
    }

    fn count(&self, _: &Words) -> Result<Count> {
        Err("fjall has no full-text search".into())
    }

    fn address_of(&self, row: u64) -> Result<ContentAddress> {
        let blob = self.grains.get(row40(row))?.ok_or("there is no such row")?;
        Ok(ContentAddress::of(&blob))
    }
}

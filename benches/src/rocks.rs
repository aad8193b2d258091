//! RocksDB: one column family for each family, interned terms in five bytes, one synced batch.

use std::path::Path;

use ::rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, Direction, IteratorMode,
    Options, ReadOptions, WriteBatch, WriteOptions,
};
use grainstore::{ContentAddress, Draft};

use crate::Result;
use crate::facts::{
    CREATED_AT, Keys, PAIRS, SINGLES, Terms, pair_key, prefix_of, row_at_end, row40, single_key,
};
use crate::peer::{Count, Found, Peer, Words, finish, verified};

/// The tables in RocksDB.
#[derive(Debug)]
pub struct Rocks {
    db: DB,
    rows: u64,
    terms: Terms,
}

impl Rocks {
    /// Creates the column families in a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        options.increase_parallelism(2);
        let cache = Cache::new_lru_cache(1 << 30);
        let names = VALUES
            .into_iter()
            .chain(PAIRS.map(|(name, _)| name))
            .chain(SINGLES);
        let families = names.map(|name| {
            let mut blocks = BlockBasedOptions::default();
            blocks.set_block_cache(&cache);
            // Point lookups go to these two; the others are only walked.
            if VALUES.contains(&name) {
                blocks.set_bloom_filter(10.0, false);
            }
            let mut options = Options::default();
            options.set_block_based_table_factory(&blocks);
            ColumnFamilyDescriptor::new(name, options)
        });
        Ok(Self {
            db: DB::open_cf_descriptors(&options, folder, families)?,
            rows: 0,
            terms: Terms::default(),
        })
    }

    fn family(&self, name: &str) -> Result<&ColumnFamily> {
        Ok(self
            .db
            .cf_handle(name)
            .ok_or("a column family is missing")?)
    }

    /// Returns the rows of the keys in `low..high`, at most `limit`.
    fn rows_in(&self, name: &str, low: &[u8], high: Vec<u8>, limit: usize) -> Result<Vec<u64>> {
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(high);
        let from = IteratorMode::From(low, Direction::Forward);
        let keys = self.db.iterator_cf_opt(self.family(name)?, options, from);
        let rows = keys.take(limit).map(|entry| Ok(row_at_end(&entry?.0)));
        rows.collect()
    }
}

impl Peer for Rocks {
    fn put_batch(&mut self, drafts: Vec<Draft>) -> Result<()> {
        let grains = finish(drafts)?;
        let keys = Keys::of(self.rows, &grains, &mut self.terms);
        let new_terms = self.terms.take_new();
        let mut batch = WriteBatch::default();
        let [blobs, addresses, dictionary] = VALUES;
        let family = self.family(blobs)?;
        for (row, grain) in (self.rows..).zip(&grains) {
            batch.put_cf(family, row40(row), grain.blob());
        }
        let family = self.family(addresses)?;
        for (prefix, row) in &keys.addresses {
            let prefix = prefix.to_be_bytes();
            // A grain that is there already must not get a second row.
            if self.db.get_pinned_cf(family, prefix)?.is_some() {
                return Err("a grain is there already".into());
            }
            batch.put_cf(family, prefix, row40(*row));
        }
        let family = self.family(dictionary)?;
        for (text, id) in new_terms {
            batch.put_cf(family, text, row40(id));
        }
        for ((name, _), keys) in PAIRS.iter().zip(&keys.pairs) {
            let family = self.family(name)?;
            for key in keys {
                batch.put_cf(family, pair_key(key), []);
            }
        }
        for (name, keys) in SINGLES.iter().zip(&keys.singles) {
            let family = self.family(name)?;
            for (a, row) in keys {
                batch.put_cf(family, single_key(*a, *row), []);
            }
        }
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        self.db.write_opt(batch, &synced)?;
        self.rows += grains.len() as u64;
        Ok(())
    }

    fn index_text(&mut self) -> Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let names = VALUES
            .into_iter()
            .chain(PAIRS.map(|(name, _)| name))
            .chain(SINGLES);
        for name in names {
            self.db.flush_cf(self.family(name)?)?;
        }
        Ok(())
    }

    fn get(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>> {
        let [blobs, addresses, _] = VALUES;
        let prefix = prefix_of(address).to_be_bytes();
        let Some(row) = self.db.get_pinned_cf(self.family(addresses)?, prefix)? else {
            return Ok(None);
        };
        let blob = self.db.get_cf(self.family(blobs)?, row)?;
        blob.map(|blob| verified(blob, address)).transpose()
    }

    fn rows_of(&self, family: usize, bound: &[&str], limit: usize) -> Result<Vec<u64>> {
        let [_, _, dictionary] = VALUES;
        let dictionary = self.family(dictionary)?;
        let mut prefix = Vec::with_capacity(16);
        for text in bound {
            let Some(id) = self.db.get_pinned_cf(dictionary, text)? else {
                return Ok(Vec::new());
            };
            prefix.extend_from_slice(&id);
        }
        let (name, _) = PAIRS[family];
        let mut high = prefix.clone();
        // Term numbers are small: no key begins with this much.
        high.resize(16, 0xff);
        self.rows_in(name, &prefix, high, limit)
    }

    fn in_time(&self, from_ms: i64, to_ms: i64) -> Result<Found> {
        let low = single_key(from_ms.cast_unsigned(), 0);
        let high = single_key((to_ms + 1).cast_unsigned(), 0);
        let rows = self.rows_in(SINGLES[CREATED_AT], &low, high.to_vec(), usize::MAX)?;
        Ok(Found::Rows(rows))
    }

    fn search(&self, _: &Words, _: usize) -> Result<Found> {
        Err("RocksDB has no full-text search".into())
    }

    fn count(&self, _: &Words) -> Result<Count> {
        Err("RocksDB has no full-text search".into())
    }

    fn address_of(&self, row: u64) -> Result<ContentAddress> {
        let [blobs, ..] = VALUES;
        let blob = self.db.get_pinned_cf(self.family(blobs)?, row40(row))?;
        Ok(ContentAddress::of(&blob.ok_or("there is no such row")?))
    }
}

/// The families with values: blobs by row, rows by address, numbers by term.
const VALUES: [&str; 3] = ["grain", "address", "term"];

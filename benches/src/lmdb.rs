//! LMDB: one database for each family, interned terms in five bytes, sorted inserts, one durable
//! transaction a batch.

use std::ops::Bound;
use std::path::Path;

use ::heed::types::{Bytes, Unit};
use ::heed::{Database, Env, EnvOpenOptions, RoTxn, RwTxn, WithoutTls};
use grainstore::{ContentAddress, Draft, Grain};

use crate::Result;
use crate::facts::{
    CREATED_AT, Keys, PAIRS, SINGLES, Terms, pair_key, prefix_of, row_at_end, row40, single_key,
};
use crate::peer::{Count, Found, Peer, Words, finish, verified};

type Values = Database<Bytes, Bytes>;
type Set = Database<Bytes, Unit>;

/// The tables in LMDB. The transaction for reading is kept open since the last settling; no
/// transaction begins for each question.
pub struct Lmdb {
    reader: Option<RoTxn<'static, WithoutTls>>,
    env: Env<WithoutTls>,
    grains: Values,
    addresses: Values,
    dictionary: Values,
    pairs: Vec<Set>,
    singles: Vec<Set>,
    rows: u64,
    terms: Terms,
}

impl Lmdb {
    /// Creates the databases in a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(MAP_BYTES).max_dbs(32);
        #[expect(
            unsafe_code,
            reason = "heed asks that nobody else changes the mapped file; the folder is this process's own"
        )]
        // SAFETY: the folder was made for this engine alone, and no other process knows it.
        let env = unsafe { options.open(folder) }?;
        let mut write = env.write_txn()?;
        let set = |write: &mut RwTxn<'_>, name| env.create_database(write, Some(name));
        let pairs = PAIRS.map(|(name, _)| set(&mut write, name));
        let singles = SINGLES.map(|name| set(&mut write, name));
        let values = |write: &mut RwTxn<'_>, name| env.create_database(write, Some(name));
        let [grains, addresses, dictionary] =
            ["grain", "address", "term"].map(|name| values(&mut write, name));
        write.commit()?;
        Ok(Self {
            reader: None,
            grains: grains?,
            addresses: addresses?,
            dictionary: dictionary?,
            pairs: pairs.into_iter().collect::<::heed::Result<_>>()?,
            singles: singles.into_iter().collect::<::heed::Result<_>>()?,
            rows: 0,
            terms: Terms::default(),
            env,
        })
    }

    fn reader(&self) -> Result<&RoTxn<'static, WithoutTls>> {
        Ok(self.reader.as_ref().ok_or("not settled yet")?)
    }

    fn write(&self, grains: &[Grain], keys: &Keys, terms: &[(String, u64)]) -> Result<()> {
        let mut write = self.env.write_txn()?;
        for (row, grain) in (self.rows..).zip(grains) {
            self.grains.put(&mut write, &row40(row), grain.blob())?;
        }
        for (prefix, row) in &keys.addresses {
            let (prefix, row) = (prefix.to_be_bytes(), row40(*row));
            let earlier = self.addresses.get_or_put(&mut write, &prefix, &row)?;
            if earlier.is_some() {
                return Err("a grain is there already".into());
            }
        }
        for (text, id) in terms {
            self.dictionary
                .put(&mut write, text.as_bytes(), &row40(*id))?;
        }
        for (set, keys) in self.pairs.iter().zip(&keys.pairs) {
            for key in keys {
                set.put(&mut write, &pair_key(key), &())?;
            }
        }
        for (set, keys) in self.singles.iter().zip(&keys.singles) {
            for (a, row) in keys {
                set.put(&mut write, &single_key(*a, *row), &())?;
            }
        }
        // A commit waits for the disk, unless an environment says otherwise.
        write.commit()?;
        Ok(())
    }
}

impl Peer for Lmdb {
    fn put_batch(&mut self, drafts: Vec<Draft>) -> Result<()> {
        let grains = finish(drafts)?;
        let keys = Keys::of(self.rows, &grains, &mut self.terms);
        let new_terms = self.terms.take_new();
        self.write(&grains, &keys, &new_terms)?;
        self.rows += grains.len() as u64;
        Ok(())
    }

    fn index_text(&mut self) -> Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        self.reader = Some(self.env.clone().static_read_txn()?);
        Ok(())
    }

    fn get(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>> {
        let reader = self.reader()?;
        let prefix = prefix_of(address).to_be_bytes();
        let Some(row) = self.addresses.get(reader, &prefix)? else {
            return Ok(None);
        };
        let blob = self.grains.get(reader, row)?.map(<[u8]>::to_vec);
        blob.map(|blob| verified(blob, address)).transpose()
    }

    fn rows_of(&self, family: usize, bound: &[&str], limit: usize) -> Result<Vec<u64>> {
        let reader = self.reader()?;
        let mut prefix = Vec::with_capacity(16);
        for text in bound {
            let Some(id) = self.dictionary.get(reader, text.as_bytes())? else {
                return Ok(Vec::new());
            };
            prefix.extend_from_slice(id);
        }
        let keys = self.pairs[family].prefix_iter(reader, &prefix)?.take(limit);
        let rows = keys.map(|entry| Ok(row_at_end(entry?.0)));
        rows.collect()
    }

    fn in_time(&self, from_ms: i64, to_ms: i64) -> Result<Found> {
        let low = single_key(from_ms.cast_unsigned(), 0);
        let high = single_key((to_ms + 1).cast_unsigned(), 0);
        let range = (Bound::Included(&low[..]), Bound::Excluded(&high[..]));
        let keys = self.singles[CREATED_AT].range(self.reader()?, &range)?;
        let rows = keys.map(|entry| Ok(row_at_end(entry?.0)));
        Ok(Found::Rows(rows.collect::<Result<_>>()?))
    }

    fn search(&self, _: &Words, _: usize) -> Result<Found> {
        Err("LMDB has no full-text search".into())
    }

    fn count(&self, _: &Words) -> Result<Count> {
        Err("LMDB has no full-text search".into())
    }

    fn address_of(&self, row: u64) -> Result<ContentAddress> {
        let blob = self.grains.get(self.reader()?, &row40(row))?;
        Ok(ContentAddress::of(blob.ok_or("there is no such row")?))
    }
}

/// Address space, not disk: the file grows as it is written.
const MAP_BYTES: usize = 64 << 30;

//! redb tables alone: interned terms in five bytes, fixed-length keys, sorted inserts, one durable
//! commit a batch.

use std::path::Path;

use ::redb::{Database, Durability, ReadOnlyTable, ReadableDatabase, TableDefinition};
use grainstore::{ContentAddress, Draft, Grain};

use crate::Result;
use crate::facts::{
    CREATED_AT, Keys, PAIRS, SINGLES, Terms, pair_key, prefix_of, row_at_end, row40, single_key,
};
use crate::peer::{Count, Found, Peer, Words, finish, verified};

type Pair = &'static [u8; 15];
type Single = &'static [u8; 13];

const GRAINS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("grain");
const ADDRESSES: TableDefinition<'_, &[u8; 8], u64> = TableDefinition::new("address");
const TERMS: TableDefinition<'_, &str, u64> = TableDefinition::new("term");

fn pair_table(family: usize) -> TableDefinition<'static, Pair, ()> {
    TableDefinition::new(PAIRS[family].0)
}

fn single_table(family: usize) -> TableDefinition<'static, Single, ()> {
    TableDefinition::new(SINGLES[family])
}

/// The tables in redb.
pub struct Redb {
    db: Database,
    rows: u64,
    terms: Terms,
    /// Open for reading since the last settling; no transaction begins for each question.
    reader: Option<Reader>,
}

struct Reader {
    grains: ReadOnlyTable<u64, &'static [u8]>,
    addresses: ReadOnlyTable<&'static [u8; 8], u64>,
    terms: ReadOnlyTable<&'static str, u64>,
    pairs: Vec<ReadOnlyTable<Pair, ()>>,
    created_at: ReadOnlyTable<Single, ()>,
}

impl Redb {
    /// Creates the tables in a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        Ok(Self {
            db: Database::create(folder.join("peer.redb"))?,
            rows: 0,
            terms: Terms::default(),
            reader: None,
        })
    }

    fn reader(&self) -> Result<&Reader> {
        Ok(self.reader.as_ref().ok_or("not settled yet")?)
    }
}

impl Peer for Redb {
    fn put_batch(&mut self, drafts: Vec<Draft>) -> Result<()> {
        let grains = finish(drafts)?;
        let keys = Keys::of(self.rows, &grains, &mut self.terms);
        let new_terms = self.terms.take_new();
        write(&self.db, self.rows, &grains, &keys, &new_terms)?;
        self.rows += grains.len() as u64;
        Ok(())
    }

    fn index_text(&mut self) -> Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let read = self.db.begin_read()?;
        let pairs = (0..PAIRS.len()).map(|family| read.open_table(pair_table(family)));
        self.reader = Some(Reader {
            grains: read.open_table(GRAINS)?,
            addresses: read.open_table(ADDRESSES)?,
            terms: read.open_table(TERMS)?,
            pairs: pairs.collect::<std::result::Result<_, _>>()?,
            created_at: read.open_table(single_table(CREATED_AT))?,
        });
        Ok(())
    }

    fn get(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>> {
        let reader = self.reader()?;
        let Some(row) = reader.addresses.get(&prefix_of(address).to_be_bytes())? else {
            return Ok(None);
        };
        let blob = reader.grains.get(row.value())?;
        let blob = blob.map(|blob| blob.value().to_vec());
        blob.map(|blob| verified(blob, address)).transpose()
    }

    fn rows_of(&self, family: usize, bound: &[&str], limit: usize) -> Result<Vec<u64>> {
        let reader = self.reader()?;
        let (mut low, mut high) = ([0; 15], [0xff; 15]);
        for (place, text) in bound.iter().enumerate() {
            let Some(id) = reader.terms.get(*text)? else {
                return Ok(Vec::new());
            };
            low[place * 5..place * 5 + 5].copy_from_slice(&row40(id.value()));
            high[place * 5..place * 5 + 5].copy_from_slice(&row40(id.value()));
        }
        let keys = reader.pairs[family]
            .range::<&[u8; 15]>(&low..=&high)?
            .take(limit);
        let rows = keys.map(|entry| Ok(row_at_end(entry?.0.value())));
        rows.collect()
    }

    fn in_time(&self, from_ms: i64, to_ms: i64) -> Result<Found> {
        let (mut low, mut high) = ([0; 13], [0xff; 13]);
        low[..8].copy_from_slice(&from_ms.cast_unsigned().to_be_bytes());
        high[..8].copy_from_slice(&to_ms.cast_unsigned().to_be_bytes());
        let keys = self.reader()?.created_at.range::<&[u8; 13]>(&low..=&high)?;
        let rows = keys.map(|entry| Ok(row_at_end(entry?.0.value())));
        Ok(Found::Rows(rows.collect::<Result<_>>()?))
    }

    fn search(&self, _: &Words, _: usize) -> Result<Found> {
        Err("redb has no full-text search".into())
    }

    fn count(&self, _: &Words) -> Result<Count> {
        Err("redb has no full-text search".into())
    }

    fn address_of(&self, row: u64) -> Result<ContentAddress> {
        let blob = self
            .reader()?
            .grains
            .get(row)?
            .ok_or("there is no such row")?;
        Ok(ContentAddress::of(blob.value()))
    }
}

fn write(
    db: &Database,
    first: u64,
    grains: &[Grain],
    keys: &Keys,
    terms: &[(String, u64)],
) -> Result<()> {
    let mut transaction = db.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    {
        let mut table = transaction.open_table(GRAINS)?;
        for (row, grain) in (first..).zip(grains) {
            table.insert(row, grain.blob())?;
        }
        let mut table = transaction.open_table(ADDRESSES)?;
        for (prefix, row) in &keys.addresses {
            if table.insert(&prefix.to_be_bytes(), row)?.is_some() {
                return Err("a grain is there already".into());
            }
        }
        let mut table = transaction.open_table(TERMS)?;
        for (text, id) in terms {
            table.insert(text.as_str(), id)?;
        }
        for (family, keys) in keys.pairs.iter().enumerate() {
            let mut table = transaction.open_table(pair_table(family))?;
            for key in keys {
                table.insert(&pair_key(key), ())?;
            }
        }
        for (family, keys) in keys.singles.iter().enumerate() {
            let mut table = transaction.open_table(single_table(family))?;
            for (a, row) in keys {
                table.insert(&single_key(*a, *row), ())?;
            }
        }
    }
    transaction.commit()?;
    Ok(())
}

//! SQLite: one narrow table without row numbers for each family, terms interned, WAL and FULL.

use std::path::Path;

use grainstore::{ContentAddress, Draft, Grain};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use crate::Result;
use crate::facts::{CREATED_AT, Keys, PAIRS, SINGLES, Terms, prefix_of};
use crate::peer::{Count, Found, Peer, Words, finish, verified};

/// The tables in SQLite.
#[derive(Debug)]
pub struct Sqlite {
    db: Connection,
    text: bool,
    rows: u64,
    terms: Terms,
}

impl Sqlite {
    /// Creates the tables in a folder.
    pub fn open(folder: &Path, text: bool) -> Result<Self> {
        let db = Connection::open(folder.join("peer.sqlite"))?;
        db.pragma_update(None, "page_size", 4_096)?;
        // One process holds the store, here as there: no locks in shared memory for each question.
        db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        // Generous: as much cache as redb takes by default, reads without copies, and a log that
        // is not copied back at every batch.
        db.pragma_update(None, "cache_size", -1_048_576)?;
        db.pragma_update(None, "mmap_size", 4_i64 << 30)?;
        db.pragma_update(None, "wal_autocheckpoint", 16_384)?;
        db.pragma_update(None, "temp_store", "MEMORY")?;
        db.set_prepared_statement_cache_capacity(64);
        db.execute_batch(&schema(text))?;
        Ok(Self {
            db,
            text,
            rows: 0,
            terms: Terms::default(),
        })
    }

    /// Says whether commits wait for the disk: loading what is only read afterwards need not.
    pub fn set_durable(&self, durable: bool) -> Result<()> {
        let mode = if durable { "FULL" } else { "OFF" };
        Ok(self.db.pragma_update(None, "synchronous", mode)?)
    }

    /// Does once, before reading, what SQLite offers to make reading faster.
    pub fn optimise(&self) -> Result<()> {
        if self.text {
            let merge = "INSERT INTO words(words) VALUES ('optimize')";
            self.db.execute(merge, [])?;
        }
        Ok(self.db.execute_batch("ANALYZE")?)
    }
}

fn schema(text: bool) -> String {
    let mut sql = String::from(
        "CREATE TABLE grain(row INTEGER PRIMARY KEY, blob BLOB NOT NULL);
         CREATE TABLE address(prefix INTEGER PRIMARY KEY, row INTEGER NOT NULL);
         CREATE TABLE term(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);",
    );
    for (name, _) in PAIRS {
        sql += &format!(
            "CREATE TABLE {name}(a INTEGER, b INTEGER, row INTEGER,
             PRIMARY KEY(a, b, row)) WITHOUT ROWID;"
        );
    }
    for name in SINGLES {
        sql += &format!(
            "CREATE TABLE {name}(a INTEGER, row INTEGER, PRIMARY KEY(a, row)) WITHOUT ROWID;"
        );
    }
    if text {
        // Nothing stored but the index, and English stems, as in the store.
        sql += "CREATE VIRTUAL TABLE words USING
                fts5(body, content='', tokenize='porter unicode61');";
    }
    sql
}

impl Peer for Sqlite {
    fn put_batch(&mut self, drafts: Vec<Draft>) -> Result<()> {
        let grains = finish(drafts)?;
        let first = self.rows;
        let keys = Keys::of(first, &grains, &mut self.terms);
        let new_terms = self.terms.take_new();
        let transaction = self.db.transaction()?;
        write(&transaction, first, &grains, &keys, &new_terms)?;
        if self.text {
            write_text(&transaction, first, &grains)?;
        }
        transaction.commit()?;
        self.rows += grains.len() as u64;
        Ok(())
    }

    fn index_text(&mut self) -> Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        self.db.query_row(checkpoint, [], |_| Ok(()))?;
        Ok(())
    }

    fn get(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>> {
        let mut statement = self.db.prepare_cached(
            "SELECT blob FROM address JOIN grain ON grain.row = address.row WHERE prefix = ?1",
        )?;
        let prefix = prefix_of(address).cast_signed();
        let blob: Option<Vec<u8>> = statement.query_row([prefix], |row| row.get(0)).optional()?;
        blob.map(|blob| verified(blob, address)).transpose()
    }

    fn rows_of(&self, family: usize, bound: &[&str], limit: usize) -> Result<Vec<u64>> {
        let sql = QUESTIONS[family][bound.len() - 1];
        let texts = bound.iter().map(|text| Value::Text((*text).to_owned()));
        let mut values: Vec<Value> = texts.collect();
        values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map(params_from_iter(values), |row| row.get::<_, u64>(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn in_time(&self, from_ms: i64, to_ms: i64) -> Result<Found> {
        debug_assert_eq!(SINGLES[CREATED_AT], "created_at");
        let sql = "SELECT row FROM created_at WHERE a BETWEEN ?1 AND ?2";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([from_ms, to_ms], |row| row.get::<_, u64>(0))?;
        Ok(Found::Rows(rows.collect::<rusqlite::Result<_>>()?))
    }

    fn search(&self, words: &Words, limit: usize) -> Result<Found> {
        let sql = "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT ?2";
        let mut statement = self.db.prepare_cached(sql)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows =
            statement.query_map(params![query_of(words), limit], |row| row.get::<_, u64>(0))?;
        Ok(Found::Rows(rows.collect::<rusqlite::Result<_>>()?))
    }

    fn count(&self, words: &Words) -> Result<Count> {
        let sql = "SELECT count(*) FROM words WHERE words MATCH ?1";
        let count = |row: &rusqlite::Row<'_>| row.get(0);
        let count = self.db.query_row(sql, [query_of(words)], count)?;
        Ok(Count::Exactly(count))
    }

    fn address_of(&self, row: u64) -> Result<ContentAddress> {
        let sql = "SELECT blob FROM grain WHERE row = ?1";
        let blob: Vec<u8> = self.db.query_row(sql, [row], |row| row.get(0))?;
        Ok(ContentAddress::of(&blob))
    }
}

/// The questions about a statement, by family and number of bound terms.
const QUESTIONS: [[&str; 2]; 3] = [
    [
        "SELECT row FROM sp WHERE a = (SELECT id FROM term WHERE text = ?1) LIMIT ?2",
        "SELECT row FROM sp WHERE a = (SELECT id FROM term WHERE text = ?1)
         AND b = (SELECT id FROM term WHERE text = ?2) LIMIT ?3",
    ],
    [
        "SELECT row FROM po WHERE a = (SELECT id FROM term WHERE text = ?1) LIMIT ?2",
        "SELECT row FROM po WHERE a = (SELECT id FROM term WHERE text = ?1)
         AND b = (SELECT id FROM term WHERE text = ?2) LIMIT ?3",
    ],
    [
        "SELECT row FROM os WHERE a = (SELECT id FROM term WHERE text = ?1) LIMIT ?2",
        "SELECT row FROM os WHERE a = (SELECT id FROM term WHERE text = ?1)
         AND b = (SELECT id FROM term WHERE text = ?2) LIMIT ?3",
    ],
];

fn write(
    db: &Connection,
    first: u64,
    grains: &[Grain],
    keys: &Keys,
    terms: &[(String, u64)],
) -> Result<()> {
    let mut insert = db.prepare_cached("INSERT INTO grain(row, blob) VALUES (?1, ?2)")?;
    for (row, grain) in (first..).zip(grains) {
        insert.execute(params![row, grain.blob()])?;
    }
    // The key is unique, so a grain that is there already fails here.
    let mut insert = db.prepare_cached("INSERT INTO address(prefix, row) VALUES (?1, ?2)")?;
    for (prefix, row) in &keys.addresses {
        insert.execute(params![prefix.cast_signed(), row])?;
    }
    let mut insert = db.prepare_cached("INSERT INTO term(id, text) VALUES (?1, ?2)")?;
    for (text, id) in terms {
        insert.execute(params![id, text])?;
    }
    for ((name, _), keys) in PAIRS.iter().zip(&keys.pairs) {
        let sql = format!("INSERT INTO {name}(a, b, row) VALUES (?1, ?2, ?3)");
        let mut insert = db.prepare_cached(&sql)?;
        for [a, b, row] in keys {
            insert.execute(params![a, b, row])?;
        }
    }
    for (name, keys) in SINGLES.iter().zip(&keys.singles) {
        let sql = format!("INSERT INTO {name}(a, row) VALUES (?1, ?2)");
        let mut insert = db.prepare_cached(&sql)?;
        for (a, row) in keys {
            insert.execute(params![a.cast_signed(), row])?;
        }
    }
    Ok(())
}

fn write_text(db: &Connection, first: u64, grains: &[Grain]) -> Result<()> {
    let mut insert = db.prepare_cached("INSERT INTO words(rowid, body) VALUES (?1, ?2)")?;
    for (row, grain) in (first..).zip(grains) {
        let wording: Vec<String> = grain
            .searchable_text()
            .into_iter()
            .map(|(_, words)| words)
            .collect();
        insert.execute(params![row, wording.join("\n")])?;
    }
    Ok(())
}

fn query_of(words: &Words) -> String {
    match words {
        Words::Term(word) => word.clone(),
        Words::And(one, other) => format!("{one} AND {other}"),
        Words::Or(one, other) => format!("{one} OR {other}"),
        Words::Phrase(first, second) => format!("\"{first} {second}\""),
    }
}

//! The setup of a run: the measurements, their sizes, and the folder.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Result;
use crate::fjall::Fjall;
use crate::lmdb::Lmdb;
use crate::ours::Ours;
use crate::peer::Peer;
use crate::redb::Redb;
#[cfg(feature = "rocksdb")]
use crate::rocks::Rocks;
use crate::sqlite::Sqlite;
use crate::tantivy_alone::Tantivy;

/// The arguments of the command.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How often everything is measured.
    pub rounds: usize,
    /// The group to run; all of them if absent.
    pub only: Option<String>,
    /// Where folders are made and deleted.
    pub folder: PathBuf,
    /// Whether docs/benchmarks.md gets the tables.
    pub writes: bool,
    /// How many grains.
    pub sizes: Sizes,
}

/// How many grains each group takes.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Ingest in batches of 1000, and what large stores are compared with.
    pub ingest: u64,
    /// Ingest in batches of 100.
    pub small_batches: u64,
    /// Single puts in a turn by one thread; each of 64 does a fifth of that.
    pub single: u64,
    /// Reads.
    pub read: u64,
    /// The number that stands for a million.
    pub large: u64,
    /// The number of grains not flushed when the process is killed.
    pub unflushed: u64,
    /// Sealed persons of a store.
    pub users: u64,
    /// The grains of a sealed person with many.
    pub unlocked: u64,
    /// The number that stands for ten million.
    pub ten_million: u64,
    /// Questions of each kind in a round.
    pub questions: u64,
}

impl Sizes {
    /// Returns the sizes of the table, with `grains` for a hundred thousand.
    pub const fn full(grains: u64) -> Self {
        Self {
            ingest: grains,
            small_batches: grains / 5,
            single: 100,
            read: grains * 2,
            large: grains * 10,
            unflushed: 64_000,
            users: 100_000,
            unlocked: 10_000,
            ten_million: grains * 100,
            questions: 2_000,
        }
    }

    /// Returns sizes that show that everything works, and little more.
    pub const fn quick(grains: u64) -> Self {
        Self {
            ingest: grains,
            small_batches: grains / 5,
            single: 20,
            read: grains * 2,
            large: grains * 5,
            unflushed: 10_000,
            users: 2_000,
            unlocked: 2_000,
            ten_million: grains * 5,
            questions: 200,
        }
    }
}

impl Sizes {
    /// Returns how many grains a group takes, in words.
    pub fn of(&self, group: &str) -> String {
        let grains = match group {
            "ingest100" => self.small_batches,
            "single" => self.single,
            "read" | "answers" => self.read,
            "million" | "latency" => self.large,
            "reopen" => self.unflushed,
            "ten-million" => self.ten_million,
            "scale" => return format!("{} and {} grains", self.ingest, self.large),
            _ => self.ingest,
        };
        format!("{grains} grains")
    }
}

impl Settings {
    /// Makes a folder that is deleted when it is dropped.
    pub fn temporary(&self) -> Result<TempDir> {
        Ok(tempfile::Builder::new()
            .prefix("grainstore-bench-")
            .tempdir_in(&self.folder)?)
    }
}

/// The measured engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// This store.
    Ours,
    /// SQLite.
    Sqlite,
    /// fjall.
    Fjall,
    /// redb.
    Redb,
    /// LMDB.
    Lmdb,
    /// RocksDB.
    #[cfg(feature = "rocksdb")]
    Rocks,
    /// tantivy without a store.
    Tantivy,
}

impl Engine {
    /// Those that keep grains; the store first, as the tables want it.
    pub const KEEPING: &'static [Self] = &[
        Self::Ours,
        Self::Sqlite,
        Self::Fjall,
        Self::Redb,
        Self::Lmdb,
        #[cfg(feature = "rocksdb")]
        Self::Rocks,
    ];

    /// Those that search text.
    pub const SEARCHING: &'static [Self] = &[Self::Ours, Self::Sqlite, Self::Tantivy];

    /// Returns the name in the tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ours => "store",
            Self::Sqlite => "SQLite",
            Self::Fjall => "fjall",
            Self::Redb => "redb",
            Self::Lmdb => "LMDB",
            #[cfg(feature = "rocksdb")]
            Self::Rocks => "RocksDB",
            Self::Tantivy => "tantivy alone",
        }
    }

    /// Opens an engine in an empty folder, with full-text search where it has that.
    pub fn open(self, folder: &Path, text: bool) -> Result<Box<dyn Peer>> {
        Ok(match self {
            Self::Ours => Box::new(Ours::open(folder, text)?),
            Self::Sqlite => Box::new(Sqlite::open(folder, text)?),
            Self::Fjall => Box::new(Fjall::open(folder)?),
            Self::Redb => Box::new(Redb::open(folder)?),
            Self::Lmdb => Box::new(Lmdb::open(folder)?),
            #[cfg(feature = "rocksdb")]
            Self::Rocks => Box::new(Rocks::open(folder)?),
            Self::Tantivy => Box::new(Tantivy::open(folder)?),
        })
    }
}

/// Returns the places of `len` things in the order of a round: each goes first in its turn.
pub fn rotated(len: usize, round: usize) -> impl Iterator<Item = usize> {
    (0..len).map(move |place| (place + round) % len)
}

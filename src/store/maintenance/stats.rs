//! Statistics of a store: counts and sizes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::grain::Type;
use crate::ledger::{OpenMode, StoreId};

use super::backup::last_backup;
use crate::grain::Time;
use crate::store::commit::embedder_statuses;
use crate::store::engine::shared_age;
use crate::store::{Access, EmbedderStatus, Error};

/// Statistics of a store: counts and sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// The store's identity.
    pub store_id: StoreId,
    /// When it was created.
    pub created_at: Time,
    /// Grains of any status.
    pub grains: u64,
    /// Grains that are current.
    pub current: u64,
    /// Grains by type.
    pub by_type: BTreeMap<Type, u64>,
    /// Ledger entries: grains and everything recorded about them.
    pub entries: u64,
    /// The last leaf of the ledger's hash chain.
    pub head: [u8; 32],
    /// Segments of the ledger.
    pub segments: u64,
    /// Their length together, in bytes.
    pub ledger_bytes: u64,
    /// Files of the index.
    pub index_runs: u64,
    /// Their length together, in bytes.
    pub index_bytes: u64,
    /// Files that hold the incomplete ends that crashes left, relative to the store.
    pub torn_files: Vec<String>,
    /// When it was last backed up, by any process; a restored or copied store knows of none.
    pub last_backup: Option<Time>,
    /// Erasures that were begun and wait for room or for a disk that works.
    pub erasures_waiting: u64,
    /// Entries that searches find and no file of the text view has: the next open indexes them again.
    pub text_uncommitted: u64,
    /// The reason why the text view cannot be used.
    pub text_unavailable: Option<String>,
    /// How far the grains are embedded, by each of [`Options::embedders`](crate::Options::embedders).
    pub embedders: Vec<EmbedderStatus>,
    /// How long ago the shared ledger answered, of which the directory is a cache; `None` for a store of
    /// its own, or if it has not answered since the store was opened.
    pub shared_silence: Option<Duration>,
}

/// See [`Maintenance::stats`](crate::Maintenance::stats).
pub(crate) fn stats(store: &Access) -> Result<Stats, Error> {
    let engine = store.engine();
    let snapshot = store.snapshot();
    let mut by_type = BTreeMap::new();
    for byte in 1..=u8::MAX {
        let of = Type::from_byte(byte);
        let count = snapshot.of_type(of).rows()?.len();
        if count > 0 {
            by_type.insert(of, count);
        }
    }
    let grains = snapshot.grains();
    let current = grains
        .iter()
        .filter(|row| snapshot.is_current(*row))
        .count();
    let failed = |source| crate::ledger::Error::Io {
        action: "measure",
        name: "ledger".into(),
        source,
    };
    let (mut segments, mut ledger_bytes) = (0, engine.ledger().stored_bytes()?);
    for name in engine.disk().list("ledger").map_err(failed)? {
        if name.ends_with(".seg") {
            segments += 1;
            continue;
        }
        let file = engine
            .disk()
            .open(&format!("ledger/{name}"), OpenMode::Read);
        ledger_bytes += file.and_then(|file| file.len_bytes()).map_err(failed)?;
    }
    Ok(Stats {
        store_id: engine.manifest().store_id,
        created_at: engine.manifest().created_at,
        grains: grains.len(),
        current: current as u64,
        by_type,
        entries: engine.ledger().len(),
        head: engine.ledger().head(),
        segments,
        ledger_bytes,
        index_runs: engine.index().runs() as u64,
        index_bytes: engine.index().len_bytes(),
        torn_files: engine.ledger().torn_files()?,
        last_backup: last_backup(engine.disk()),
        erasures_waiting: engine.state().erasures().open().len() as u64,
        text_uncommitted: engine.text().uncommitted(engine.ledger().len()),
        text_unavailable: engine.text().unavailable(),
        embedders: embedder_statuses(engine),
        shared_silence: shared_age(engine),
    })
}

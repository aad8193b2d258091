//! Backup: an incremental copy of the durable ledger at one moment, in a directory.

use std::path::Path;

use crate::ledger::{Disk, FileDisk, Lock, OnDamage};
use crate::store::engine::{LOCK, prepare_folder, this_process};
use crate::store::read::read_recorder;
use crate::store::records::Manifest;
use crate::store::{Access, Create, Error};

/// The result of [`Maintenance::backup`](crate::Maintenance::backup).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    /// The ledger entries in it.
    pub entries: u64,
    /// The last leaf of their hash chain.
    pub head: [u8; 32],
    /// Segments that were written.
    pub segments: u32,
    /// Segments of an earlier backup that have not changed since.
    pub kept: u32,
    /// Bytes that were written.
    pub bytes: u64,
    /// Damaged parts of this store's ledger that are in it as they are
    /// ([`Maintenance::backup_damaged`](crate::Maintenance::backup_damaged)).
    pub damaged: u64,
}

/// See [`Maintenance::backup`](crate::Maintenance::backup).
pub(crate) fn backup(store: &Access, path: impl AsRef<Path>) -> Result<Backup, Error> {
    let path = path.as_ref();
    prepare_folder(path, Create::IfMissing)?;
    let disk = FileDisk::new(path);
    backup_to(store, &disk, path)
}

/// See [`Maintenance::backup_damaged`](crate::Maintenance::backup_damaged).
pub(crate) fn backup_damaged(store: &Access, path: impl AsRef<Path>) -> Result<Backup, Error> {
    let path = path.as_ref();
    prepare_folder(path, Create::IfMissing)?;
    copy(store, &FileDisk::new(path), path, OnDamage::Copy)
}

/// See [`Maintenance::backup_to`](crate::Maintenance::backup_to).
pub(crate) fn backup_to(store: &Access, disk: &dyn Disk, path: &Path) -> Result<Backup, Error> {
    copy(store, disk, path, OnDamage::Refuse)
}

fn copy(
    store: &Access,
    disk: &dyn Disk,
    path: &Path,
    on_damage: OnDamage,
) -> Result<Backup, Error> {
    let engine = store.engine();
    // This store holds it if it is backed up to its own directory.
    let _lock = Lock::take(disk, LOCK, &this_process())?;
    let found = Manifest::read(disk, path)?;
    if found
        .as_ref()
        .is_some_and(|found| found != engine.manifest())
    {
        return Err(Error::OtherStore {
            path: path.to_owned(),
        });
    }
    // Written first, so that the backup contains it.
    read_recorder(store, "backup").record_all()?;
    engine.sync()?;
    let copied = engine
        .ledger()
        .copy_following(disk, on_damage, &|| engine.follow())?;
    match found {
        // Last: without it there is no store.
        None => engine.manifest().write(disk)?,
        Some(manifest) => drop(manifest.mend(disk)?),
    }
    Ok(Backup {
        entries: copied.position.entries,
        head: copied.position.head,
        segments: copied.segments,
        kept: copied.kept,
        bytes: copied.bytes,
        damaged: copied.damaged,
    })
}

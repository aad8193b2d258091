//! Backup: an incremental copy of the durable ledger at one moment, in a directory.

use std::io;
use std::path::Path;

use crate::grain::Time;
use crate::ledger::{Disk, FileDisk, Lock, OnDamage, OpenMode};
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
    // The copy is whole: a time that cannot be noted makes it none the less one.
    if let Err(error) = note_time(engine.disk(), engine.options().clock.now()) {
        tracing::warn!(%error, "the time of the backup is not noted");
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

/// Writes the time of a backup beside the store that was copied, in place and unsynced: it is a hint
/// for those who watch, and a torn one says nothing.
fn note_time(disk: &dyn Disk, now: Time) -> io::Result<()> {
    let file = match disk.open(BACKUP, OpenMode::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => disk.create(BACKUP),
        // A reader in memory can replace a file and not change it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            disk.remove(BACKUP)?;
            disk.create(BACKUP)
        }
        opened => opened,
    };
    file?.write_at(&now.ms().to_be_bytes(), 0)
}

/// Returns the time of the last backup that a store knows of; `None` if it knows of none.
pub(super) fn last_backup(disk: &dyn Disk) -> Option<Time> {
    let mut ms = [0; 8];
    let file = disk.open(BACKUP, OpenMode::Read).ok()?;
    file.read_at(&mut ms, 0).ok()?;
    Some(Time::from_ms(i64::from_be_bytes(ms)))
}

/// The file that has the time of the last backup.
const BACKUP: &str = "BACKUP";

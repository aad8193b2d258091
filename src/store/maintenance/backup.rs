//! Backup: an incremental copy of the durable ledger at one moment, in a directory.

use std::path::Path;

use crate::ledger::{Disk, FileDisk, Lock, OnDamage};
use crate::store::engine::{LOCK, prepare_folder, this_process};
use crate::store::records::Manifest;
use crate::store::{Create, Error, Maintenance};

/// The result of [`Maintenance::backup`](crate::store::Maintenance::backup).
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
    /// ([`Maintenance::backup_damaged`](crate::store::Maintenance::backup_damaged)).
    pub damaged: u64,
}

impl Maintenance<'_> {
    /// Copies the durable store at one moment into a directory: first all of it, later only the
    /// changes. Other threads read and write meanwhile.
    ///
    /// Where a regime requires reads to be recorded, an entry is written first.
    ///
    /// A backup is the directory of a store: opening it rebuilds index and text view.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let home = tempfile::tempdir()?;
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("hello"))?;
    /// assert_eq!(store.maintenance()?.backup(home.path().join("b"))?.entries, 1);
    /// assert!(Store::open(home.path().join("b"), Options::default())?.exists(&address)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_BACKUP_DIVERGED` if the directory holds another store, or one that is no earlier moment
    /// of this; `ERR_NOT_A_STORE` if it holds other files; `ERR_STORE_LOCKED` if it is open;
    /// `ERR_STORAGE_DAMAGED` if a byte of this store's ledger is not what was written, or the end of
    /// a segment of the backup, which is named; `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`. After any of
    /// them, and after a crash, the directory is the earlier backup or the new one.
    pub fn backup(self, path: impl AsRef<Path>) -> Result<Backup, Error> {
        let path = path.as_ref();
        prepare_folder(path, Create::IfMissing)?;
        let disk = FileDisk::new(path);
        self.backup_to(&disk, path)
    }

    /// As [`Maintenance::backup`], and copies damaged bytes of the ledger as they are, into a
    /// directory without an earlier backup. [`recover`](crate::store::recover) makes a sound
    /// store from the copy.
    ///
    /// # Errors
    /// As [`Maintenance::backup`]; `ERR_STORAGE_DAMAGED` if there is damage and an earlier backup, which
    /// stays as it is.
    pub fn backup_damaged(self, path: impl AsRef<Path>) -> Result<Backup, Error> {
        let path = path.as_ref();
        prepare_folder(path, Create::IfMissing)?;
        self.copy(&FileDisk::new(path), path, OnDamage::Copy)
    }

    /// As [`Maintenance::backup`] on a disk of the caller's; errors name `path`.
    ///
    /// # Errors
    /// As [`Maintenance::backup`].
    #[doc(hidden)]
    pub fn backup_to(self, disk: &dyn Disk, path: &Path) -> Result<Backup, Error> {
        self.copy(disk, path, OnDamage::Refuse)
    }

    fn copy(self, disk: &dyn Disk, path: &Path, on_damage: OnDamage) -> Result<Backup, Error> {
        let engine = self.engine();
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
        self.store().read_recorder("backup").record_all()?;
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
}

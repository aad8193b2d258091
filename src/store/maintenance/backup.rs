//! Backup: the ledger as it is durable at one moment, into a directory, incrementally.

use std::path::Path;

use crate::ledger::{FileDisk, Lock};
use crate::store::instance::{LOCK, Manifest, prepare_folder, this_process};

use crate::store::{Create, Error, Maintenance};

/// What [`Maintenance::backup`](crate::store::Maintenance::backup) did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    /// The ledger entries in it.
    pub entries: u64,
    /// The last leaf of their hash chain.
    pub head: [u8; 32],
    /// Segments that were written.
    pub segments: u32,
    /// Segments that an earlier backup had written, and nothing has changed since.
    pub kept: u32,
    /// Bytes that were written.
    pub bytes: u64,
}

impl Maintenance<'_> {
    /// Copies the store as it is durable at one moment into a directory: the first time all of it,
    /// then what is new. Others read and write meanwhile.
    ///
    /// Where a regime wants reads recorded, it begins with an entry that says so.
    ///
    /// A backup is the directory of a store: opening it builds index and text view anew.
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
    /// of this; `ERR_NOT_A_STORE` if it holds something else; `ERR_STORE_LOCKED` if it is open;
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`. After any of them it still holds what it held.
    pub fn backup(self, path: impl AsRef<Path>) -> Result<Backup, Error> {
        let inner = self.inner();
        let path = path.as_ref();
        prepare_folder(path, Create::IfMissing)?;
        let disk = FileDisk::new(path);
        // Held by this store too, if somebody backs it up to itself.
        let _lock = Lock::take(&disk, LOCK, &this_process())?;
        let found = Manifest::read(&disk, path)?;
        if found
            .as_ref()
            .is_some_and(|found| found != inner.manifest())
        {
            return Err(Error::OtherStore {
                path: path.to_owned(),
            });
        }
        // Before it begins, so that it is in the backup too.
        self.store().read_recorder("backup").record_all()?;
        let copied = inner.ledger().copy_to(&disk)?;
        if found.is_none() {
            // Last: without it there is no store.
            inner.manifest().write(&disk)?;
        }
        Ok(Backup {
            entries: copied.position.entries,
            head: copied.position.head,
            segments: copied.segments,
            kept: copied.kept,
            bytes: copied.bytes,
        })
    }
}

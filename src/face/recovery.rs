//! A new store from a damaged one.

use std::path::Path;
use std::sync::Arc;

use crate::ledger::Disk;
use crate::store::{Error, Options, Recovered, maintenance};

use super::Store;

/// Writes a new store from all of a damaged one that still proves itself: each grain whose bytes
/// are those that were written, and each record about grains. It works with any file of the
/// store damaged or missing, finds its way behind damaged bytes, and names each part that does not
/// come out. Grains that were erased stay erased. The new ledger says that it was recovered.
///
/// The damaged directory is only read, except for its `LOCK`.
///
/// ```
/// use std::fs;
/// use grainstore::{Draft, Options, Store, recover};
///
/// let home = tempfile::tempdir()?;
/// let (old, new) = (home.path().join("old"), home.path().join("new"));
/// let store = Store::open(&old, Options::default())?;
/// let first = store.put(Draft::event("hello"))?;
/// let second = store.put(Draft::event("world"))?;
/// drop(store);
/// let segment = old.join("ledger/0000000000000001.seg");
/// let mut bytes = fs::read(&segment)?;
/// bytes[70] ^= 1; // in the header of the first entry
/// fs::write(&segment, bytes)?;
/// let (store, recovered) = recover(&old, &new, Options::default())?;
/// assert!(store.exists(&second)?);
/// assert_eq!(recovered.grains + recovered.lost_entries(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `ERR_NOT_A_STORE` if there is no `ledger` at `from`, or `path` holds anything but an unfinished
/// restore of this store and `vault/`; `ERR_STORE_EXISTS` if it is a store; `ERR_STORE_LOCKED` while
/// the old one is open; `ERR_STORE_VERSION` for one of a newer version; `ERR_STORAGE_IO`,
/// `ERR_STORAGE_FULL`.
pub fn recover(
    from: impl AsRef<Path>,
    path: impl AsRef<Path>,
    options: Options,
) -> Result<(Store, Recovered), Error> {
    let (store, recovered) = maintenance::recover(from, path, options)?;
    Ok((Store(store), recovered))
}

/// As [`recover`] from one disk of the caller's to another, which is empty.
///
/// # Errors
/// As [`recover`].
#[doc(hidden)]
pub fn recover_on(
    from: Arc<dyn Disk>,
    to: Arc<dyn Disk>,
    options: Options,
) -> Result<(Store, Recovered), Error> {
    let (store, recovered) = maintenance::recover_on(from, to, options)?;
    Ok((Store(store), recovered))
}

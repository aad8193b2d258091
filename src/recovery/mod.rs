//! A store from another one, from a backup, from a damaged one, and one whose derived files are built anew.
//!
//! | what happened | function |
//! | --- | --- |
//! | a machine is lost, or what was written since a moment is to be undone | [`restore`] |
//! | index or text view are damaged | [`repair`] |
//! | the ledger is damaged, or files are missing | [`recover`], [`recoverable`] before it |
//! | a store does not open, and it is asked why | [`verify_damaged`] |

use std::path::Path;
use std::sync::Arc;

use crate::face::Store;
use crate::ledger::Disk;
use crate::store::{Error, Options, Recovered, Report, Restored, Until, maintenance};

/// Writes a new store from the ledger of another, or of a backup, up to a point.
///
/// The new ledger begins with the entries of the old one up to the point, then records the
/// restoration; later erasures of the old one are applied again. The store keeps its identity.
/// The old directory is only read, except for its `LOCK`. An entry whose body is damaged is
/// blanked in the new store, as an erasure without a tombstone, and reported.
///
/// A point at which the old ledger ends is refused: erasures after it would be unknown
/// ([`restore_accepting_lost_erasures`]).
///
/// A restore that was interrupted leaves no store in `path`; restoring the same store into it
/// again removes those files and starts anew.
///
/// ```
/// use grainstore::recovery::restore;
/// use grainstore::store::Until;
/// use grainstore::{Draft, Options, Store};
///
/// let home = tempfile::tempdir()?;
/// let (old, new) = (home.path().join("old"), home.path().join("new"));
/// let store = Store::open(&old, Options::default())?;
/// let first = store.put(Draft::event("hello"))?;
/// let second = store.put(Draft::event("oops"))?;
/// drop(store);
/// let (store, restored) = restore(&old, &new, Until::Entries(1), Options::default())?;
/// assert_eq!((restored.entries, restored.left), (1, 1));
/// assert!(store.exists(&first)? && !store.exists(&second)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `ERR_NOT_A_STORE` if there is none at `from`, or `path` holds anything but an unfinished
/// restore of this store and `vault/`, in which the keys of sealed persons may lie already;
/// `ERR_STORE_LOCKED` while the old one is open; `ERR_LOST_ERASURES` for a point at its end;
/// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
pub fn restore(
    from: impl AsRef<Path>,
    path: impl AsRef<Path>,
    until: Until,
    options: Options,
) -> Result<(Store, Restored), Error> {
    let (store, restored) = maintenance::restore(from, path, until, false, options)?;
    Ok((Store(store), restored))
}

/// As [`restore`], also up to a point at which the old ledger ends: what was erased after it comes back.
///
/// # Errors
/// As [`restore`], without `ERR_LOST_ERASURES`.
pub fn restore_accepting_lost_erasures(
    from: impl AsRef<Path>,
    path: impl AsRef<Path>,
    until: Until,
    options: Options,
) -> Result<(Store, Restored), Error> {
    let (store, restored) = maintenance::restore(from, path, until, true, options)?;
    Ok((Store(store), restored))
}

/// Opens a store, deletes the derived files (the index and the text view), and rebuilds them
/// from the ledger; [`Maintenance::recovery_report`](crate::Maintenance::recovery_report) says so. The
/// ledger is opened as always, and verified from its first byte. A grain whose bytes are damaged
/// is left out, and named by the report.
///
/// ```
/// use grainstore::recovery::repair;
/// use grainstore::{Draft, Options, Store};
///
/// let home = tempfile::tempdir()?;
/// let address = Store::open(home.path(), Options::default())?.put(Draft::event("hello"))?;
/// let store = repair(home.path(), Options::default())?;
/// let report = store.maintenance()?.recovery_report();
/// assert!(report.index_rebuilt.is_some() && store.exists(&address)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Store::open`]. `ERR_STORAGE_DAMAGED` if the ledger is damaged elsewhere; no file is
/// deleted then.
pub fn repair(path: impl AsRef<Path>, options: Options) -> Result<Store, Error> {
    maintenance::repair(path, options).map(Store)
}

/// Writes a new store from all of a damaged one that still proves itself: each grain whose bytes
/// are those that were written, and each record about grains. It works with any file of the
/// store damaged or missing, finds its way behind damaged bytes, and names each part that does not
/// come out. Grains that were erased stay erased. The new ledger says that it was recovered.
///
/// The damaged directory is only read, except for its `LOCK`.
///
/// ```
/// use std::fs;
/// use grainstore::recovery::recover;
/// use grainstore::{Draft, Options, Store};
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

/// Returns what [`recover`] would bring out, and writes nothing.
///
/// # Errors
/// As [`recover`].
pub fn recoverable(from: impl AsRef<Path>, options: &Options) -> Result<Recovered, Error> {
    maintenance::recoverable(from, options)
}

/// Checks the ledger of a store that does not open.
///
/// # Errors
/// `ERR_NOT_A_STORE`, `ERR_STORE_VERSION`, `ERR_STORAGE_DAMAGED` for an unreadable `MANIFEST`,
/// `ERR_STORAGE_IO`.
pub fn verify_damaged(path: impl AsRef<Path>) -> Result<Report, Error> {
    maintenance::verify_damaged(path)
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

//! Recover: a new store from all of a damaged one that still proves itself.
//!
//! Every entry keeps its sequence, since entries name each other by it. An entry that is lost with its
//! header has an entry of kind restored in its place; one whose header is proven stays, blank, and is
//! listed as erased. As long as no header is lost the new ledger has the same hash chain.

use std::path::Path;
use std::sync::Arc;

use crate::ledger::{self, Disk, FileDisk, Ledger, Lock, StoreId, salvage};
use crate::store::engine::{LOCK, this_process};
use crate::store::maintenance::recovery::copying::Copying;
use crate::store::maintenance::recovery::plan::Plan;
use crate::store::maintenance::recovery::report::Recovered;
use crate::store::maintenance::restore_target::RestoreTarget;
use crate::store::records::Manifest;
use crate::store::{Create, Error, Options, Store};

/// Writes a new store from all of a damaged one that still proves itself: each grain whose bytes
/// are those that were written, and each record about grains. It works with any file of the
/// store damaged or missing, finds its way behind damaged bytes, and names each part that does not
/// come out. Grains that were erased stay erased. The new ledger says that it was recovered.
///
/// The damaged directory is only read, except for its `LOCK`.
///
/// ```
/// use std::fs;
/// use grainstore::store::recover;
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
    let path = path.as_ref();
    let source = Source::open(from.as_ref(), &options)?;
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(path));
    let target = RestoreTarget {
        path,
        disk: &*disk,
        manifest: &source.manifest,
    };
    let lock = target.prepare()?;
    let recovered = source.copy(Some(&disk), &options)?;
    // Last: without it there is no store.
    Manifest::publish(&*disk)?;
    drop(lock);
    let options = Options {
        create: Create::Never,
        ..options
    };
    Ok((Store::open(path, options)?, recovered))
}

/// Returns what [`recover`] would bring out, and writes nothing.
///
/// # Errors
/// As [`recover`].
pub fn recoverable(from: impl AsRef<Path>, options: &Options) -> Result<Recovered, Error> {
    Source::open(from.as_ref(), options)?.copy(None, options)
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
    let source = Source::of(from, Path::new("memory"), &options)?;
    let recovered = source.copy(Some(&to), &options)?;
    source.manifest.write(&*to)?;
    Ok((Store::open_on(to, options)?, recovered))
}

/// The damaged store.
struct Source {
    disk: Arc<dyn Disk>,
    manifest: Manifest,
    /// The fault of `MANIFEST`.
    fault: Option<String>,
    is_new_identity: bool,
    _lock: Option<Lock>,
}

impl Source {
    fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        if !path.join("ledger").is_dir() {
            return Err(Error::NotAStore {
                path: path.to_owned(),
                reason: "it has no ledger".into(),
            });
        }
        Self::of(Arc::new(FileDisk::new(path)), path, options)
    }

    fn of(disk: Arc<dyn Disk>, path: &Path, options: &Options) -> Result<Self, Error> {
        let lock = match Lock::take(&*disk, LOCK, &this_process()) {
            Err(error @ ledger::Error::Locked { .. }) => return Err(error.into()),
            // A directory that cannot be written has no writer, and a lock that is no file none either.
            taken => taken.ok(),
        };
        let found = Manifest::salvage(&*disk, path)?;
        let (manifest, fault, is_new_identity) = match found {
            (Some(manifest), fault) => (manifest, fault, false),
            (None, fault) => {
                let now = options.clock.now();
                (Manifest::new(&*options.random, now)?, fault, true)
            }
        };
        Ok(Self {
            disk,
            manifest,
            fault,
            is_new_identity,
            _lock: lock,
        })
    }

    /// Copies what proves itself into the ledger of another disk, or counts it.
    fn copy(&self, to: Option<&Arc<dyn Disk>>, options: &Options) -> Result<Recovered, Error> {
        let store_id: Option<&StoreId> = (!self.is_new_identity).then_some(&self.manifest.store_id);
        let mut plan = Plan::default();
        salvage(&*self.disk, store_id, &mut |found| plan.see(&found))?;
        plan.finish();
        let new = to.map(|disk| {
            let (disk, id) = (Arc::clone(disk), self.manifest.store_id);
            Ledger::create(disk, id, options.ledger.clone())
        });
        let report = Recovered {
            manifest: self.fault.clone(),
            is_new_identity: self.is_new_identity,
            ..Recovered::default()
        };
        let mut copy = Copying::new(plan, new.transpose()?, options, report);
        let end = salvage(&*self.disk, store_id, &mut |found| copy.see(found))?;
        copy.finish(end)
    }
}

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
use crate::store::opening::{open, open_on};
use crate::store::records::Manifest;
use crate::store::{Access, Create, Error, Options};

/// See [`recover`](crate::recovery::recover).
pub(crate) fn recover(
    from: impl AsRef<Path>,
    path: impl AsRef<Path>,
    options: Options,
) -> Result<(Access, Recovered), Error> {
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
    Ok((open(path, options)?, recovered))
}

/// See [`recoverable`](crate::recovery::recoverable).
pub(crate) fn recoverable(from: impl AsRef<Path>, options: &Options) -> Result<Recovered, Error> {
    Source::open(from.as_ref(), options)?.copy(None, options)
}

/// See [`recover_on`](crate::recovery::recover_on).
pub(crate) fn recover_on(
    from: Arc<dyn Disk>,
    to: Arc<dyn Disk>,
    options: Options,
) -> Result<(Access, Recovered), Error> {
    let source = Source::of(from, Path::new("memory"), &options)?;
    let recovered = source.copy(Some(&to), &options)?;
    source.manifest.write(&*to)?;
    Ok((open_on(to, options)?, recovered))
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
            Ledger::create(disk, id, options.segment_bytes)
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

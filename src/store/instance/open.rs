//! Opening a store: its files are read, the remains of a crash are set aside, and all derived data
//! is brought to the end of the ledger.

use std::path::Path;
use std::sync::Arc;

use crate::code::ErrorCode;
use crate::index::{Index, RetrievalCounters};
use crate::ledger::{
    self, Ballast, Disk, EntryId, EntryLocation, FileDisk, Ledger, Lock, MemoryDisk, RecoveryHint,
};
use crate::store::records::erased_rows;
use crate::store::{Create, Error, Options};

use super::folder::{
    BALLAST, LOCK, no_manifest, prepare_folder, refuse_planted, remove_text, this_process,
};
use super::inner::{Inner, Reader};
use super::manifest::Manifest;
use super::recovery::RecoveryReport;
use super::store::Store;
use super::text_view::TextView;

impl Store {
    /// Opens the store in a directory, and creates it if [`Options::create`] allows.
    ///
    /// # Errors
    /// `ERR_NOT_A_STORE`, `ERR_STORE_EXISTS`, `ERR_STORE_VERSION`, `ERR_STORE_LOCKED` while
    /// another process has it open, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Self::open_folder(path.as_ref(), options, false)
    }

    pub(crate) fn open_folder(
        path: &Path,
        options: Options,
        is_repair: bool,
    ) -> Result<Self, Error> {
        prepare_folder(path, options.create)?;
        let disk = Arc::new(FileDisk::new(path));
        refuse_planted(&disk, path)?;
        Self::join(disk, path, options, is_repair)
    }

    /// Opens the store on a disk of the caller's, and creates it if [`Options::create`] allows.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use grainstore::ledger::MemoryDisk;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let disk = MemoryDisk::default();
    /// let open = || Store::open_on(Arc::new(disk.clone()), Options::default());
    /// let address = open()?.put(Draft::event("hello"))?;
    /// assert!(open()?.exists(&address)?);
    /// # Ok::<(), grainstore::store::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::open`].
    #[doc(hidden)]
    pub fn open_on(disk: Arc<dyn Disk>, options: Options) -> Result<Self, Error> {
        let path = Path::new("memory");
        Self::join(disk, path, options, false)
    }

    /// Creates a store in memory, which is gone when its last handle is.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub fn in_memory(options: Options) -> Result<Self, Error> {
        let options = Options {
            ballast_bytes: 0,
            ..options
        };
        Self::open_on(Arc::new(MemoryDisk::default()), options)
    }

    fn join(
        disk: Arc<dyn Disk>,
        path: &Path,
        options: Options,
        is_repair: bool,
    ) -> Result<Self, Error> {
        let found = Manifest::read(&*disk, path)?;
        match (&found, options.create) {
            (Some(_), Create::New) => {
                return Err(Error::Exists {
                    path: path.to_owned(),
                });
            }
            (None, Create::Never) => return Err(no_manifest(path)),
            _ => {}
        }
        let lock = Lock::take(&*disk, LOCK, &this_process())?;
        let mut recovery = RecoveryReport {
            created: found.is_none(),
            ..RecoveryReport::default()
        };
        let (manifest, index, ledger) = match found {
            Some(manifest) => {
                manifest.settle(&*disk)?;
                let (index, mut known) = open_index(&disk, &manifest, &options, &mut recovery)?;
                // An index that is deleted next is asked only for the number of entries, not for
                // their locations.
                if is_repair {
                    known = Known::default();
                }
                let ledger = open_ledger(&disk, &manifest, &index, known, &options, &mut recovery)?;
                if is_repair {
                    forget_derived(&*disk, &index, &mut recovery)?;
                }
                (manifest, index, ledger)
            }
            None => {
                let manifest = Manifest::new(&*options.random, options.clock.now())?;
                let ledger = options.ledger.clone();
                let ledger = Ledger::create(Arc::clone(&disk), manifest.store_id, ledger)?;
                manifest.write(&*disk)?;
                let (index, _) = open_index(&disk, &manifest, &options, &mut recovery)?;
                (manifest, index, ledger)
            }
        };
        let ledger = Arc::new(ledger);
        let text = TextView::open(&disk, &ledger, &options, &mut recovery);
        let staleness = options.accesses;
        let count =
            |staleness| RetrievalCounters::open(&disk, manifest.store_id, staleness, ledger.len());
        let retrievals = staleness.map(count).transpose()?;
        let ballast = Ballast::new(BALLAST, options.ballast_bytes);
        if let Err(error) = ballast.restore(&*disk) {
            tracing::warn!(%error, "no room is kept for erasing on a full disk");
        }
        let mut inner = Inner::new(Reader {
            options,
            manifest_file: Manifest::open(&*disk)?,
            manifest,
            disk,
            ledger,
            index,
            retrievals,
            text,
            ballast,
            recovery,
            lock,
        });
        inner.catch_up()?;
        inner.measure_clock();
        let waits = inner.resume_at_opening().err();
        let unavailable = inner.text().unavailable();
        let damaged = inner.damaged();
        let recovery = inner.recovery_mut();
        recovery.damaged = damaged;
        recovery.text_unavailable = unavailable;
        recovery.erasure_waits = waits.map(|error| error.to_string());
        Ok(Self::owner(inner))
    }
}

impl Inner {
    /// Completes the erasures that a crash or a full disk interrupted. On a full disk the runs of
    /// the index make room: they are derived, and no reader has them yet.
    ///
    /// # Errors
    /// Storage errors. The erasure then waits, and the store opens all the same.
    fn resume_at_opening(&self) -> Result<(), Error> {
        let resumed = self.resume_erasures();
        let resumed = match resumed {
            Err(error) if error.code() == ErrorCode::StorageFull => {
                self.move_index_to_memory()?;
                self.resume_erasures()
            }
            resumed => resumed,
        };
        resumed.inspect_err(|error| tracing::warn!(%error, "an erasure waits"))
    }
}

/// The part of the ledger that the index has seen durable.
#[derive(Default)]
struct Known {
    hint: Option<RecoveryHint>,
    /// Of the last entry in the index, if the hint ends before.
    last: Option<EntryLocation>,
}

fn open_index(
    disk: &Arc<dyn Disk>,
    manifest: &Manifest,
    options: &Options,
    recovery: &mut RecoveryReport,
) -> Result<(Index, Known), Error> {
    let (index, found) = Index::open(
        disk,
        manifest.store_id,
        manifest.term_key(),
        options.index.clone(),
    );
    recovery.index_rebuilt = found.rebuilt;
    let mut known = Known {
        hint: None,
        last: found.last,
    };
    if let Some(position) = found.position {
        let mut erased = index.snapshot().erased_entries()?;
        erased.sort_unstable();
        known.hint = Some(RecoveryHint {
            position,
            locations: found.locations,
            erased,
        });
    }
    Ok((index, known))
}

/// Opens the ledger from where the index has seen it durable. An index that does not fit a ledger
/// which is sound from its first byte, and as long, is of another history of it, and removed.
fn open_ledger(
    disk: &Arc<dyn Disk>,
    manifest: &Manifest,
    index: &Index,
    known: Known,
    options: &Options,
    recovery: &mut RecoveryReport,
) -> Result<Ledger, Error> {
    let flushed = index.flushed();
    let open = |hint| {
        let ledger = options.ledger.clone();
        let disk = Arc::clone(disk);
        Ledger::open_past_damaged_grains(
            disk,
            manifest.store_id,
            ledger,
            flushed,
            hint,
            erased_rows,
        )
    };
    let has_hint = known.hint.is_some();
    let (opened, mut is_foreign) = match open(known.hint) {
        Err(error @ ledger::Error::Damaged { .. }) if has_hint => {
            (open(None).map_err(|_| error)?, true)
        }
        opened => (opened?, false),
    };
    let (ledger, torn) = opened;
    recovery.torn = torn;
    if let (Some(last), Some(row)) = (known.last, flushed.checked_sub(1)) {
        is_foreign |= ledger.entry_locations(&(EntryId::new(row)..EntryId::new(flushed))) != [last];
    }
    if is_foreign {
        index.reset()?;
        let reason = "it is of another history of the ledger";
        recovery.index_rebuilt = Some(reason.to_owned());
    }
    Ok(ledger)
}

/// Deletes the derived files. The ledger is open already: its length was checked against the index.
fn forget_derived(
    disk: &dyn Disk,
    index: &Index,
    recovery: &mut RecoveryReport,
) -> Result<(), Error> {
    index.reset()?;
    remove_text(disk)?;
    let asked = || "a repair was asked for".to_owned();
    recovery.index_rebuilt.get_or_insert_with(asked);
    recovery.text_rebuilt.get_or_insert_with(asked);
    Ok(())
}

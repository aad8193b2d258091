//! Opening a store: its files, the completion of what a crash interrupted, and the threads that work
//! behind it.

use std::path::Path;
use std::sync::Arc;

use crate::code::ErrorCode;
use crate::ledger::{Disk, FileDisk, MemoryDisk};
use crate::store::commit::{keep_embedded, next_to_embed};
use crate::store::engine::{
    Background, Engine, authorize_locks, join, open_to_read, prepare_folder, refuse_planted,
};
use crate::store::erasure::{resume_erasures, tend};
#[cfg(feature = "sealing")]
use crate::store::keys::seal_unsealed;
use crate::store::{Create, Error, Options, Store};

impl Store {
    /// Opens the store in a directory, and creates it if [`Options::create`] allows. Other processes
    /// may have it open, too: each answer holds what any of them has acknowledged when the question
    /// is asked, and each change is decided on that.
    ///
    /// # Errors
    /// `ERR_NOT_A_STORE`, `ERR_STORE_EXISTS`, `ERR_STORE_VERSION`, `ERR_STORE_LOCKED` if another
    /// process writes for longer than [`Options::lock_wait`], `ERR_STORAGE_DAMAGED`,
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`; `ERR_UNSUPPORTED` on a network file system whose locks
    /// cannot be trusted.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Self::open_folder(path.as_ref(), options, false)
    }

    pub(crate) fn open_folder(
        path: &Path,
        options: Options,
        is_repair: bool,
    ) -> Result<Self, Error> {
        authorize_locks(path)?;
        prepare_folder(path, options.create)?;
        let disk = Arc::new(FileDisk::new(path));
        refuse_planted(&disk, path)?;
        finished(join(disk, path, options, is_repair)?)
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
        finished(join(disk, path, options, false)?)
    }

    /// Creates a store in memory, or in the files of [`Options::scratch`], which is gone when its
    /// last handle is.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`; `ERR_STORAGE_IO`.
    pub fn in_memory(options: Options) -> Result<Self, Error> {
        let options = Options {
            ballast_bytes: 0,
            ..options
        };
        let disk = MemoryDisk::in_unnamed_files(options.scratch.as_deref());
        Self::open_on(Arc::new(disk), options)
    }

    /// Opens a store for reading, beside a process that writes it or not. Each answer holds what
    /// that process has acknowledged when the question is asked. Nothing in the directory is
    /// changed and no lock is taken, so the directory may be one that can only be read; what has to
    /// be built anew is built in memory. The handle's changes are refused, and so is a read that a
    /// regime wants recorded.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let home = tempfile::tempdir()?;
    /// let writer = Store::open(home.path().join("memory"), Options::default())?;
    /// let reader = Store::open_read_only(home.path().join("memory"), Options::default())?;
    /// let address = writer.put(Draft::event("hello"))?;
    /// assert!(reader.get(&address)?.is_some());
    /// let refused = reader.put(Draft::event("a note")).unwrap_err();
    /// assert_eq!(refused.code(), "ERR_STORAGE_READ_ONLY");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_A_STORE`, `ERR_STORE_VERSION`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn open_read_only(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        let path = path.as_ref();
        prepare_folder(path, Create::Never)?;
        let disk = FileDisk::new(path);
        refuse_planted(&disk, path)?;
        let disk: Arc<dyn Disk> = Arc::new(disk);
        with_background(open_to_read(&disk, path, options)?).anchored()
    }

    /// Opens a store on a disk of the caller's for reading, as [`Store::open_read_only`].
    ///
    /// # Errors
    /// As [`Store::open_read_only`].
    #[doc(hidden)]
    pub fn open_read_only_on(disk: &Arc<dyn Disk>, options: Options) -> Result<Self, Error> {
        let path = Path::new("memory");
        with_background(open_to_read(disk, path, options)?).anchored()
    }

    /// Does once what an open store in a directory does twice a second: takes in what other
    /// processes wrote, and does what they wait for. For disks in memory, where nothing does it.
    ///
    /// # Errors
    /// Storage errors.
    #[doc(hidden)]
    pub fn tend(&self) -> Result<(), Error> {
        tend(&self.engine, self.engine.vacancy())
    }
}

/// Completes what a crash interrupted, if this process keeps the store.
fn finished(mut engine: Engine) -> Result<Store, Error> {
    if engine.is_keeper() {
        let waits = resume_at_opening(&engine).err();
        #[cfg(feature = "sealing")]
        seal_unsealed(&engine);
        engine.report_opening(waits.map(|error| error.to_string()));
    }
    with_background(engine).anchored()
}

fn with_background(engine: Engine) -> Store {
    Store::owner(
        engine,
        Background {
            tend,
            next_to_embed,
            keep_embedded,
        },
    )
}

/// Completes the erasures that a crash or a full disk interrupted. On a full disk the runs of
/// the index make room: they are derived, and no reader has them yet.
///
/// # Errors
/// Storage errors. The erasure then waits, and the store opens all the same.
fn resume_at_opening(engine: &Engine) -> Result<(), Error> {
    let resumed = resume_erasures(engine);
    let resumed = match resumed {
        Err(error) if error.code() == ErrorCode::StorageFull => {
            engine.move_index_to_memory()?;
            resume_erasures(engine)
        }
        resumed => resumed,
    };
    resumed.inspect_err(|error| {
        tracing::warn!(%error, "an erasure waits");
        engine.erase_later();
    })
}

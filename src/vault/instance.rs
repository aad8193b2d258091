//! Creating and opening a vault, and resuming what a crash interrupted.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use redb::{Database, ReadableDatabase, WriteTransaction};

use crate::crypto::{KeySource, MasterKey, PassphraseParams, Random, Secret, scrub_stack};
use crate::ledger::{Ballast, Disk, DiskFile, OpenMode};
use crate::process::Mutex;

use super::Error;
use super::error::{OrFail, damaged, guarded};
use super::file::backend::{self, Header, OpenDatabase};
use super::file::copy::{self, Standing};
use super::file::lock::FileLock;
use super::file::meta::Meta;
use super::file::tables::{self, BUCKETS, ERASED, Keys, RETAINED, SLOTS};
use super::file::{DATABASE, FOLDER, TEMPORARY};
use super::keys::cache::KeyCache;
use super::root::{Root, ShredRoot};

/// Where a vault lies, and its sources of room and randomness.
#[derive(Debug, Clone)]
pub struct VaultFiles {
    /// The store's disk: the vault lies in its folder `vault`.
    pub disk: Arc<dyn Disk>,
    /// The identity of the store.
    pub store: [u8; 16],
    /// The place of the root.
    pub root: Arc<dyn ShredRoot>,
    /// The source of randomness.
    pub random: Arc<dyn Random>,
    /// The reserve that is given up when the disk is full.
    pub ballast: Ballast,
    /// Whether the vault may be changed; else no file is.
    pub is_writer: bool,
    /// How long to wait for another process that uses the vault.
    pub lock_wait: Duration,
}

/// The keys of the persons of a store.
///
/// The master key is an argument of each operation; the vault never keeps it. Of concurrent changes, of
/// all processes, one runs at a time, and processes that read share it.
pub struct Vault {
    pub(super) files: VaultFiles,
    /// The state as it was last read: the current one as long as no commit has followed.
    state: Mutex<Option<State>>,
    pub(super) cache: Mutex<KeyCache>,
}

/// The open database, the root that opens it, and the row about both.
pub(super) struct State {
    pub(super) database: OpenDatabase,
    pub(super) root: Root,
    pub(super) meta: Meta,
    /// By which a later commit of any process shows.
    header: Header,
    /// How the copy stood to the database when it was opened to be read.
    copy: Standing,
}

impl Vault {
    /// Creates a vault, and returns it with the master key of `source`.
    ///
    /// A crash before it returns leaves no vault, and creating it again succeeds.
    ///
    /// # Errors
    /// `ERR_STORE_EXISTS`; `ERR_STORAGE_DAMAGED` beside the root of a vault whose database is gone;
    /// `ERR_KEY`, `ERR_NO_RANDOMNESS`; storage errors.
    pub fn create(files: VaultFiles, source: &KeySource) -> Result<(Self, MasterKey), Error> {
        let disk = &*files.disk;
        if !files.is_writer {
            return Err(Error::ReadOnly);
        }
        if exists(disk, DATABASE)? {
            return Err(Error::Exists);
        }
        // A crash inside creation leaves the temporary file beside the root, if there is one.
        let is_remnant = exists(disk, TEMPORARY)?;
        if !is_remnant && !files.root.read()?.is_empty() {
            return Err(Error::DatabaseMissing);
        }
        let random = &*files.random;
        let params = source.is_passphrase();
        let params = params.then(|| PassphraseParams::draw(random)).transpose()?;
        let master = source.master_key(params.as_ref())?;
        let meta = Meta {
            store: files.store,
            key_check: master.check_value(&files.store),
            epoch: FIRST_EPOCH,
            bits: FIRST_BITS,
            passphrase: params,
        };
        let root = Root {
            epoch: FIRST_EPOCH,
            secret: Secret::draw(random)?,
        };
        write_first(&files, &meta, &master, &root)?;
        let vault = Self::closed(files);
        vault.read(|_| Ok(()))?;
        vault.keep_copy()?;
        Ok((vault, master))
    }

    /// Opens the vault of a store; `None` if it has none. A root that a crash left beside the
    /// current one is destroyed.
    ///
    /// # Errors
    /// `ERR_ROOT_MISSING`, `ERR_STORAGE_DAMAGED`; storage errors.
    pub fn open(files: VaultFiles) -> Result<Option<Self>, Error> {
        if !exists(&*files.disk, DATABASE)? {
            let is_remnant = exists(&*files.disk, TEMPORARY)?;
            return match files.root.read()?.is_empty() || is_remnant {
                true => Ok(None),
                false => Err(Error::DatabaseMissing),
            };
        }
        let vault = Self::closed(files);
        vault.read(|_| Ok(()))?;
        vault.keep_copy()?;
        Ok(Some(vault))
    }

    /// Makes the copy that a crash prevented, or an older program.
    fn keep_copy(&self) -> Result<(), Error> {
        if !self.files.is_writer
            || self.read(|state| Ok(!matches!(state.copy, Standing::Missing)))?
        {
            return Ok(());
        }
        // Another process that uses the vault makes it, or the next opening.
        if let Ok(_lock) = FileLock::take(&self.files) {
            copy::renew(&self.files);
        }
        Ok(())
    }

    /// Returns whether the database is not what was written, so that its copy stands in for it.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn is_rotten(&self) -> Result<bool, Error> {
        self.read(|state| Ok(matches!(state.copy, Standing::StandsIn(_))))
    }

    /// Returns the master key of `source`, if it is the one of this vault.
    ///
    /// # Errors
    /// `ERR_MASTER_KEY` for another key, `ERR_KEY` for none; storage errors.
    pub fn master_key(&self, source: &KeySource) -> Result<MasterKey, Error> {
        let meta = self.read(|state| Ok(state.meta))?;
        let master = source.master_key(meta.passphrase.as_ref())?;
        check_master(&master, &meta)?;
        Ok(master)
    }

    /// Returns whether a key is the master key of this vault.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn is_master(&self, key: &MasterKey) -> Result<bool, Error> {
        let meta = self.read(|state| Ok(state.meta))?;
        Ok(key.is_of(&meta.store, &meta.key_check))
    }

    /// Returns the number of root swaps so far, and one for the first root.
    ///
    /// # Errors
    /// Storage errors.
    pub fn epoch(&self) -> Result<u64, Error> {
        self.read(|state| Ok(state.meta.epoch))
    }

    fn closed(files: VaultFiles) -> Self {
        Self {
            files,
            state: Mutex::new(None),
            cache: Mutex::default(),
        }
    }

    pub(super) fn random(&self) -> &dyn Random {
        &*self.files.random
    }

    /// Runs a question on the database, with the root that opens it, while no other process changes
    /// it.
    ///
    /// It is opened again after every commit, of this process or another one.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, also where the database panics; storage errors.
    pub(super) fn read<T>(
        &self,
        question: impl FnOnce(&State) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut state = self.state.lock();
        let _lock = FileLock::share(&self.files)?;
        let outcome = guarded(|| {
            let file = database_file(&self.files, OpenMode::Read)?;
            let header = backend::header(&*file)?;
            let open = match state.take() {
                Some(open) if open.header == header => open,
                _ => State::to_read(&self.files, file, header)?,
            };
            question(state.insert(open))
        });
        if matches!(outcome, Err(Error::Damaged { .. })) {
            // A state that panicked may panic once more as it is closed.
            guarded(|| {
                *state = None;
                Ok(())
            })?;
        }
        outcome
    }

    /// Runs a change of the database, which is open for it alone; on a full disk once more with the
    /// room of the ballast. After an error its outcome is unknown until the next call.
    pub(super) fn change<T>(
        &self,
        mut change: impl FnMut(&mut State) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if !self.files.is_writer {
            return Err(Error::ReadOnly);
        }
        let mut state = self.state.lock();
        let _lock = FileLock::take(&self.files)?;
        *state = None;
        let outcome = self.attempt(&mut change);
        scrub_stack();
        match outcome {
            Err(error) if error.is_full() => {
                self.files.ballast.release(&*self.files.disk)?;
                self.attempt(&mut change)
            }
            outcome => outcome,
        }
    }

    fn attempt<T>(
        &self,
        change: &mut impl FnMut(&mut State) -> Result<T, Error>,
    ) -> Result<T, Error> {
        copy::restore(&self.files)?;
        let file = database_file(&self.files, OpenMode::Write)?;
        let header = backend::header(&*file)?;
        let outcome =
            guarded(|| change(&mut State::new(&self.files, backend::open(file)?, header)?));
        // Also after an error, which may have followed the commit.
        copy::renew(&self.files);
        outcome
    }

    /// Wipes the root from memory. It is read again when it is needed.
    pub(crate) fn close(&self) {
        *self.state.lock() = None;
    }
}

impl State {
    /// Reads the row about an open database, and keeps the one root that opens the others (the end of
    /// an interrupted swap).
    fn new(files: &VaultFiles, database: OpenDatabase, header: Header) -> Result<Self, Error> {
        let meta = Self::meta_of(files, &database)?;
        let epoch = meta.epoch;
        let mut roots = files.root.read()?.into_iter();
        let root = roots.find(|root| root.epoch == epoch);
        let root = root.ok_or(Error::RootMissing { epoch })?;
        // Of several who read, each writes the same where anything is left to be done.
        if files.is_writer {
            files.root.keep_only(epoch)?;
        }
        Ok(Self {
            database,
            root,
            meta,
            header,
            copy: Standing::Missing,
        })
    }

    /// Opens a database to be read, or the copy that stands in for one that is not what was written.
    fn to_read(files: &VaultFiles, file: Arc<dyn DiskFile>, header: Header) -> Result<Self, Error> {
        let copy = copy::standing(files)?;
        let file = match &copy {
            Standing::StandsIn(copy) => Arc::clone(copy),
            Standing::Current | Standing::Missing => file,
        };
        Ok(Self {
            copy,
            ..Self::new(files, backend::open_to_read(file)?, header)?
        })
    }

    /// Opens the database to be read, with the row about it.
    #[cfg(feature = "interchange")]
    pub(super) fn open_database(files: &VaultFiles) -> Result<(OpenDatabase, Meta), Error> {
        let database = backend::open_to_read(database_file(files, OpenMode::Read)?)?;
        let meta = Self::meta_of(files, &database)?;
        Ok((database, meta))
    }

    fn meta_of(files: &VaultFiles, database: &Database) -> Result<Meta, Error> {
        let txn = database.begin_read().or_fail()?;
        let meta = tables::read_meta(&txn)?;
        drop(txn);
        if meta.store != files.store {
            return Err(damaged("it is the vault of another store"));
        }
        Ok(meta)
    }

    /// Returns the keys that open the rows.
    pub(super) fn keys<'m>(&self, master: &'m MasterKey) -> Result<Keys<'m>, Error> {
        check_master(master, &self.meta)?;
        Ok(Keys::new(master, &self.root, &self.meta))
    }

    /// Checks that the master key is the vault's.
    pub(super) fn check(&self, master: &MasterKey) -> Result<(), Error> {
        check_master(master, &self.meta)
    }

    pub(super) fn begin(&self) -> Result<WriteTransaction, Error> {
        begin(&self.database)
    }
}

fn database_file(files: &VaultFiles, mode: OpenMode) -> Result<Arc<dyn DiskFile>, Error> {
    let file = files.disk.open(DATABASE, mode);
    file.map_err(|source| Error::io("open", DATABASE, source))
}

/// Every commit is durable in two phases: one phase rests on a checksum that can be forged.
fn begin(database: &Database) -> Result<WriteTransaction, Error> {
    let mut txn = database.begin_write().or_fail()?;
    txn.set_two_phase_commit(true);
    tables::count_change(&txn)?;
    Ok(txn)
}

pub(super) fn check_master(master: &MasterKey, meta: &Meta) -> Result<(), Error> {
    match master.is_of(&meta.store, &meta.key_check) {
        true => Ok(()),
        false => Err(Error::MasterKey),
    }
}

pub(super) fn exists(disk: &dyn Disk, name: &str) -> Result<bool, Error> {
    match disk.open(name, OpenMode::Read) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io("open", name, error)),
    }
}

/// Writes root and database; the renaming of the database makes them a vault. redb cannot open a
/// file whose creation was interrupted, so it never has the final name.
fn write_first(
    files: &VaultFiles,
    meta: &Meta,
    master: &MasterKey,
    root: &Root,
) -> Result<(), Error> {
    let disk = &*files.disk;
    let file = (|| {
        disk.create_folder(FOLDER)?;
        disk.sync_folder("")?;
        match disk.remove(TEMPORARY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        let file = disk.create(TEMPORARY)?;
        disk.sync_folder(FOLDER)?;
        Ok(file)
    })();
    let failed = |source| Error::io("create", DATABASE, source);
    let file = file.map_err(failed)?;
    files.root.stage(root)?;
    files.root.keep_only(root.epoch)?;
    let database = backend::open(Arc::clone(&file))?;
    let txn = begin(&database)?;
    tables::write_meta(&txn, meta)?;
    {
        let keys = Keys::new(master, root, meta);
        let mut buckets = txn.open_table(BUCKETS).or_fail()?;
        for bucket in 0..meta.buckets() {
            let key = Secret::draw(&*files.random)?;
            let sealed = keys.seal_bucket(&*files.random, bucket, &key)?;
            buckets.insert(bucket, &*sealed).or_fail()?;
        }
        txn.open_table(SLOTS).or_fail()?;
        txn.open_table(ERASED).or_fail()?;
        txn.open_table(RETAINED).or_fail()?;
    }
    txn.commit().or_fail()?;
    drop(database);
    let name = || {
        file.sync()?;
        disk.rename(TEMPORARY, DATABASE)?;
        disk.sync_folder(FOLDER)
    };
    name().map_err(failed)
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault")
    }
}

const FIRST_EPOCH: u64 = 1;

/// 16 buckets.
const FIRST_BITS: u8 = 4;

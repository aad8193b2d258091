//! The second copy of the database, `vault/copy`: a file that rots costs no key.
//!
//! It is written after every change, and its sum tells whether the database is what was written, before
//! redb sees it. It opens with the root of its epoch alone, so that a copy from before an erasure opens
//! nothing; and it stands in for the database only if no other root is there.

use std::io;
use std::sync::Arc;

use redb::ReadableDatabase;
use sha2::{Digest, Sha256};

use crate::ledger::{Disk, DiskFile, MemoryDisk, OpenMode};
use crate::vault::error::{OrFail, damaged, guarded};
use crate::vault::{Error, VaultFiles};

use super::backend::{self, OpenDatabase};
use super::tables;
use super::{DATABASE, FOLDER, TEMPORARY};

/// The head of the copy.
struct Head {
    /// The number of changes of the database, which an older program does not count.
    changes: u64,
    /// SHA-256 over this number and the database.
    sum: [u8; 32],
}

impl Head {
    fn of(changes: u64, database: &[u8]) -> Self {
        let sum = Sha256::new().chain_update(changes.to_be_bytes());
        let sum = sum.chain_update(database).finalize().into();
        Self { changes, sum }
    }

    fn is_of(&self, database: &[u8]) -> bool {
        Self::of(self.changes, database).sum == self.sum
    }

    fn encode(&self) -> Vec<u8> {
        [&MAGIC[..], &self.changes.to_be_bytes(), &self.sum].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk()?;
        let (changes, sum) = rest.split_first_chunk()?;
        (*magic == MAGIC).then_some(())?;
        Some(Self {
            changes: u64::from_be_bytes(*changes),
            sum: sum.try_into().ok()?,
        })
    }
}

/// How the copy stands to the database.
pub(crate) enum Standing {
    /// It is of the database as it is.
    Current,
    /// There is none of the database as it is.
    Missing,
    /// Its content stands in for the database, which is not what was written.
    StandsIn(Arc<dyn DiskFile>),
}

/// Compares the database with its copy, reading it whole.
///
/// # Errors
/// Storage errors.
pub(crate) fn standing(files: &VaultFiles) -> Result<Standing, Error> {
    let (Some(head), Some(database)) = (head(files)?, open_file(files, DATABASE)?) else {
        return Ok(Standing::Missing);
    };
    if head.is_of(&content(&*database)?) {
        return Ok(Standing::Current);
    }
    // A change whose copy a crash prevented, or that an older program made, is no rot.
    if guarded(|| changes_of(database)).is_ok_and(|changes| changes >= head.changes) {
        return Ok(Standing::Missing);
    }
    let Some(copy) = open_file(files, COPY)? else {
        return Ok(Standing::Missing);
    };
    let whole = content(&*copy)?;
    let database = whole.get(HEAD_LEN..).unwrap_or_default();
    if !head.is_of(database) {
        return Ok(Standing::Missing);
    }
    let file = MemoryDisk::default().create("copy");
    let file = file.and_then(|file| file.write_at(database, 0).map(|()| file));
    let file = file.map_err(|source| Error::io("read", COPY, source))?;
    let epoch = guarded(|| {
        let database = backend::open_to_read(Arc::clone(&file))?;
        let txn = database.begin_read().or_fail()?;
        Ok(tables::read_meta(&txn)?.epoch)
    })?;
    // With a later root the copy is from before a swap: it would bring an erased person back.
    let newest = files.root.read()?.into_iter().map(|root| root.epoch).max();
    Ok(match newest == Some(epoch) {
        true => Standing::StandsIn(file),
        false => Standing::Missing,
    })
}

/// Puts the copy in the place of a database that is not what was written. For the process that has the
/// files alone.
///
/// # Errors
/// Storage errors.
pub(crate) fn restore(files: &VaultFiles) -> Result<(), Error> {
    let Standing::StandsIn(copy) = standing(files)? else {
        return Ok(());
    };
    tracing::warn!("the database of the vault is not what was written: its copy takes its place");
    replace(&*files.disk, TEMPORARY, DATABASE, &[&content(&*copy)?])
}

/// Copies a database that is sound. For the process that has the files alone. Without the copy, a failure
/// is none of the vault: an older one goes, since it lacks what was changed.
pub(crate) fn renew(files: &VaultFiles) {
    if let Err(error) = guarded(|| write(files)) {
        tracing::warn!(%error, "the database of the vault has no copy");
        // A copy that stays is older than the database, which tells by its number of changes.
        drop(files.disk.remove(COPY));
    }
}

fn write(files: &VaultFiles) -> Result<(), Error> {
    let Some(database) = open_file(files, DATABASE)? else {
        return Ok(());
    };
    let bytes = content(&*database)?;
    if head(files)?.is_some_and(|head| head.is_of(&bytes)) {
        return Ok(());
    }
    if bytes.len() > COPIED_MAX {
        let source = io::Error::from(io::ErrorKind::FileTooLarge);
        return Err(Error::io("copy", DATABASE, source));
    }
    let head = Head::of(changes_of(database)?, &bytes);
    replace(&*files.disk, NEW, COPY, &[&head.encode(), &bytes])
}

/// Replaces a file by another, which is durable before it has the name.
fn replace(disk: &dyn Disk, new: &str, name: &str, parts: &[&[u8]]) -> Result<(), Error> {
    let write = || {
        match disk.remove(new) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        let file = disk.create(new)?;
        file.write_at(&parts.concat(), 0)?;
        file.sync()?;
        disk.rename(new, name)?;
        disk.sync_folder(FOLDER)
    };
    write().map_err(|source| Error::io("write", name, source))
}

/// Returns the number of changes of a database whose pages are all what redb wrote.
fn changes_of(file: Arc<dyn DiskFile>) -> Result<u64, Error> {
    let mut database: OpenDatabase = backend::open_to_read(file)?;
    if !database.check_integrity().or_fail()? {
        return Err(damaged("a page is not what was written"));
    }
    tables::changes(&database)
}

fn head(files: &VaultFiles) -> Result<Option<Head>, Error> {
    let Some(copy) = open_file(files, COPY)? else {
        return Ok(None);
    };
    let mut bytes = [0; HEAD_LEN];
    match copy.read_at(&mut bytes, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        read => {
            read.map_err(|source| Error::io("read", COPY, source))?;
            Ok(Head::decode(&bytes))
        }
    }
}

fn open_file(files: &VaultFiles, name: &str) -> Result<Option<Arc<dyn DiskFile>>, Error> {
    match files.disk.open(name, OpenMode::Read) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("open", name, error)),
    }
}

fn content(file: &dyn DiskFile) -> Result<Vec<u8>, Error> {
    let read = || {
        let len = usize::try_from(file.len_bytes()?).map_err(io::Error::other)?;
        let mut bytes = vec![0; len];
        file.read_at(&mut bytes, 0)?;
        Ok(bytes)
    };
    read().map_err(|source| Error::io("read", DATABASE, source))
}

const COPY: &str = "vault/copy";
const NEW: &str = "vault/copy.new";
const MAGIC: [u8; 4] = *b"GSV1";
const HEAD_LEN: usize = 4 + 8 + 32;

/// The keys of some hundred thousand persons. A longer database has no copy: it would be read whole at
/// every change.
const COPIED_MAX: usize = 64 << 20;

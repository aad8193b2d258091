//! The mark of a directory that is the cache of a shared ledger: opened as a store of its own, it would
//! get entries that the ledger does not have.

use std::io;

use crate::ledger::{self, Disk};
use crate::store::Error;

/// Marks a directory as a cache, before there is a store in it.
///
/// # Errors
/// Storage errors.
pub(crate) fn mark_cache(disk: &dyn Disk) -> Result<(), Error> {
    let failed = |source| ledger::Error::io("create", CACHES, source);
    disk.create_folder(FOLDER).map_err(failed)?;
    match disk.create(CACHES) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => drop(created.map_err(failed)?),
    }
    disk.sync_folder(FOLDER).map_err(failed)?;
    Ok(disk.sync_folder("").map_err(failed)?)
}

/// Refuses a cache that is opened without its sequence, and another store that is opened with one.
///
/// # Errors
/// `ERR_STORAGE_READ_ONLY`; `ERR_STORAGE_IO`.
pub(crate) fn authorize_cache(disk: &dyn Disk, has_sequence: bool) -> Result<(), Error> {
    let is_cache = match disk.exists(CACHES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        found => found.map_err(|source| ledger::Error::io("look for", CACHES, source))?,
    };
    let reason = match (is_cache, has_sequence) {
        (true, false) => "it is the cache of a shared ledger; open it by the address of that",
        (false, true) => "it is a store of its own, and no cache of a shared ledger",
        (true, true) | (false, false) => return Ok(()),
    };
    Err(ledger::Error::ReadOnly {
        action: "write",
        name: "the folder".to_owned(),
        source: io::Error::other(reason),
    }
    .into())
}

const FOLDER: &str = "replica";
/// There while the folder is a cache.
const CACHES: &str = "replica/CACHES";

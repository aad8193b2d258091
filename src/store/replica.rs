//! The doors for a copy of the ledger elsewhere: reading a store's ledger beside its writers, and
//! writing a directory that is brought after it.
//!
//! Both work on files alone. A source takes no lock; a copy is held by `WRITER`, so no other process
//! appends to it meanwhile.

use std::path::Path;
use std::sync::Arc;

use crate::ledger::{
    self, Disk, EntryId, FileDisk, Ledger, LedgerPosition, Lock, StoreId, Stretch,
};
use crate::store::engine::{WRITER, no_manifest, prepare_folder, refuse_planted, this_process};
use crate::store::records::{Manifest, erased_rows};
use crate::store::{Create, Error};

/// Opens the directory of a store for its ledger to be read, and returns its disk, and the bytes of its
/// `MANIFEST`, without which no copy is a store.
///
/// # Errors
/// `ERR_NOT_A_STORE`, `ERR_STORAGE_DAMAGED`, `ERR_STORE_VERSION`, `ERR_STORAGE_IO`.
pub fn open_source(path: &Path) -> Result<(FileDisk, Vec<u8>), Error> {
    prepare_folder(path, Create::Never)?;
    let disk = FileDisk::new(path);
    refuse_planted(&disk, path)?;
    let manifest = Manifest::read(&disk, path)?.ok_or_else(|| no_manifest(path))?;
    Ok((disk, manifest.to_json().into_bytes()))
}

/// Returns the id in the bytes of a `MANIFEST`.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED`, `ERR_STORE_VERSION`.
pub fn id_in(manifest: &[u8]) -> Result<StoreId, Error> {
    Ok(Manifest::parse(manifest)?.store_id)
}

/// Returns the position before the first entry of a ledger.
pub fn beginning(store_id: &StoreId) -> LedgerPosition {
    ledger::beginning(store_id)
}

/// Returns up to where the ledger is durable.
///
/// # Errors
/// `ERR_STORAGE_IO`; `ERR_STORAGE_DAMAGED`.
pub fn durable_end(disk: &Arc<dyn Disk>, store_id: StoreId) -> Result<LedgerPosition, Error> {
    Ok(ledger::published_end(disk, store_id, erased_rows)?)
}

/// Reads the frames from a position on, up to `until` or the end of a segment: of at most `max`
/// bytes, but at least one frame.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED` if no frame continues the position; `ERR_STORE_VERSION`, `ERR_STORAGE_IO`.
pub fn read_stretch(
    disk: &dyn Disk,
    store_id: &StoreId,
    from: LedgerPosition,
    until: LedgerPosition,
    max: usize,
) -> Result<Stretch, Error> {
    let read = ledger::read_stretch(disk, store_id, from, until, max, erased_rows);
    Ok(read?)
}

/// Proves bytes that came from a copy: whole frames that continue the chain at a position.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED`, `ERR_STORE_VERSION`.
pub fn prove_stretch(
    bytes: Vec<u8>,
    from: LedgerPosition,
    store_id: &StoreId,
) -> Result<Stretch, Error> {
    Ok(Stretch::prove(bytes, from, store_id, erased_rows)?)
}

/// Opens the directory of a copy, or creates it with this `MANIFEST`, for frames to be appended:
/// with [`Ledger::append_stretch`], and [`Ledger::publish`] where all is proven. The lock keeps other
/// processes from writing it. Between the two are the entries whose bodies are not what was written, and
/// that no erasure lists yet.
///
/// # Errors
/// `ERR_BACKUP_DIVERGED` for the directory of another store; `ERR_NOT_A_STORE` if it holds other
/// files; `ERR_STORE_LOCKED`; storage errors.
pub fn open_copy(path: &Path, manifest: &[u8]) -> Result<(Ledger, Vec<EntryId>, Lock), Error> {
    let manifest = Manifest::parse(manifest)?;
    prepare_folder(path, Create::IfMissing)?;
    let disk = FileDisk::new(path);
    refuse_planted(&disk, path)?;
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let lock = Lock::take(&*disk, WRITER, &this_process())?;
    let (ledger, unproven) = match Manifest::read(&*disk, path)? {
        Some(found) if found != manifest => {
            return Err(Error::OtherStore {
                path: path.to_owned(),
            });
        }
        Some(_) => {
            let opened = Ledger::open_copy(Arc::clone(&disk), manifest.store_id, erased_rows)?;
            // The copy has them again from where it comes, and they may hold what is erased there.
            opened.0.remove_torn_files()?;
            opened
        }
        None => {
            let options = ledger::LedgerOptions::default();
            let ledger = Ledger::create(Arc::clone(&disk), manifest.store_id, options)?;
            manifest.write(&*disk)?;
            (ledger, Vec::new())
        }
    };
    Ok((ledger, unproven, lock))
}

//! The doors for a copy of the ledger elsewhere: reading a store's ledger beside its writers, and
//! writing a directory that is brought after it.
//!
//! Both work on files alone. A source takes no lock; a copy is held by `WRITER`, so no other process
//! appends to it meanwhile.

use std::path::Path;
use std::sync::Arc;

use grainstore_shared::{Appended, Head, Identity, Node, Proposal, Sequence};

use crate::ledger::{
    self, Disk, EntryId, FileDisk, Ledger, LedgerPosition, Lock, StoreId, Stretch, head_at,
};
use crate::store::engine::{
    WRITER, no_manifest, prepare_folder, pull_all, refuse_planted, this_process,
};
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
            let segment_bytes = ledger::SEGMENT_BYTES;
            let ledger = Ledger::create(Arc::clone(&disk), manifest.store_id, segment_bytes)?;
            manifest.write(&*disk)?;
            (ledger, Vec::new())
        }
    };
    Ok((ledger, unproven, lock))
}

/// Begins the shared sequence of a store; returns that of another which came first.
///
/// # Errors
/// `ERR_UNREACHABLE`, `ERR_STORAGE_IO`; `ERR_STORAGE_DAMAGED` for bytes that are no `MANIFEST`.
pub fn begin_shared(sequence: &dyn Sequence, manifest: &[u8]) -> Result<Identity, Error> {
    let store_id = id_in(manifest)?;
    let identity = Identity {
        store: *store_id.as_bytes(),
        manifest: manifest.to_vec(),
        origin: head_at(&beginning(&store_id)),
        bodies: None,
    };
    if sequence.create(&identity).map_err(ledger::Error::from)? {
        return Ok(identity);
    }
    let missing = grainstore_shared::Error::refused("the store is there under another name");
    Ok(shared_identity(sequence)?.ok_or(ledger::Error::from(missing))?)
}

/// Returns the store that a shared sequence is of; `None` while there is none.
///
/// # Errors
/// `ERR_UNREACHABLE`; `ERR_STORAGE_IO`, also for a sequence whose long frames lie where it does not read them.
pub(in crate::store) fn shared_identity(
    sequence: &dyn Sequence,
) -> Result<Option<Identity>, ledger::Error> {
    let identity = sequence.identity()?;
    let bodies = identity.as_ref().and_then(|found| found.bodies.as_deref());
    match bodies {
        None => Ok(identity),
        Some(url) => {
            let reason = format!("its bodies lie in {url}, and this program reads none there");
            Err(grainstore_shared::Error::refused(reason).into())
        }
    }
}

/// Brings a directory to the head of a shared sequence, from nothing if it is new.
///
/// # Errors
/// As [`open_copy`]; `ERR_UNREACHABLE`; `ERR_BACKUP_DIVERGED` if the sequence does not continue the ledger of
/// the directory.
pub fn fold(sequence: &dyn Sequence, identity: &Identity, path: &Path) -> Result<(), Error> {
    let store_id = id_in(&identity.manifest)?;
    let (ledger, unproven, _lock) = open_copy(path, &identity.manifest)?;
    let head = sequence.head().map_err(ledger::Error::from)?;
    pull_all(sequence, &ledger, store_id, head, unproven, || ())
}

/// Ships the ledger of a directory to a shared sequence, addresses and chain unchanged: one that is new, or
/// that holds the beginning of the same. Returns the number of entries that were added.
///
/// # Errors
/// `ERR_BACKUP_DIVERGED` if the sequence is of another store or of another history; `ERR_STORE_LOCKED` while
/// machines write to it; `ERR_UNREACHABLE`, after which it may be begun again; storage errors.
pub fn share(path: &Path, sequence: &dyn Sequence, node: Node) -> Result<u64, Error> {
    let (disk, manifest) = open_source(path)?;
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let _lock = Lock::take(&*disk, WRITER, &this_process())?;
    let identity = begin_shared(sequence, &manifest)?;
    if Manifest::parse(&identity.manifest)? != Manifest::parse(&manifest)? {
        return Err(Error::OtherStore {
            path: path.to_owned(),
        });
    }
    let store_id = id_in(&manifest)?;
    let there = sequence.head().map_err(ledger::Error::from)?;
    let until = durable_end(&disk, store_id)?;
    let mut at = beginning(&store_id);
    while at.entries < until.entries {
        let is_there = at.entries < there.entries;
        let max = if is_there { AT_ONCE } else { 1 };
        let stretch = read_stretch(&*disk, &store_id, at, until, max)?;
        if stretch.to.entries > there.entries.max(at.entries) && is_there {
            // The end of what is there lies inside: it is looked for frame by frame.
            at = each_frame(&*disk, &store_id, at, until, there)?;
            continue;
        }
        if !is_there {
            offer(sequence, node, &stretch)?;
        }
        at = stretch.to;
        require_same(head_at(&at), there)?;
    }
    require_same(head_at(&at), there)?;
    match at.entries < there.entries {
        true => Err(differs(at.entries, there).into()),
        false => Ok(until.entries.saturating_sub(there.entries)),
    }
}

/// Follows the frames of a ledger one by one to the head of a sequence.
fn each_frame(
    disk: &dyn Disk,
    store_id: &StoreId,
    from: LedgerPosition,
    until: LedgerPosition,
    there: Head,
) -> Result<LedgerPosition, Error> {
    let mut at = from;
    while at.entries < there.entries {
        at = read_stretch(disk, store_id, at, until, 1)?.to;
    }
    match head_at(&at) == there {
        true => Ok(at),
        false => Err(differs(at.entries, there).into()),
    }
}

fn require_same(here: Head, there: Head) -> Result<(), Error> {
    match here.entries == there.entries && here != there {
        true => Err(differs(here.entries, there).into()),
        false => Ok(()),
    }
}

fn differs(here: u64, there: Head) -> ledger::Error {
    ledger::Error::SharedDiffers {
        here,
        there: there.entries,
    }
}

fn offer(sequence: &dyn Sequence, node: Node, stretch: &Stretch) -> Result<(), Error> {
    let proposal = Proposal {
        node,
        expected: head_at(&stretch.from),
        frame: stretch.bytes(),
        end: head_at(&stretch.to),
    };
    match sequence.append(&proposal).map_err(ledger::Error::from)? {
        Appended::Yes => Ok(()),
        Appended::No => {
            let holder = Some("another machine, which writes the shared ledger".to_owned());
            Err(ledger::Error::Locked { holder }.into())
        }
    }
}

/// The bytes of a ledger that are read at once.
const AT_ONCE: usize = 4 << 20;

//! The root as an escrow copy carries it: one record of 68 bytes (docs/format.md, "The vault"), which
//! is handed out encrypted and brings a lost root back.

use zeroize::Zeroizing;

use crate::crypto::{KeySource, MasterKey};
use crate::vault::error::damaged;
use crate::vault::error::guarded;
use crate::vault::file::DATABASE;
use crate::vault::file::lock::FileLock;
use crate::vault::file::tables;
use crate::vault::instance::{State, check_master, exists};
use crate::vault::{Error, Vault, VaultFiles};

use super::record;

/// Returns the epoch and the record of the root. With the master key it opens every copy of the
/// database of this epoch.
///
/// # Errors
/// `ERR_MASTER_KEY`; storage errors.
pub(crate) fn root_copy(
    vault: &Vault,
    master: &MasterKey,
) -> Result<(u64, Zeroizing<Vec<u8>>), Error> {
    vault.read(|state| {
        state.check(master)?;
        let copy = record::encode(&vault.files.store, &state.root);
        Ok((state.root.epoch, copy))
    })
}

/// Puts a copy of the root where the root is missing, if it opens the database; returns its epoch.
/// `told` is the last epoch that the ledger tells of.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED` without the database; `ERR_ROOT_MISSING` for a copy that does not open it,
/// and nothing is changed; `ERR_MASTER_KEY`, `ERR_KEY`; storage errors.
pub(crate) fn restore_root(
    files: &VaultFiles,
    source: &KeySource,
    copy: &[u8],
    told: u64,
) -> Result<u64, Error> {
    if !exists(&*files.disk, DATABASE)? {
        return Err(Error::DatabaseMissing);
    }
    let _lock = FileLock::take(files)?;
    let root = record::decode(&files.store, copy);
    let root = root.ok_or(Error::NoCopy)?;
    let (database, meta) = guarded(|| State::open_database(files))?;
    let master = source.master_key(meta.passphrase.as_ref())?;
    check_master(&master, &meta)?;
    let epoch = meta.epoch;
    if epoch < told {
        return Err(Error::OldCopy { epoch, told });
    }
    if root.epoch != epoch {
        return Err(Error::StaleCopy {
            copy: root.epoch,
            epoch,
        });
    }
    if !guarded(|| tables::opens(&database, &master, &root, &meta))? {
        return Err(damaged("the key of a bucket does not open"));
    }
    drop(database);
    files.root.stage(&root)?;
    files.root.keep_only(root.epoch)?;
    Ok(root.epoch)
}

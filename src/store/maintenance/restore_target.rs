//! The directory that a store is restored into: new, empty, or with the files of an earlier restore
//! of the same store that was interrupted.
//!
//! `MANIFEST.new` tells such files from others: it is durable before the first segment is created,
//! and renamed to `MANIFEST` after the last byte. Files are removed by the names that a restore
//! gives, and only if there are no others.

use std::path::Path;

use crate::ledger::{self, Disk, END, Ledger, Lock};
use crate::store::Error;
use crate::store::engine::{LOCK, create_private, this_process};
use crate::store::records::{Announced, COPY, MANIFEST, Manifest, TEMPORARY};

pub(super) struct RestoreTarget<'a> {
    pub(super) path: &'a Path,
    pub(super) disk: &'a dyn Disk,
    /// The manifest of the restored store, which keeps its identity.
    pub(super) manifest: &'a Manifest,
}

impl RestoreTarget<'_> {
    /// Makes the directory ready for the segments, and announces its manifest.
    ///
    /// # Errors
    /// `ERR_STORE_EXISTS`, `ERR_NOT_A_STORE`, `ERR_STORE_LOCKED` while another restore writes to
    /// it, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub(super) fn prepare(&self) -> Result<Lock, Error> {
        if !self.path.exists() {
            create_private(self.path).map_err(|error| self.refused(error.to_string()))?;
        }
        // Nothing is created in a directory that is refused.
        self.look()?;
        let lock = Lock::take(self.disk, LOCK, &this_process())?;
        // Another process may have changed it before this one had the lock.
        self.look()?;
        Ledger::remove_segments(self.disk)?;
        self.manifest.announce(self.disk)?;
        let synced = self.disk.sync_folder("");
        synced.map_err(|source| ledger::Error::io("sync", "the folder", source))?;
        Ok(lock)
    }

    /// Refuses a directory that holds anything but an unfinished restore of this store.
    fn look(&self) -> Result<(), Error> {
        let failed = |error: std::io::Error| self.refused(error.to_string());
        if [MANIFEST, COPY]
            .iter()
            .any(|name| self.path.join(name).exists())
        {
            return Err(Error::Exists {
                path: self.path.to_owned(),
            });
        }
        let mut has_ledger = false;
        for item in self.path.read_dir().map_err(failed)? {
            let name = item.map_err(failed)?.file_name();
            has_ledger |= name == "ledger";
            // No backup has the vault: that of the lost store may be there already.
            let own = [LOCK, TEMPORARY, END, "ledger", VAULT];
            if !own.iter().any(|own| name == *own) {
                return Err(self.refused(EMPTY.into()));
            }
        }
        let is_own = match self.manifest.announced(self.disk)? {
            // No segment is created before the whole of it is durable.
            Some(Announced::Partly) => !has_ledger,
            Some(Announced::Wholly) => !has_ledger || Ledger::holds_segments_only(self.disk)?,
            None => false,
        };
        is_own
            .then_some(())
            .ok_or_else(|| self.refused(EMPTY.into()))
    }

    fn refused(&self, reason: String) -> Error {
        Error::NotAStore {
            path: self.path.to_owned(),
            reason,
        }
    }
}

const EMPTY: &str = "a store is restored into a directory that is empty but for vault/";
const VAULT: &str = "vault";

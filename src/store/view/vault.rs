//! The vault as a decision may ask it: opened at its first use, with the key from its source.
//!
//! The ledger says whether there is a vault, so a store without one looks for no file.

use std::sync::Arc;
use std::time::Duration;

use crate::crypto::{self, KeySource};
use crate::store::Error;
use crate::store::view::Core;
use crate::vault::{self, FileShredRoot, Medium, ShredRoot, Vault, VaultFiles};

impl Core {
    /// Returns the vault, which is opened at the first call; `None` if no person was ever added. Takes
    /// in no entry before: it is also asked while entries of others are applied.
    ///
    /// # Errors
    /// `ERR_ROOT_MISSING` without the root, or without the vault, which no backup has;
    /// `ERR_STORE_LOCKED` while another process uses it for longer than
    /// [`Options::lock_wait`](crate::store::Options::lock_wait); `ERR_STORAGE_DAMAGED`; storage errors.
    pub(crate) fn vault_as_applied(&self) -> Result<Option<Arc<Vault>>, Error> {
        // Before the vault is read: a swap is told after it.
        let (has_vault, told) = {
            let state = self.state_cell().read();
            (state.keys().has_vault(), state.keys().epoch())
        };
        if !has_vault {
            return Ok(None);
        }
        let mut cell = self.vault_cell().lock();
        if cell.is_none() {
            let opened = Vault::open(self.vault_files())?;
            let opened = opened.ok_or(vault::Error::Missing)?;
            let epoch = opened.epoch()?;
            if epoch < told {
                return Err(vault::Error::OldCopy { epoch, told }.into());
            }
            *cell = Some(Arc::new(opened));
        }
        let options = self.options();
        if let (Some(vault), Some(ttl)) = (&*cell, options.unlock_ttl) {
            vault.expire(options.clock.monotonic(), ttl);
        }
        Ok(cell.clone())
    }

    pub(crate) fn key_source(&self) -> Result<&KeySource, Error> {
        let source = self.options().master_key.as_deref();
        let missing = || crypto::Error::KeySource {
            reason: "the store was opened without a source of it".to_owned(),
        };
        Ok(source.ok_or_else(missing)?)
    }

    /// Returns the file system of the root; `None` where it is unknown, and of a root that lies
    /// elsewhere.
    pub(crate) fn root_medium(&self) -> Option<Medium> {
        if self.options().shred_root.is_some() {
            return None;
        }
        Medium::of(&self.disk().file_system_path(ROOT)?)
    }

    pub(crate) fn vault_files(&self) -> VaultFiles {
        let options = self.options();
        let disk = Arc::clone(self.disk_handle());
        let random = Arc::clone(&options.random);
        let elsewhere = options.shred_root.clone();
        let root = elsewhere.unwrap_or_else(|| -> Arc<dyn ShredRoot> {
            let (disk, random) = (Arc::clone(&disk), Arc::clone(&random));
            Arc::new(FileShredRoot::new(disk, ROOT, self.store_id(), random))
        });
        VaultFiles {
            disk,
            store: self.store_id(),
            root,
            random,
            ballast: self.ballast().clone(),
            is_writer: self.authorize_changes().is_ok(),
            lock_wait: options.lock_wait.max(VAULT_WAIT_MIN),
        }
    }
}

/// An operation takes milliseconds: it refuses no other process, not even one that would not wait for the
/// right to write.
const VAULT_WAIT_MIN: Duration = Duration::from_secs(1);

/// Where the root lies by default.
pub(crate) const ROOT: &str = "vault/root";

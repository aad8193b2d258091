//! Opening the vault of a store, creating it, and the master key from its source.
//!
//! The ledger says whether there is a vault, so a store without one looks for no file. Of vault and
//! commit queue the queue is taken first: a person's keys are asked for while entries are written.

use std::sync::Arc;

use crate::crypto::{self, KeySource, MasterKey};
use crate::store::Error;
use crate::store::instance::Inner;
use crate::vault::{self, FileShredRoot, Medium, ShredRoot, Vault, VaultFiles};

impl Inner {
    /// Returns the vault, which is opened at the first call; `None` if no person was ever added.
    ///
    /// # Errors
    /// `ERR_ROOT_MISSING` without the root, or without the vault, which no backup has;
    /// `ERR_STORAGE_READ_ONLY` of a store opened for reading; `ERR_STORAGE_DAMAGED`; storage errors.
    pub(crate) fn vault(&self) -> Result<Option<Arc<Vault>>, Error> {
        if !self.state().keys().has_vault() {
            return Ok(None);
        }
        let mut cell = self.vault_cell().lock();
        if cell.is_none() {
            let opened = Vault::open(self.vault_files()?)?;
            let opened = opened.ok_or(vault::Error::Missing)?;
            let (epoch, told) = (opened.epoch()?, self.state().keys().epoch());
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

    /// Returns the vault with the master key, and creates it if no person was ever added.
    ///
    /// # Errors
    /// As [`Inner::vault`] and [`Inner::master_key`].
    pub(super) fn vault_or_new(&self) -> Result<(Arc<Vault>, MasterKey), Error> {
        if let Some(vault) = self.vault()? {
            let master = vault.master_key(self.key_source()?)?;
            return Ok((vault, master));
        }
        let source = self.key_source()?;
        let mut cell = self.vault_cell().lock();
        // A crash may have left one, of which no entry tells yet.
        let (vault, master) = match Vault::open(self.vault_files()?)? {
            Some(vault) => {
                let master = vault.master_key(source)?;
                (vault, master)
            }
            None => Vault::create(self.vault_files()?, source)?,
        };
        let vault = Arc::new(vault);
        *cell = Some(Arc::clone(&vault));
        Ok((vault, master))
    }

    /// Returns the master key, asked from its source. The caller drops it after use.
    ///
    /// # Errors
    /// `ERR_KEY` without a source, or of one that has no key; `ERR_MASTER_KEY` of another key;
    /// `ERR_USER_UNKNOWN` of a store without a vault; as [`Inner::vault`].
    pub(crate) fn master_key(&self) -> Result<MasterKey, Error> {
        let vault = self.vault()?.ok_or(vault::Error::NoVault)?;
        Ok(vault.master_key(self.key_source()?)?)
    }

    pub(super) fn key_source(&self) -> Result<&KeySource, Error> {
        let source = self.options().master_key.as_deref();
        let missing = || crypto::Error::KeySource {
            reason: "the store was opened without a source of it".to_owned(),
        };
        Ok(source.ok_or_else(missing)?)
    }

    /// Returns the file system of the root; `None` where it is unknown, and of a root that lies
    /// elsewhere.
    pub(super) fn root_medium(&self) -> Option<Medium> {
        if self.options().shred_root.is_some() {
            return None;
        }
        Medium::of(&self.disk().file_system_path(ROOT)?)
    }

    /// # Errors
    /// `ERR_STORAGE_READ_ONLY` of a store opened for reading: opening a vault completes the swap of its
    /// root, and the process that writes the store may be inside one.
    pub(super) fn vault_files(&self) -> Result<VaultFiles, Error> {
        // One process has the vault open: the one that keeps the derived files.
        if !self.is_keeper() {
            return Err(vault::Error::ReadOnly.into());
        }
        let options = self.options();
        let disk = Arc::clone(self.disk_handle());
        let random = Arc::clone(&options.random);
        let elsewhere = options.shred_root.clone();
        let root = elsewhere.unwrap_or_else(|| -> Arc<dyn ShredRoot> {
            let (disk, random) = (Arc::clone(&disk), Arc::clone(&random));
            Arc::new(FileShredRoot::new(disk, ROOT, self.store_id(), random))
        });
        Ok(VaultFiles {
            disk,
            store: self.store_id(),
            root,
            random,
            ballast: self.ballast().clone(),
        })
    }
}

/// Where the root lies by default.
pub(super) const ROOT: &str = "vault/root";

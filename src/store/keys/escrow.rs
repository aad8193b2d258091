//! Escrow: encrypted copies of the root, each told in the ledger before it leaves the store.
//!
//! With the master key and an old copy of the vault a copy undoes the erasures that follow it, so
//! receipts list the copies that may still be there.

#[cfg(feature = "interchange")]
use std::io::{Read, Write};

#[cfg(any(feature = "interchange", feature = "signatures"))]
use crate::grain::Time;
#[cfg(feature = "interchange")]
use crate::interchange::{self, Decryption, Encryption};
#[cfg(feature = "interchange")]
use crate::store::engine::Caller;
#[cfg(feature = "signatures")]
use crate::store::engine::Engine;
#[cfg(feature = "interchange")]
use crate::store::records::{EscrowRecord, KeyEventRecord};
#[cfg(feature = "interchange")]
use crate::store::txn::Transaction;
#[cfg(feature = "interchange")]
use crate::store::{Error, keys::VaultAdmin};
#[cfg(feature = "interchange")]
use crate::vault;

#[cfg(feature = "interchange")]
use super::events::tell;
#[cfg(any(feature = "interchange", feature = "signatures"))]
use super::status::Escrow;

#[cfg(feature = "interchange")]
impl VaultAdmin<'_> {
    /// Makes a copy of the root for the holder of an age key (`age1…`), who is to destroy it by
    /// `until`. Returns the file, and what the ledger tells of it. The copy opens the vault until the
    /// next swap of the root: an erasure, [`VaultAdmin::rekey`], [`VaultAdmin::rotate`].
    ///
    /// # Errors
    /// `ERR_RECIPIENT`; `ERR_RANGE` for a time that has passed; `ERR_UNSUPPORTED` in a build without
    /// `encryption`; as [`VaultAdmin::rotate`].
    pub fn escrow(self, recipient: &str, until: Time) -> Result<(Escrow, Vec<u8>), Error> {
        let encryption = Encryption::to(&[recipient])?;
        if until <= self.0.now() {
            return Err(vault::Error::Ended.into());
        }
        self.change(|vault, master| {
            let (epoch, root) = vault::root_copy(vault, master)?;
            let mut id = [0; 16];
            self.0.random().fill(&mut id)?;
            let mut file = Vec::new();
            let mut encrypted = encryption.wrap(&mut file)?;
            encrypted
                .write_all(&root)
                .map_err(interchange::Error::from)?;
            encrypted.finish()?;
            let record = EscrowRecord {
                id,
                epoch,
                until,
                recipient: recipient.trim().to_owned(),
            };
            let made = (Escrow::from(&record), file);
            // Told before the caller has the copy.
            Ok((made, KeyEventRecord::Escrowed(record)))
        })
    }

    /// Puts the root back from an escrow copy, and returns its epoch.
    ///
    /// # Errors
    /// `ERR_ROOT_MISSING` for the copy of a root that was swapped since, and nothing is changed;
    /// `ERR_SEALED` if `secret` does not open the file; `ERR_CORRUPT` for a file that is no copy;
    /// `ERR_STORAGE_DAMAGED` without `vault/vault.redb`; `ERR_KEY`, `ERR_MASTER_KEY`; storage errors.
    pub fn restore_root(self, file: impl Read, secret: Option<&Decryption>) -> Result<u64, Error> {
        let engine = self.0;
        let copy = interchange::open_encrypted(file, secret)?;
        let copy = copy.ok_or(vault::Error::NoCopy)?;
        let mut txn = Transaction::begin(engine, Caller::default())?;
        engine.authorize_changes()?;
        let told = engine.state().keys().epoch();
        let mut cell = engine.vault_cell().lock();
        if cell.is_some() {
            return Err(vault::Error::Exists.into());
        }
        let files = engine.vault_files();
        let epoch = vault::restore_root(&files, engine.key_source()?, &copy, told)?;
        *cell = None;
        drop(cell);
        tell(&mut txn, KeyEventRecord::RootRestored { epoch })?;
        Ok(epoch)
    }
}

/// Returns the escrow copies whose time is not over at a moment, each with its end.
#[cfg(feature = "signatures")]
pub(crate) fn remaining_escrows(engine: &Engine, at: Time) -> Vec<(String, Time)> {
    let state = engine.state();
    let escrows = state.keys().escrows().iter();
    let remaining = escrows.filter(|escrow| escrow.until > at);
    let named = remaining.map(|escrow| (Escrow::from(escrow).name(), escrow.until));
    named.collect()
}

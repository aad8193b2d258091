//! Opening the vault of a store, creating it, and the master key from its source.
//!
//! The ledger says whether there is a vault, so a store without one looks for no file. Every process
//! that has the master key opens it, for one operation at a time; only those that write change it. Of
//! vault and commit queue the queue is taken first: a person's keys are asked for while entries are
//! written.

use std::sync::Arc;

use crate::crypto::MasterKey;
use crate::store::Error;
use crate::store::engine::instance::Engine;
use crate::store::view::Core;
use crate::vault::{self, Vault};

/// Takes in what others wrote, and returns the vault.
///
/// # Errors
/// As [`Core::vault_as_applied`](crate::store::view::Core::vault_as_applied).
pub(crate) fn vault_of(engine: &Engine) -> Result<Option<Arc<Vault>>, Error> {
    engine.follow();
    engine.vault_as_applied()
}

/// Returns the vault with the master key, and creates it if no person was ever added.
///
/// # Errors
/// As [`vault_of`] and [`master_key`].
pub(crate) fn vault_or_new(engine: &Engine) -> Result<(Arc<Vault>, MasterKey), Error> {
    if let Some(vault) = vault_of(engine)? {
        let master = vault.master_key(engine.key_source()?)?;
        return Ok((vault, master));
    }
    let source = engine.key_source()?;
    let mut cell = engine.vault_cell().lock();
    // A crash may have left one, of which no entry tells yet.
    let (vault, master) = match Vault::open(engine.vault_files())? {
        Some(vault) => {
            let master = vault.master_key(source)?;
            (vault, master)
        }
        None => Vault::create(engine.vault_files(), source)?,
    };
    let vault = Arc::new(vault);
    *cell = Some(Arc::clone(&vault));
    Ok((vault, master))
}

/// Returns the master key, asked from its source. The caller drops it after use.
///
/// # Errors
/// `ERR_KEY` without a source, or of one that has no key; `ERR_MASTER_KEY` of another key;
/// `ERR_USER_UNKNOWN` of a store without a vault; as [`vault_of`].
pub(crate) fn master_key(engine: &Engine) -> Result<MasterKey, Error> {
    let vault = vault_of(engine)?.ok_or(vault::Error::NoVault)?;
    Ok(vault.master_key(engine.key_source()?)?)
}

/// Returns whether the database of the vault is not what was written, and its copy stands in for it.
///
/// # Errors
/// None of a vault that does not open: [`vault_fault`] tells that.
pub(crate) fn is_vault_rotten(core: &Core) -> bool {
    let vault = core.vault_as_applied().ok().flatten();
    vault.is_some_and(|vault| vault.is_rotten().unwrap_or(false))
}

/// Returns what is wrong with the files of the vault; `None` for a sound one, and where it is not in
/// this folder at all, as with a backup. `all` opens every row, if the master key is here.
///
/// # Errors
/// Storage errors.
pub(crate) fn vault_fault(core: &Core, all: bool) -> Result<Option<vault::Error>, Error> {
    let check = || -> Result<(), Error> {
        let Some(vault) = core.vault_as_applied()? else {
            return Ok(());
        };
        // The number of persons is not compared: a recovered ledger may tell of fewer.
        if all && core.options().master_key.is_some() {
            vault.check(&vault.master_key(core.key_source()?)?)?;
        } else {
            vault.epoch()?;
        }
        Ok(())
    };
    match check() {
        Err(Error::Vault(fault)) if fault.is_damage() => Ok(Some(fault)),
        Err(error @ Error::Vault(vault::Error::Disk(_))) => Err(error),
        // Another key, or a vault that is busy or elsewhere, is no damage.
        _ => Ok(None),
    }
}

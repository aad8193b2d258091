//! Repair: the derived files are rebuilt from the ledger. The ledger itself is not repaired, but for
//! the effects of withdrawals that it lacks, which are recorded.

use std::path::Path;

use crate::store::engine::{Caller, Engine};
use crate::store::records::Record;
use crate::store::txn::Transaction;
use crate::store::{Create, Error, Options, Store};

impl Store {
    /// Opens a store, deletes the derived files (the index and the text view), and rebuilds them
    /// from the ledger; [`Store::recovery_report`](crate::Store::recovery_report) says so. The
    /// ledger is opened as always, and verified from its first byte. A grain whose bytes are damaged
    /// is left out, and named by the report.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let home = tempfile::tempdir()?;
    /// let address = Store::open(home.path(), Options::default())?.put(Draft::event("hello"))?;
    /// let store = Store::repair(home.path(), Options::default())?;
    /// assert!(store.recovery_report().index_rebuilt.is_some() && store.exists(&address)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::open`]. `ERR_STORAGE_DAMAGED` if the ledger is damaged elsewhere; no file is
    /// deleted then.
    pub fn repair(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        let options = Options {
            create: Create::Never,
            ..options
        };
        let store = Self::open_folder(path.as_ref(), options, true)?;
        record_lost_effects(&store.engine)?;
        store.maintenance()?.compact()?;
        Ok(store)
    }
}

/// Records the effects of stored withdrawals of which damage took the entry (OMS 8.10).
fn record_lost_effects(engine: &Engine) -> Result<(), Error> {
    let mut txn = Transaction::begin(engine, Caller::default())?;
    for effect in txn.view().missing_effects()? {
        txn.record(&Record::ConsentEffect(effect))?;
    }
    txn.commit()?;
    Ok(())
}

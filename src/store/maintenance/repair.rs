//! Repair: everything derived is built anew from the ledger.

use std::path::Path;

use crate::store::{Create, Error, Options, Store};

impl Store {
    /// Opens a store, deletes what is derived (the index and the text view), and builds it anew
    /// from the ledger; [`Store::recovery_report`](crate::Store::recovery_report) says so. The ledger is opened as always, and proven from
    /// its first byte.
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
    /// As [`Store::open`]. `ERR_STORAGE_DAMAGED` where the ledger itself is damaged: then nothing
    /// is deleted.
    pub fn repair(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        let options = Options {
            create: Create::Never,
            ..options
        };
        let store = Self::open_folder(path.as_ref(), options, true)?;
        store.maintenance()?.compact()?;
        Ok(store)
    }
}

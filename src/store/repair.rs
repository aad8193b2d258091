use std::path::Path;

use crate::index::Index;
use crate::text;

use super::open::Opened;
use super::{Create, Error, Options, Store};

impl Store {
    /// Opens a store, deletes what is derived (the index and the text view), and builds it anew
    /// from the ledger; [`Store::opened`] says so. The ledger is opened as always, and proven from
    /// its first byte.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let home = tempfile::tempdir()?;
    /// let address = Store::open(home.path(), Options::default())?.put(Draft::event("hello"))?;
    /// let store = Store::repair(home.path(), Options::default())?;
    /// assert!(store.opened().index_rebuilt.is_some() && store.exists(&address)?);
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
        store.compact()?;
        Ok(store)
    }
}

/// Deletes what is derived. The ledger is open: what the index knew of its length has been heard.
pub(super) fn forget_derived(
    index: &Index,
    place: &text::TextLocation,
    opened: &mut Opened,
) -> Result<(), Error> {
    index.reset()?;
    text::remove(place)?;
    let asked = || "a repair was asked for".to_owned();
    opened.index_rebuilt.get_or_insert_with(asked);
    opened.text_rebuilt.get_or_insert_with(asked);
    Ok(())
}

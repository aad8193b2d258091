//! Counters of retrievals (OMS 22.10): kept beside the index, and not in the ledger.

use crate::codec::ContentAddress;
use crate::index;
use crate::ledger::EntryId;
use crate::store::{Error, Maintenance, Store};

impl Maintenance<'_> {
    /// Returns how often a grain was retrieved, and when last (OMS 28.3: `access_count`,
    /// `last_accessed_at`); `None` if it never was, or if the store does not count
    /// ([`Options::accesses`](crate::store::Options::accesses)).
    ///
    /// A get, a query, a search and a recall count once for each grain that they return; what the
    /// store reads for itself does not: policy, history, links, checks, exports (OMS 22.10). Counts
    /// are not in the ledger. They are written when a grain is retrieved and the oldest that is
    /// not written has waited for as long as the option allows, and on closing: a crash takes what
    /// was counted within one such span, and no backup has them.
    ///
    /// ```
    /// use std::time::Duration;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let accesses = Some(Duration::from_secs(60));
    /// let store = Store::in_memory(Options { accesses, ..Options::default() })?;
    /// let address = store.put(Draft::event("tea"))?;
    /// assert_eq!(store.maintenance()?.accesses(&address)?, None);
    /// store.get(&address)?;
    /// store.search("tea", &Default::default(), 10)?;
    /// assert_eq!(store.maintenance()?.accesses(&address)?.map(|access| access.count), Some(2));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn accesses(
        self,
        address: &ContentAddress,
    ) -> Result<Option<index::RetrievalCount>, Error> {
        let snapshot = self.store().snapshot();
        let row = self.engine().as_of(&snapshot).row_of(address)?;
        let accesses = self.engine().retrievals();
        Ok(accesses.and_then(|accesses| accesses.of(row)))
    }
}

impl Store {
    /// Counts rows that were shown to a caller.
    pub(crate) fn retrieved(&self, rows: impl IntoIterator<Item = EntryId>) {
        if let Some(counts) = self.engine.retrievals() {
            counts.record(rows, self.engine.now());
        }
    }
}

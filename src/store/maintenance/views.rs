//! The index as it is, the text view committed, and the ledger synced.

use crate::index::Snapshot;
use crate::store::commit::embed_waiting;
use crate::store::{Error, Maintenance};

impl Maintenance<'_> {
    /// Returns a snapshot of the index: rows of the ledger, without their contents.
    ///
    /// ```
    /// use grainstore::index::Pattern;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark mode").confidence(0.9))?;
    /// let pattern = Pattern { subject: Some("user"), ..Pattern::default() };
    /// assert_eq!(store.maintenance()?.index_snapshot().triples(&pattern).rows()?.len(), 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn index_snapshot(self) -> Snapshot {
        self.engine().snapshot()
    }

    /// Completes what puts leave for later: commits the text view, so that the next open need not feed
    /// it again, and embeds the grains that wait for a vector of
    /// [`Options::embedders`](crate::Options::embedders).
    ///
    /// Grains are durable and found by their words without it. It does nothing in a process that does
    /// not keep the derived files.
    ///
    /// # Errors
    /// `ERR_TEXT`; `ERR_EMBEDDER` if grains still wait, because a model failed; storage errors.
    pub fn flush_text(self) -> Result<(), Error> {
        if self.engine().is_keeper() {
            self.engine().text().close()?;
            embed_waiting(self.engine())?;
        }
        Ok(())
    }

    /// Makes every acknowledged write durable; without
    /// [`Durability::Relaxed`](crate::store::Durability::Relaxed) it is durable already.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_HALTED`.
    pub fn sync(self) -> Result<(), Error> {
        self.engine().sync()
    }
}

//! The derived views of a store: the index as it is, and the text view committed.

use crate::index::Snapshot;
use crate::store::{Error, Maintenance};

impl Maintenance<'_> {
    /// Returns a view of the index as it is now: rows of the ledger, and nothing of what is in
    /// them.
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
    pub fn index_snapshot(self) -> Snapshot {
        self.inner().snapshot()
    }

    /// Commits the text view, so that the next open need not feed it again.
    ///
    /// Grains are durable without it; it only saves time. Of a store opened without the view there
    /// is nothing to do.
    ///
    /// # Errors
    /// `ERR_TEXT`.
    pub fn flush_text(self) -> Result<(), Error> {
        self.inner().text().close()
    }
}

//! The index as it is, the text view committed, and the ledger synced.

use crate::index::Snapshot;
use crate::store::commit::embed_waiting;
use crate::store::{Access, Error};

/// See [`Maintenance::index_snapshot`](crate::Maintenance::index_snapshot).
pub(crate) fn index_snapshot(store: &Access) -> Snapshot {
    store.engine().snapshot()
}

/// See [`Maintenance::flush_text`](crate::Maintenance::flush_text).
pub(crate) fn flush_text(store: &Access) -> Result<(), Error> {
    if store.engine().is_keeper() {
        store.engine().text().close()?;
        embed_waiting(store.engine())?;
    }
    Ok(())
}

/// See [`Maintenance::sync`](crate::Maintenance::sync).
pub(crate) fn sync(store: &Access) -> Result<(), Error> {
    store.engine().sync()
}

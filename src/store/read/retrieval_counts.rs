//! Counters of retrievals (OMS 22.10): kept beside the index, and not in the ledger.

use crate::codec::ContentAddress;
use crate::index;
use crate::ledger::EntryId;
use crate::store::{Access, Error};

/// See [`Maintenance::accesses`](crate::Maintenance::accesses).
pub(crate) fn accesses(
    store: &Access,
    address: &ContentAddress,
) -> Result<Option<index::RetrievalCount>, Error> {
    let snapshot = store.snapshot();
    let row = store.engine().as_of(&snapshot).row_of(address)?;
    let accesses = store.engine().retrievals();
    Ok(accesses.and_then(|accesses| accesses.of(row)))
}

/// Counts rows that were shown to a caller.
pub(crate) fn retrieved(store: &Access, rows: impl IntoIterator<Item = EntryId>) {
    if let Some(counts) = store.engine.retrievals() {
        counts.record(rows, store.engine.now());
    }
}

//! The vectors of grains, as an export writes them.
//!
//! Keeping vectors and asking for the nearest is in `embedding`.

use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::index::Snapshot;
use crate::interchange::StoredVector;
use crate::ledger::{EntryId, Kind};
use crate::store::{Access, Error};

use super::embedding::embedding_record;

/// Shows the rows of all vectors, each after that of its grain, the oldest first.
pub(crate) fn vector_rows(
    store: &Access,
    snapshot: &Snapshot,
    show: &mut dyn FnMut(EntryId, EntryId),
) -> Result<(), Error> {
    for row in snapshot.of_kind(Kind::Embedding).set()?.iter() {
        let of = embedding_record(&store.engine, row)?.of;
        if let Some(grain) = row_of(store, snapshot, &of)? {
            show(grain, row);
        }
    }
    Ok(())
}

/// Reads the vector of a row.
pub(crate) fn stored_vector(store: &Access, row: EntryId) -> Result<StoredVector, Error> {
    let at = Time::from_ms(store.engine.ledger().read(row)?.header.time_ms);
    let entry = embedding_record(&store.engine, row)?;
    Ok(StoredVector {
        model: entry.model,
        numbers: entry.vector,
        record: entry.source,
        at,
    })
}

/// Returns the row of a stored grain whose bytes are sound.
pub(crate) fn row_of(
    store: &Access,
    snapshot: &Snapshot,
    address: &ContentAddress,
) -> Result<Option<EntryId>, Error> {
    for row in snapshot.candidates(address)?.iter() {
        if store.engine.as_of(snapshot).holds(row, address)? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

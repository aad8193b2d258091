//! An entry of the ledger, as a change feed tells it to its caller: a grain that was stored, a grain
//! whose status changed, an erasure. The feed itself is `query/changes.rs`.

#[cfg(feature = "interchange")]
use std::collections::BTreeSet;

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::index::Snapshot;
use crate::ledger::{EntryHeader, EntryId, Kind};
use crate::store::records::Record;
use crate::store::view::Version;
use crate::store::{Access, Error};

use super::consented::authorize_read;
use super::get::exists;
use super::review::may_rely_on;

/// An acknowledged entry of the ledger, as [`Changes`](crate::query::Changes) yields it.
///
/// ```
/// use grainstore::ledger::EntryId;
/// use grainstore::store::Changed;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::event("hello"))?;
/// let change = store.changes(EntryId::FIRST).next().expect("an entry")?;
/// assert_eq!(change.entry, EntryId::FIRST);
/// assert!(matches!(change.what, Changed::Stored(version) if version.grain.address() == address));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Change {
    /// The number of the entry.
    pub entry: EntryId,
    /// The time at which it was written.
    pub at: Time,
    /// Its content.
    pub what: Changed,
}

/// The content of an entry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Changed {
    /// A grain was stored; its status is the present one.
    Stored(Box<Version>),
    /// The status of a grain changed: [`Store::status`](crate::Store::status) has the present one.
    Status(ContentAddress),
    /// The entry, which was about a grain or was a grain, is erased.
    Erased,
    /// These entries are erased from here on.
    Erasing(Vec<EntryId>),
    /// An entry of another kind, or one that is sealed for a person who is locked.
    Other,
}

/// Returns the change of an entry that is in a snapshot; `None` if the handle does not see it.
/// A narrowed handle sees the grains that it may read, and their status.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
pub(crate) fn change_at(
    store: &Access,
    snapshot: &Snapshot,
    entry: EntryId,
) -> Result<Option<Change>, Error> {
    let header = store.engine.ledger().stated(entry)?;
    let what = match change_of(store, snapshot, &header) {
        Err(error) if error.code() == ErrorCode::Locked => Some(Changed::Other),
        what => what?,
    };
    let is_shown = |what: &Changed| {
        store.capability().is_none() || matches!(what, Changed::Stored(_) | Changed::Status(_))
    };
    Ok(what.filter(is_shown).map(|what| Change {
        entry,
        at: Time::from_ms(header.time_ms),
        what,
    }))
}

/// Returns the rows of the grains that were stored, or whose status or holds changed, from an entry
/// on.
///
/// # Errors
/// As [`Store::change_at`].
#[cfg(feature = "interchange")]
pub(crate) fn rows_changed_from(
    store: &Access,
    snapshot: &Snapshot,
    from: EntryId,
) -> Result<BTreeSet<EntryId>, Error> {
    let mut changed = BTreeSet::new();
    let mut entry = from;
    while entry.get() < snapshot.watermark() {
        let header = store.engine.ledger().stated(entry)?;
        match header.kind {
            Kind::Grain | Kind::SealedGrain => drop(changed.insert(entry)),
            Kind::Status | Kind::Hold => {
                if let Some(of) = changed_by(store, entry)? {
                    changed.extend(store.engine.as_of(snapshot).locate(&of)?);
                }
            }
            _ => {}
        }
        entry = entry.next();
    }
    Ok(changed)
}

/// Returns the grain whose status or hold an entry is; `None` if it is erased, or sealed for a person
/// who is locked.
#[cfg(feature = "interchange")]
fn changed_by(store: &Access, entry: EntryId) -> Result<Option<ContentAddress>, Error> {
    match store.engine.record_at(entry) {
        Ok(Record::Status(status)) => Ok(Some(status.of)),
        Ok(Record::Hold(hold)) => Ok(Some(hold.of)),
        Err(error) if ![ErrorCode::Erased, ErrorCode::Locked].contains(&error.code()) => Err(error),
        _ => Ok(None),
    }
}

/// Returns the first entry that was written at a time or later.
///
/// # Errors
/// As [`change_at`].
pub(crate) fn entry_at(store: &Access, time: Time) -> Result<EntryId, Error> {
    // The time of the ledger never goes back, but where an operator repairs it (I21).
    let (mut low, mut high) = (0, store.engine.snapshot().watermark());
    while low < high {
        let middle = low + (high - low) / 2;
        match store.engine.ledger().stated(EntryId::new(middle))?.time_ms < time.ms() {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(EntryId::new(low))
}

fn change_of(
    store: &Access,
    snapshot: &Snapshot,
    header: &EntryHeader,
) -> Result<Option<Changed>, Error> {
    let row = header.sequence;
    // Others are not about one grain, and a narrowed handle sees none of them.
    let is_of_grain = [Kind::Grain, Kind::SealedGrain, Kind::Status].contains(&header.kind);
    if !is_of_grain && store.capability().is_some() {
        return Ok(None);
    }
    let entry = match store.engine.entry(row) {
        Err(error) if error.code() == ErrorCode::Erased => return Ok(Some(Changed::Erased)),
        entry => entry?,
    };
    if entry.header.kind == Kind::Grain {
        return stored_at(store, snapshot, row);
    }
    let record = Record::decode(entry.header.kind, &entry.body);
    Ok(match record {
        Some(Record::Status(status)) => {
            let is_seen = store.capability().is_none() || exists(store, &status.of)?;
            is_seen.then_some(Changed::Status(status.of))
        }
        Some(Record::Erasing(erasing)) => Some(Changed::Erasing(erasing.rows)),
        _ => Some(Changed::Other),
    })
}

/// Returns the grain of a row if the handle may read it.
fn stored_at(store: &Access, snapshot: &Snapshot, row: EntryId) -> Result<Option<Changed>, Error> {
    // From the beginning of an erasure on it is in no answer, whatever bytes are still there.
    if snapshot.grains_from(row).next() != Some(row) {
        return Ok(Some(Changed::Erased));
    }
    let mut version = store.engine.as_of(snapshot).version_at(row)?;
    match authorize_read(store, snapshot, &version.grain) {
        Err(Error::Denied { .. }) => return Ok(None),
        allowed => allowed?,
    }
    if !store.sees(snapshot, &version.grain)? || !may_rely_on(store, &version.grain)? {
        return Ok(None);
    }
    version.stored_by = store.engine.actor_of(row)?;
    Ok(Some(Changed::Stored(Box::new(version))))
}

//! Reading grains: by address, in lists, along their lineage, by foreign identifier.

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::{ForeignId, Grain, Status};
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::policy::Rule;
use crate::store::view::Version;
use crate::store::{Access, Error};

use super::audit::{read_recorder, recorder_of_found, refuse_read};
use super::consented::authorize_read;
use super::retrieval_counts::retrieved;
use super::review::may_rely_on;

/// A page of a listing, and the beginning of the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressList {
    /// Addresses in the order in which their grains were stored.
    pub addresses: Vec<ContentAddress>,
    /// The position to continue from; `None` at the end. It stays valid while others write.
    pub next: Option<EntryId>,
}

/// See [`newest_versions`](crate::newest_versions).
pub(crate) fn newest_versions(
    store: &Access,
    address: &ContentAddress,
    bytes: usize,
    shows: impl Fn(&Version) -> bool,
) -> Result<(Vec<Version>, u64), Error> {
    let read = || versions_to_show(store, address, bytes, &shows);
    let (versions, more) = unless_erased(read)?;
    let grains = versions.iter().map(|version| &version.grain);
    read_recorder(store, "history").all(grains)?;
    Ok((versions, more))
}

/// See [`Store::get`](crate::Store::get).
pub(crate) fn get(store: &Access, address: &ContentAddress) -> Result<Option<Grain>, Error> {
    let found = find(store, address)?;
    record_reads(store, "get", found.iter())?;
    Ok(found.map(|(_, grain)| grain))
}

/// Asks again while a grain is erased between the look-up of its row and the reading of its
/// bytes, in this process or in another: from then on no snapshot has the row.
pub(crate) fn unless_erased<T>(ask: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 0..ASKED_AGAIN_MAX {
        match ask() {
            Err(error) if error.code() == ErrorCode::Erased => {}
            answer => return answer,
        }
    }
    ask()
}

/// See [`Store::get_batch`](crate::Store::get_batch).
pub(crate) fn get_batch(
    store: &Access,
    addresses: &[ContentAddress],
) -> Result<Vec<Option<Grain>>, Error> {
    let found = addresses.iter().enumerate().map(|(index, address)| {
        let found = find(store, address);
        found.map_err(|source| Error::batch(index, source))
    });
    let found = found.collect::<Result<Vec<_>, _>>()?;
    record_reads(store, "get", found.iter().flatten())?;
    let grains = found.into_iter().map(|found| found.map(|(_, grain)| grain));
    Ok(grains.collect())
}

/// Reads a grain that the handle may show, with its row, before it is recorded as shown.
pub(crate) fn find(
    store: &Access,
    address: &ContentAddress,
) -> Result<Option<(EntryId, Grain)>, Error> {
    unless_erased(|| find_once(store, address))
}

fn find_once(store: &Access, address: &ContentAddress) -> Result<Option<(EntryId, Grain)>, Error> {
    let snapshot = store.snapshot();
    let mut found = seen(store, &snapshot, address)?;
    if found.is_none()
        && let Some(own) = store.engine.as_of(&snapshot).sealed_as(address)?
    {
        found = seen(store, &snapshot, &own)?;
    }
    let Some((row, grain)) = found else {
        return Ok(None);
    };
    let mut allowed = authorize_read(store, &snapshot, &grain);
    if allowed.is_ok() && !may_rely_on(store, &grain)? {
        let rule = Rule::Unreviewed;
        allowed = Err(Error::Refused { rule });
    }
    allowed.map_err(|refusal| refuse_read(store, "get", &grain, refusal))?;
    Ok(Some((row, store.engine.with_signature(row, grain)?)))
}

/// Reads a grain that the handle sees, for the store's own use: it does not count as retrieved
/// (OMS 22.10).
///
/// # Errors
/// As [`Store::get`].
pub(crate) fn peek(store: &Access, address: &ContentAddress) -> Result<Option<Grain>, Error> {
    let snapshot = store.snapshot();
    let Some((row, grain)) = seen(store, &snapshot, address)? else {
        return Ok(None);
    };
    authorize_read(store, &snapshot, &grain)?;
    Ok(Some(store.engine.with_signature(row, grain)?))
}

/// Returns a stored grain and its row, unless the handle does not see it.
fn seen(
    store: &Access,
    snapshot: &Snapshot,
    address: &ContentAddress,
) -> Result<Option<(EntryId, Grain)>, Error> {
    for row in snapshot.candidates(address)?.iter() {
        // The ledger decides whether the index was right.
        if let Some(grain) = store.engine.grain_if(row, address)? {
            return Ok(store.sees(snapshot, &grain)?.then_some((row, grain)));
        }
    }
    if let Some(row) = store.engine.locate_damaged(address)? {
        // It is there, and reading it says how it is damaged.
        store.engine.ledger().read(row)?;
    }
    Ok(None)
}

/// Returns the row of a stored grain that the handle sees.
///
/// # Errors
/// `ERR_NOT_FOUND`; storage errors.
pub(super) fn seen_row(
    store: &Access,
    snapshot: &Snapshot,
    address: &ContentAddress,
) -> Result<EntryId, Error> {
    let address = *address;
    if store.capability().is_none() {
        return store.engine.as_of(snapshot).row_of(&address);
    }
    let seen = seen(store, snapshot, &address)?;
    seen.map(|(row, _)| row).ok_or(Error::NotFound { address })
}

/// Records and counts grains that are shown to the caller, with their rows.
pub(crate) fn record_reads<'g>(
    store: &Access,
    operation: &'static str,
    found: impl Iterator<Item = &'g (EntryId, Grain)> + Clone,
) -> Result<(), Error> {
    let recorder = recorder_of_found(store, operation);
    recorder.all(found.clone().map(|(_, grain)| grain))?;
    retrieved(store, found.map(|(row, _)| *row));
    Ok(())
}

/// See [`Store::exists`](crate::Store::exists).
pub(crate) fn exists(store: &Access, address: &ContentAddress) -> Result<bool, Error> {
    match unless_erased(|| seen_row(store, &store.snapshot(), address)) {
        Ok(_) => Ok(true),
        Err(Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// See [`Store::status`](crate::Store::status).
pub(crate) fn status(store: &Access, address: &ContentAddress) -> Result<Status, Error> {
    unless_erased(|| {
        let snapshot = store.snapshot();
        let row = seen_row(store, &snapshot, address)?;
        store.engine.as_of(&snapshot).status_at(row)
    })
}

/// See [`Store::list`](crate::Store::list).
pub(crate) fn list(
    store: &Access,
    after: Option<EntryId>,
    limit: usize,
) -> Result<AddressList, Error> {
    unless_erased(|| page_of_list(store, after, limit))
}

fn page_of_list(
    store: &Access,
    after: Option<EntryId>,
    limit: usize,
) -> Result<AddressList, Error> {
    let snapshot = store.snapshot();
    let mut page = AddressList {
        addresses: Vec::new(),
        next: None,
    };
    let mut last = None;
    for row in snapshot.grains_from(after.map_or(EntryId::FIRST, EntryId::next)) {
        let (_, grain) = store.engine.grain(row)?;
        if !store.sees(&snapshot, &grain)? {
            continue;
        }
        if page.addresses.len() == limit {
            page.next = last;
            break;
        }
        page.addresses.push(grain.address());
        last = Some(row);
    }
    Ok(page)
}

/// See [`Store::starting_with`](crate::Store::starting_with).
pub(crate) fn starting_with(
    store: &Access,
    digits: &str,
    limit: usize,
) -> Result<Vec<ContentAddress>, Error> {
    let bounds = ContentAddress::bounds(digits)?;
    unless_erased(|| between(store, bounds, limit))
}

fn between(
    store: &Access,
    [first, last]: [ContentAddress; 2],
    limit: usize,
) -> Result<Vec<ContentAddress>, Error> {
    let snapshot = store.snapshot();
    let mut found = Vec::new();
    for row in snapshot.candidates_between(&first, &last)?.iter() {
        if found.len() == limit {
            break;
        }
        let (_, grain) = store.engine.grain(row)?;
        let address = grain.address();
        if (first..=last).contains(&address) && store.sees(&snapshot, &grain)? {
            found.push(address);
        }
    }
    Ok(found)
}

/// See [`Store::history`](crate::Store::history).
pub(crate) fn history(store: &Access, address: &ContentAddress) -> Result<Vec<Version>, Error> {
    Ok(newest_versions(store, address, usize::MAX, |_| true)?.0)
}

fn versions_to_show(
    store: &Access,
    address: &ContentAddress,
    bytes: usize,
    shows: &dyn Fn(&Version) -> bool,
) -> Result<(Vec<Version>, u64), Error> {
    let snapshot = store.snapshot();
    let start = seen_row(store, &snapshot, address)?;
    let (mut shown, mut more, mut len) = (Vec::new(), 0, 0_usize);
    for row in store
        .engine
        .as_of(&snapshot)
        .lineage_rows(start)?
        .into_iter()
        .rev()
    {
        let mut version = version_at(store, &snapshot, row)?;
        match authorize_read(store, &snapshot, &version.grain) {
            Err(Error::Denied { address: kept, .. }) if kept != *address => continue,
            allowed => {
                allowed
                    .map_err(|refusal| refuse_read(store, "history", &version.grain, refusal))?;
            }
        }
        // OMS 6.1: what waits for a person's review is no version that a program acts on.
        if !may_rely_on(store, &version.grain)? {
            if version.grain.address() == *address {
                let rule = Rule::Unreviewed;
                let refusal = Error::Refused { rule };
                return Err(refuse_read(store, "history", &version.grain, refusal));
            }
            continue;
        }
        if !store.sees(&snapshot, &version.grain)? || !shows(&version) {
            continue;
        }
        if len < bytes {
            len = len.saturating_add(version.grain.blob().len());
            version.stored_by = store.engine.actor_of(row)?;
            shown.push(version);
        } else {
            more += 1;
        }
    }
    shown.reverse();
    Ok((shown, more))
}

/// Reads the grain of a row; the caller got the row from this store's index.
pub(crate) fn version_at(
    store: &Access,
    snapshot: &Snapshot,
    row: EntryId,
) -> Result<Version, Error> {
    store.engine.as_of(snapshot).version_at(row)
}

/// Returns the entries of the grains that were damaged when the index was built, which does not
/// have them.
#[cfg(feature = "interchange")]
pub(crate) fn unindexed_damage(store: &Access) -> impl Iterator<Item = u64> {
    store.engine.damaged().into_iter().map(EntryId::get)
}

/// Reads the grain of a row; `None` if its bytes are damaged.
#[cfg(feature = "interchange")]
pub(crate) fn sound_version_at(
    store: &Access,
    snapshot: &Snapshot,
    row: EntryId,
) -> Result<Option<Version>, Error> {
    store.engine.as_of(snapshot).sound_version_at(row)
}

/// Returns whether a grain of a row that was read before may be used again: it was not erased,
/// and there is no person whose key could have been destroyed since.
#[cfg(feature = "interchange")]
pub(crate) fn is_still_there(store: &Access, row: EntryId) -> bool {
    store.engine.keyring().is_empty() && !store.engine.ledger().is_erased(row)
}

/// See [`Store::resolve`](crate::Store::resolve).
pub(crate) fn resolve(store: &Access, id: &ForeignId) -> Result<Option<ContentAddress>, Error> {
    let snapshot = store.snapshot();
    let addresses = store.engine.as_of(&snapshot).named(id)?;
    for address in addresses.into_iter().rev() {
        if store.capability().is_none() {
            return Ok(Some(address));
        }
        if seen(store, &snapshot, &address)?.is_some() {
            return Ok(Some(address));
        }
    }
    Ok(None)
}

/// How often a question is asked again: each time another erasure has come between.
const ASKED_AGAIN_MAX: usize = 16;

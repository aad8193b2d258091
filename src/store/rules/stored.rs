//! Grains that must not be stored: one that was deleted here, recognised by its tombstone (OMS
//! 28.4), and a view in place of its original (ruling S13).

use crate::codec::ContentAddress;
#[cfg(feature = "interchange")]
use crate::grain::ForeignId;
use crate::grain::Grain;
use crate::store::Error;
use crate::store::records::Record;
#[cfg(feature = "interchange")]
use crate::store::rules::Turn;
use crate::store::view::View;

/// Ruling S13: a view stands for its original, and is no grain of its own.
pub(crate) fn refuse_view(grain: &Grain) -> Result<(), Error> {
    match grain.field("_disclosure_of") {
        Some(_) => Err(Error::View {
            address: grain.address(),
        }),
        None => Ok(()),
    }
}

/// Refuses a grain that was deleted here, unless the caller requests it explicitly.
///
/// # Errors
/// `ERR_ERASED`; storage errors.
pub(crate) fn refuse_erased(
    view: &View<'_>,
    address: &ContentAddress,
    again: bool,
) -> Result<(), Error> {
    if !again && was_deleted(view, address)? {
        return Err(Error::Erased { address: *address });
    }
    Ok(())
}

/// Returns whether a grain was deleted here.
///
/// # Errors
/// Storage errors.
pub(crate) fn was_deleted(view: &View<'_>, address: &ContentAddress) -> Result<bool, Error> {
    has_tombstone(view, |store| {
        let mark = store.manifest().tombstone_key().of_address(address);
        store.tombstones_for(mark, address.as_bytes())
    })
}

/// Returns whether a grain with this foreign identifier was deleted here.
///
/// # Errors
/// Storage errors.
#[cfg(feature = "interchange")]
pub(crate) fn was_named(view: &View<'_>, id: &ForeignId) -> Result<bool, Error> {
    has_tombstone(view, |store| {
        let mark = store.manifest().tombstone_key().of_foreign_id(id);
        store.tombstones_for(mark, &mark)
    })
}

/// Returns whether the turn of a conversation that a grain says was deleted here, as this grain or another.
///
/// # Errors
/// Storage errors.
#[cfg(feature = "interchange")]
pub(crate) fn was_said(view: &View<'_>, grain: &Grain) -> Result<bool, Error> {
    let Some(turn) = Turn::of(grain) else {
        return Ok(false);
    };
    has_tombstone(view, |store| {
        vec![turn.mark(&store.manifest().tombstone_key())]
    })
}

fn has_tombstone(
    view: &View<'_>,
    forms: impl FnOnce(&View<'_>) -> Vec<[u8; 32]>,
) -> Result<bool, Error> {
    if !view.known_state().erasures().any() {
        return Ok(false);
    }
    let snapshot = view.snapshot();
    for tombstone in forms(view) {
        for row in snapshot.tombstones(&tombstone).rows()?.iter() {
            // The index holds a hash of the tombstone.
            if let Record::Erasing(erasing) = view.record_at(row)?
                && erasing.tombstones.contains(&tombstone)
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

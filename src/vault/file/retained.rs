//! The rows of retained message keys: those of a person's entries whose data key was destroyed,
//! sealed under the person's newest data key.

use redb::{ReadTransaction, WriteTransaction};

use crate::crypto::{Context, Purpose, Random, RetainedKeys, SealingKey};
use crate::vault::Error;
use crate::vault::error::{OrFail, damaged};

use super::slot::Slot;
use super::tables::{RETAINED, RetainedAt};

/// Reads the retained keys of a person.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED` for rows that do not open; storage errors.
pub(crate) fn read(
    txn: &ReadTransaction,
    store: [u8; 16],
    slot: &Slot,
) -> Result<RetainedKeys, Error> {
    let table = txn.open_table(RETAINED).or_fail()?;
    let (generation, key) = sealing_key(&store, slot)?;
    let mut parts = Vec::new();
    for row in table.range(of_person(slot.uid)).or_fail()? {
        let (at, sealed) = row.or_fail()?;
        let (_, part) = at.value();
        let part = part.to_be_bytes();
        let place = place(store, slot.uid, generation, &part);
        let opened = key.open(&place, sealed.value());
        parts.push(opened.map_err(|_| damaged(DO_NOT_OPEN))?);
    }
    RetainedKeys::from_parts(parts).ok_or(damaged(DO_NOT_OPEN))
}

/// Replaces the retained keys of a person. The earlier rows were sealed under a data key that goes.
///
/// # Errors
/// `ERR_NO_RANDOMNESS`; storage errors.
pub(crate) fn write(
    txn: &WriteTransaction,
    random: &dyn Random,
    store: [u8; 16],
    slot: &Slot,
    retained: &RetainedKeys,
) -> Result<(), Error> {
    remove(txn, slot.uid)?;
    let mut table = txn.open_table(RETAINED).or_fail()?;
    let (generation, key) = sealing_key(&store, slot)?;
    for (part, bytes) in (0_u32..).zip(retained.parts()) {
        let row = part.to_be_bytes();
        let place = place(store, slot.uid, generation, &row);
        let sealed = key.seal(random, &place, bytes)?;
        table.insert((slot.uid, part), &*sealed).or_fail()?;
    }
    Ok(())
}

/// Removes the retained keys of a person.
///
/// # Errors
/// Storage errors.
pub(crate) fn remove(txn: &WriteTransaction, uid: [u8; 16]) -> Result<(), Error> {
    let mut table = txn.open_table(RETAINED).or_fail()?;
    table.retain_in(of_person(uid), |_, _| false).or_fail()
}

/// Returns the key that seals the rows of a person.
fn sealing_key(store: &[u8; 16], slot: &Slot) -> Result<(u32, SealingKey), Error> {
    let (generation, key) = slot.keys.last().ok_or(damaged("a user without a key"))?;
    Ok((*generation, SealingKey::new(store, key)))
}

const fn place(store: [u8; 16], uid: [u8; 16], generation: u32, row: &[u8]) -> Context<'_> {
    Context {
        store,
        purpose: Purpose::Retained,
        uid,
        generation,
        row,
    }
}

const fn of_person(uid: [u8; 16]) -> std::ops::RangeInclusive<RetainedAt> {
    (uid, 0)..=(uid, u32::MAX)
}

const DO_NOT_OPEN: &str = "the retained keys of a user do not open";

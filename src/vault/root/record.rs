//! One slot of the root file: a record of the root in three sectors, or noise that says so.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::crypto::{Error, Random, Secret};

use super::Root;

/// The size of a slot, in bytes.
pub(super) const SLOT_LEN: usize = 4096;

/// Where the copies of the record begin: sectors of their own, far apart.
const COPIES: [usize; 3] = [0, 1536, 3072];

const MAGIC: &[u8; 4] = b"GSR1";
const NOISE_MAGIC: &[u8; 4] = b"GSN1";
const CHECK_LEN: usize = 8;
const RECORD_LEN: usize = 4 + 16 + 8 + 32 + CHECK_LEN;

/// Returns the record of a root.
pub(super) fn encode(store: &[u8; 16], root: &Root) -> Zeroizing<Vec<u8>> {
    let mut record = Zeroizing::new(Vec::with_capacity(RECORD_LEN));
    record.extend_from_slice(MAGIC);
    record.extend_from_slice(store);
    record.extend_from_slice(&root.epoch.to_be_bytes());
    record.extend_from_slice(root.secret.expose());
    let check = check(&record);
    record.extend_from_slice(&check);
    record
}

/// Reads the record of a root of a store; `None` for other bytes.
pub(super) fn decode(store: &[u8; 16], record: &[u8]) -> Option<Root> {
    let (content, stated) = record.split_at_checked(RECORD_LEN - CHECK_LEN)?;
    let (magic, rest) = content.split_at_checked(4)?;
    let (of, rest) = rest.split_at_checked(16)?;
    let (epoch, secret) = rest.split_at_checked(8)?;
    let is_sound = magic == MAGIC && of == store && bool::from(check(content).ct_eq(stated));
    is_sound.then_some(Root {
        epoch: u64::from_be_bytes(epoch.try_into().ok()?),
        secret: Secret::copied(secret)?,
    })
}

/// Returns the bytes of a slot that holds a root.
pub(super) fn written(store: &[u8; 16], root: &Root) -> Zeroizing<Vec<u8>> {
    let record = encode(store, root);
    let mut slot = Zeroizing::new(vec![0; SLOT_LEN]);
    for at in COPIES {
        if let Some(place) = slot.get_mut(at..at.saturating_add(RECORD_LEN)) {
            place.copy_from_slice(&record);
        }
    }
    slot
}

/// Returns the root of each sound copy in a slot.
pub(super) fn read(store: &[u8; 16], slot: &[u8]) -> Vec<Root> {
    let copies = COPIES.iter().filter_map(|at| {
        let record = slot.get(*at..at.checked_add(RECORD_LEN)?)?;
        decode(store, record)
    });
    copies.collect()
}

/// Returns how many copies a slot with a record has.
pub(super) const fn copies() -> usize {
    COPIES.len()
}

/// Returns the bytes that overwrite a slot. Their check shows that the overwriting was complete: a
/// torn one may leave most of a root behind.
pub(super) fn noise(random: &dyn Random) -> Result<Vec<u8>, Error> {
    let mut slot = vec![0; SLOT_LEN];
    random.fill(&mut slot)?;
    let end = SLOT_LEN - CHECK_LEN;
    if let Some(start) = slot.first_chunk_mut() {
        *start = *NOISE_MAGIC;
    }
    let sum = slot.get(..end).map(check).unwrap_or_default();
    if let Some(place) = slot.get_mut(end..) {
        place.copy_from_slice(&sum);
    }
    Ok(slot)
}

/// Returns whether a slot was overwritten as a whole.
pub(super) fn is_noise(slot: &[u8]) -> bool {
    let parts = slot.split_at_checked(SLOT_LEN - CHECK_LEN);
    parts.is_some_and(|(content, stated)| {
        content.starts_with(NOISE_MAGIC) && check(content) == stated
    })
}

fn check(bytes: &[u8]) -> [u8; CHECK_LEN] {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    let [a, b, c, d, e, f, g, h, ..] = hash;
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_a_root_comes_back_and_no_flipped_bit_of_it_is_read() {
        let (store, secret) = ([7; 16], Secret::copied(&[3; 32]).unwrap());
        let record = encode(&store, &Root { epoch: 9, secret });
        let found = decode(&store, &record).unwrap();
        assert!(found.epoch == 9 && found.secret.expose() == &[3; 32]);
        for bit in 0..record.len() * 8 {
            let mut flipped = record.to_vec();
            *flipped.get_mut(bit / 8).unwrap() ^= 1 << (bit % 8);
            assert!(decode(&store, &flipped).is_none(), "bit {bit}");
        }
        assert!(decode(&[8; 16], &record).is_none());
    }
}

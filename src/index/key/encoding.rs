//! Sorted keys, and the order-preserving encodings of their components.
//!
//! Keys are integers in memory. Their bytes in a run are those of `run::block`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::codec::ContentAddress;

use crate::index::Family;

/// A key of one family: its components, then the row.
///
/// Ingest is sorting, and two integers compare in a few instructions where 21 bytes take a call.
pub(in crate::index) trait Key:
    Copy + Ord + fmt::Debug + Send + Sync + 'static
{
    /// The number of components.
    const PARTS: usize;

    fn new(parts: [u64; 2], row: u64) -> Self;

    /// Returns the components; one that it does not have is 0.
    fn parts(self) -> [u64; 2];

    fn row(self) -> u64;
}

/// A key with one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::index) struct Single(u128);

/// A key with two components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) struct Pair {
    parts: [u64; 2],
    row: u64,
}

impl Key for Single {
    const PARTS: usize = 1;

    fn new([part, _]: [u64; 2], row: u64) -> Self {
        Self(join(part, row))
    }

    fn parts(self) -> [u64; 2] {
        [high(self.0), 0]
    }

    fn row(self) -> u64 {
        low(self.0)
    }
}

impl Key for Pair {
    const PARTS: usize = 2;

    fn new(parts: [u64; 2], row: u64) -> Self {
        Self { parts, row }
    }

    fn parts(self) -> [u64; 2] {
        self.parts
    }

    fn row(self) -> u64 {
        self.row
    }
}

impl Pair {
    /// A `u128` as a field would take the key from 24 bytes to 32.
    const fn joined(self) -> u128 {
        let [a, b] = self.parts;
        join(a, b)
    }
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        let parts = self.joined().cmp(&other.joined());
        parts.then(self.row.cmp(&other.row))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

const fn join(high: u64, low: u64) -> u128 {
    ((high as u128) << 64) | low as u128
}

pub(in crate::index) const fn high(both: u128) -> u64 {
    (both >> 64) as u64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the lower half is what is asked for"
)]
pub(in crate::index) const fn low(both: u128) -> u64 {
    both as u64
}

/// Returns a signed time as a component whose order is that of time.
pub(in crate::index) const fn ordered(ms: i64) -> u64 {
    ms.cast_unsigned() ^ (1 << 63)
}

/// Returns a finite number as a component whose order is that of numbers.
pub(in crate::index) const fn ordered_number(number: f64) -> u64 {
    // Adding 0 turns -0 into 0.
    let bits = (number + 0.0).to_bits();
    // Of two negative numbers the one with the greater bits is the smaller.
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

/// Returns the first eight bytes of an address. The reader of the row resolves collisions.
pub(in crate::index) fn prefix_of(address: &ContentAddress) -> u64 {
    first_part(address.as_bytes())
}

/// Returns the first eight bytes of a hash, as a component.
pub(in crate::index) fn first_part(hash: &[u8; 32]) -> u64 {
    hash.first_chunk()
        .map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// Returns the first eight bytes of a blind token, as a component; never 0, as a term is.
pub(in crate::index) fn token_part(token: &[u8]) -> u64 {
    let first = token.first_chunk();
    first.map_or(1, |bytes| u64::from_be_bytes(*bytes).max(1))
}

/// Returns a hash of a key whose sums tell sets of keys apart.
pub(in crate::index) fn fingerprint<K: Key>(family: Family, key: K) -> u128 {
    let mut hasher = SipHasher13::new();
    hasher.write_u8(family as u8);
    for part in key.parts() {
        hasher.write_u64(part);
    }
    hasher.write_u64(key.row());
    hasher.finish128().as_u128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_their_components_then_their_rows() {
        let values = [0, 1, 7, u64::MAX];
        let mut pairs = Vec::new();
        for a in values {
            for b in values {
                pairs.extend(values.map(|row| ([a, b], row)));
            }
        }
        assert!(pairs.is_sorted());
        let keys: Vec<_> = pairs.iter().map(|(p, row)| Pair::new(*p, *row)).collect();
        assert!(keys.is_sorted());
        for (key, (parts, row)) in keys.iter().zip(&pairs) {
            assert_eq!((key.parts(), key.row()), (*parts, *row));
        }
        assert!(Single::new([1, 0], u64::MAX) < Single::new([2, 0], 0));
        assert!(ordered(-1) < ordered(0) && ordered(i64::MIN) == 0);
        let numbers = [-1e9, -1.0, -0.5, 0.0, 1e-9, 0.25, 1.0, 7e7];
        assert!(numbers.map(ordered_number).is_sorted_by(|a, b| a < b));
        assert_eq!(ordered_number(-0.0), ordered_number(0.0));
    }
}

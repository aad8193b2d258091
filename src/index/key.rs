use crate::codec::ContentAddress;

use super::Family;

/// One key: a family, up to three components of eight bytes, and the row.
///
/// Keys of one family have the same number of components, so the zeros behind a shorter key never
/// decide an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key([u8; 33]);

impl Key {
    pub(super) fn new<const N: usize>(family: Family, components: [u64; N], row: u64) -> Self {
        let mut prefix = Prefix::new(family);
        for component in components {
            prefix = prefix.with(component);
        }
        prefix.with(row).low()
    }

    /// Returns the row of a key with `components` components.
    pub(super) fn row(&self, components: usize) -> u64 {
        let at = 1 + 8 * components;
        let row = self.0.get(at..).and_then(<[u8]>::first_chunk);
        row.map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }
}

/// The beginning of keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefix {
    bytes: [u8; 33],
    len: usize,
}

impl Prefix {
    pub(super) fn new(family: Family) -> Self {
        let mut bytes = [0; 33];
        if let Some(first) = bytes.first_mut() {
            *first = family as u8;
        }
        Self { bytes, len: 1 }
    }

    pub(super) fn with(mut self, component: u64) -> Self {
        let end = self.len + 8;
        if let Some(slot) = self.bytes.get_mut(self.len..end) {
            slot.copy_from_slice(&component.to_be_bytes());
            self.len = end;
        }
        self
    }

    /// Returns the lowest key with this prefix.
    pub(super) const fn low(self) -> Key {
        Key(self.bytes)
    }

    /// Returns the highest key with this prefix.
    pub(super) fn high(mut self) -> Key {
        for byte in self.bytes.iter_mut().skip(self.len) {
            *byte = 0xff;
        }
        Key(self.bytes)
    }
}

/// Returns a signed time as a component whose order is that of time.
pub(super) const fn ordered(ms: i64) -> u64 {
    ms.cast_unsigned() ^ (1 << 63)
}

/// Returns the component of an address: its first eight bytes. A clash takes 2^32 grains to find
/// by chance and is settled by whoever reads the row.
pub(super) fn prefix_of(address: &ContentAddress) -> u64 {
    let head = address.as_bytes().first_chunk();
    head.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

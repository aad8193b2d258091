//! The identity of a store.
//!
//! It is mixed into every check and into the first leaf, so bytes of another store fail every
//! check.

use std::fmt;

/// Identifies a store: 16 random bytes, drawn once when it is created.
///
/// Every check in a segment is computed over it, so bytes of another store never pass for ours.
///
/// ```
/// use grainstore::ledger::StoreId;
///
/// assert_eq!(StoreId::new([7; 16]).as_bytes(), &[7; 16]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreId([u8; 16]);

impl StoreId {
    /// The length of a store id in bytes.
    pub const LEN: usize = 16;

    /// Wraps 16 bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&data_encoding::HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

//! How the index works and which memory it uses.
//!
//! No option changes an answer.

/// How the index works and which memory it may use. Answers are the same under any options.
///
/// ```
/// use grainstore::index::{Addresses, IndexOptions};
///
/// let small = IndexOptions { addresses: Addresses::Filters, ..IndexOptions::default() };
/// assert_eq!(small.flush_rows, 65_536);
/// ```
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// The number of ledger entries in the memtables before they are written to a run: about 1 KiB
    /// of memory each, and twice that while they are written.
    pub flush_rows: u64,
    /// The size of the block cache, in bytes.
    pub cache_bytes: usize,
    /// The size of the result cache, in bytes: the rows of frequent values, and the columns that
    /// rows are sorted by. A result that is not cached is read again, at 10 ns a row.
    pub result_cache_bytes: usize,
    /// How grains are found by their addresses.
    pub addresses: Addresses,
    /// Whether runs are written and merged by a background thread rather than by the writer.
    pub background: bool,
    /// The number of bytes of an address that are compared; fewer than 8 only in tests of
    /// collisions.
    #[doc(hidden)]
    pub prefix_bytes: u32,
}

/// How grains are found by their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// A map in memory, at most 16 bytes a grain: one look-up.
    Map,
    /// Bloom filters in memory, about 10 bits a grain, and a look-up in a run.
    Filters,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            flush_rows: 65_536,
            cache_bytes: 64 << 20,
            result_cache_bytes: 64 << 20,
            addresses: Addresses::Map,
            background: true,
            prefix_bytes: 8,
        }
    }
}

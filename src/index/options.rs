/// How the index works and what memory it may use; answers are the same under any options.
///
/// ```
/// use grainstore::index::{Addresses, IndexOptions};
///
/// let small = IndexOptions { addresses: Addresses::Filters, ..IndexOptions::default() };
/// assert_eq!(small.flush_rows, 65_536);
/// ```
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// How many ledger entries are gathered in memory before they are written to a run: about
    /// 1 KiB of memory each, twice while they are written.
    pub flush_rows: u64,
    /// The memory for blocks of runs that were read, in bytes.
    pub cache_bytes: usize,
    /// The memory for what questions have worked out about runs, in bytes: which rows have a
    /// value that many have, and by what rows are sorted. Without it such a question reads it
    /// again: 10 ns a row.
    pub result_cache_bytes: usize,
    /// How grains are found by their addresses.
    pub addresses: Addresses,
    /// Whether runs are written and merged by a thread of the index, rather than by the writer.
    pub background: bool,
    /// How many bytes of an address are looked at; fewer than 8 only to test that clashes are
    /// harmless.
    #[doc(hidden)]
    pub prefix_bytes: u32,
}

/// How grains are found by their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// A map in memory, at most 16 bytes a grain: one step.
    Map,
    /// Filters in memory, about 10 bits a grain, and a look into a run.
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

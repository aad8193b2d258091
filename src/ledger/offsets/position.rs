/// A moment of a ledger between two frames: enough to open it there without reading what is before.
///
/// ```
/// # use std::sync::Arc;
/// use grainstore::ledger::{Ledger, MemoryDisk, LedgerOptions, StoreId};
///
/// let disk = Arc::new(MemoryDisk::default());
/// let ledger = Ledger::create(disk, StoreId::new([7; 16]), LedgerOptions::default())?;
/// assert_eq!((ledger.position().entries, ledger.position().segment), (0, 1));
/// # Ok::<(), grainstore::ledger::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerPosition {
    /// The number of entries before it.
    pub entries: u64,
    /// The leaf of the last of them; SHA-256(store id) if there is none.
    pub head: [u8; 32],
    /// The segment it lies in.
    pub segment: u32,
    /// Where in the segment the next frame begins.
    pub offset: u64,
}

/// Where one entry lies, in a form that other files may keep.
///
/// ```
/// use grainstore::ledger::EntryLocation;
///
/// let place = EntryLocation { segment: 1, offset: 64, check: 0 };
/// assert!(place < EntryLocation { segment: 2, offset: 32, check: 0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryLocation {
    /// The number of the segment.
    pub segment: u32,
    /// Where in the segment the entry begins.
    pub offset: u32,
    /// A check of its header.
    pub check: u32,
}

/// What files derived from a ledger know of it, so that opening need not read what they cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryHint {
    /// A moment that was durable: what [`Ledger::sync`] returned.
    pub position: LedgerPosition,
    /// Where the entries before it lie, in order.
    pub locations: Vec<EntryLocation>,
    /// The entries before it that were erased and are blank.
    pub erased: Vec<u64>,
}

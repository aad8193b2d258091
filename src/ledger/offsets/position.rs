//! Positions in a ledger, in the form in which derived files keep them.
//!
//! These types are plain data. A hint that does not fit the ledger is refused at opening.

use crate::ledger::EntryId;

/// A position in a ledger between two frames. Recovery can start there without reading what is
/// before.
///
/// ```
/// # use std::sync::Arc;
/// use grainstore::ledger::{Ledger, SEGMENT_BYTES, MemoryDisk, StoreId};
///
/// let disk = Arc::new(MemoryDisk::default());
/// let ledger = Ledger::create(disk, StoreId::new([7; 16]), SEGMENT_BYTES)?;
/// assert_eq!((ledger.position().entries, ledger.position().segment), (0, 1));
/// # Ok::<(), grainstore::ledger::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerPosition {
    /// The number of entries before the position.
    pub entries: u64,
    /// The leaf of the last of them; SHA-256(store id) if there is none.
    pub head: [u8; 32],
    /// The segment it lies in.
    pub segment: u32,
    /// Where in the segment the next frame begins.
    pub offset: u64,
}

/// The location of one entry, as derived files keep it.
///
/// ```
/// use grainstore::ledger::EntryLocation;
///
/// let location = EntryLocation { segment: 1, offset: 64, check: 0 };
/// assert!(location < EntryLocation { segment: 2, offset: 32, check: 0 });
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

/// The knowledge of derived files about a ledger, so that recovery need not read what they cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryHint {
    /// A durable position, as `Ledger::sync` returned it.
    pub position: LedgerPosition,
    /// The locations of the entries before it, in order.
    pub locations: Vec<EntryLocation>,
    /// The entries before it that are erased and blank.
    pub erased: Vec<EntryId>,
}

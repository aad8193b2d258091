//! The report of a recovery: what came out of a damaged store, and each part that did not.

use std::ops::Range;

use crate::codec::ContentAddress;
use crate::ledger::EntryId;

/// The result of [`recover`](crate::recovery::recover): what came out of a damaged store, and what
/// did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The number of entries that the damaged store had, as far as is known.
    pub entries: u64,
    /// The number of grains that came out.
    pub grains: u64,
    /// The number of other entries that came out: statuses, rules, and what else is recorded.
    pub records: u64,
    /// The number of entries that were erased before, and stay erased.
    pub erased: u64,
    /// The fault of `MANIFEST`, if it was not used.
    pub manifest: Option<String>,
    /// Whether the store has a new identity, since nothing says which one it had: what is sealed
    /// cannot be opened then, and what was erased may be put again.
    pub is_new_identity: bool,
    /// The parts that did not come out, in the order of the ledger.
    pub lost: Vec<Lost>,
}

/// A part of a damaged store that did not come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The file, relative to the store.
    pub file: String,
    /// The bytes in it; none of a segment that is missing.
    pub bytes: Range<u64>,
    /// The entries that these bytes held; none if only what lies between entries is damaged.
    pub entries: Range<EntryId>,
    /// The kind of the entry, if that is known: `grain`, `status`, `hold`…
    pub kind: Option<&'static str>,
    /// The address of the grain, if that is known.
    pub address: Option<ContentAddress>,
    /// The fault.
    pub reason: &'static str,
}

impl Recovered {
    /// Returns the number of entries that did not come out.
    pub fn lost_entries(&self) -> u64 {
        let lost = self.lost.iter();
        lost.map(|lost| lost.entries.end.get() - lost.entries.start.get())
            .sum()
    }
}

//! The outcome of an import: its records counted by outcome, with the refusals and findings.

use crate::codec::ContentAddress;
use crate::interchange::{self, ForeignId, Loss, Place};
use crate::policy::Rule;

/// The outcome of an import: its records, counted by outcome.
#[derive(Debug, Default)]
pub struct Summary {
    /// New grains.
    pub inserted: u64,
    /// New grains that replace earlier versions of their records.
    pub updated: u64,
    /// Grains that were here and ended, or were judged, as the owner's own copy says.
    pub corrected: u64,
    /// Legal holds that were placed here as in the owner's own copy.
    pub held: u64,
    /// The versions that say when an item of a tree ended: the tree has it no more.
    pub ended: Vec<ContentAddress>,
    /// Grains that are current here and ended in a file that the owner does not vouch for, and those
    /// that this store and the owner's copy replaced by different ones, with their places.
    pub unapplied: Vec<(Place, ContentAddress)>,
    /// Grains that were stored already, and records older than the stored version.
    pub unchanged: u64,
    /// Vectors that are new or have changed.
    pub embedded: u64,
    /// Records that contradict an earlier import or a change made in this store.
    pub conflicts: Vec<Conflict>,
    /// Records that would replace a protected grain (OMS 23), each with its place, the grain and the rule;
    /// each refusal is recorded.
    pub denied: Vec<(Place, ContentAddress, Rule)>,
    /// Records that are not valid grains, with their errors.
    pub refused: Vec<interchange::Error>,
    /// Records of grains that were deleted here: they are not stored again (OMS 28.4).
    pub erased: Vec<Place>,
    /// Findings about stored records, with their places.
    pub findings: Vec<(Place, String)>,
    /// Those of the findings that are warnings about valid grains (ruling P17).
    pub warnings: Vec<(Place, String)>,
    /// The information of the file that grains cannot carry.
    pub loss: Loss,
}

/// Grains of one foreign identifier that contradict each other (OMI 13.4), or a grain that stands with those
/// that a file puts in its place (rulings I4, I17): nothing decides between them.
///
/// ```
/// use grainstore::{Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// assert!(store.admin()?.conflicts()?.is_empty());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The identifier; `None` where the later versions are put in the place of the first.
    pub id: Option<ForeignId>,
    /// The grains. Of an import the one that was here, then the one that is stored for the record, which is
    /// missing where the format rejects it (AIMEM 2.9).
    pub versions: Vec<ContentAddress>,
    /// The place of the record in the file of an import; `None` where [`Admin::conflicts`](crate::Admin::conflicts)
    /// lists what imports left.
    pub place: Option<Place>,
}

impl Summary {
    /// Returns whether every record is stored, none contradicts another, and nothing that the file
    /// says of a grain that is here is left out.
    pub fn is_complete(&self) -> bool {
        self.conflicts.is_empty() && self.unapplied.is_empty() && self.refusals() == 0
    }

    /// Returns the number of refused records, by all rules.
    pub fn refusals(&self) -> u64 {
        (self.refused.len() + self.erased.len() + self.denied.len()) as u64
    }
}

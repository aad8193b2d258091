//! The outcome of an import, record by record.

use crate::codec::ContentAddress;
use crate::interchange::{self, ForeignId, Loss, Place};
use crate::policy::Rule;

/// What an import did, record by record counted.
#[derive(Debug, Default)]
pub struct Summary {
    /// Grains that are new here.
    pub inserted: u64,
    /// Grains that are new here and take the place of what their records said before.
    pub updated: u64,
    /// Grains that were here already, and records that are older than what is here.
    pub unchanged: u64,
    /// Vectors that are new here, or others than before.
    pub embedded: u64,
    /// Records that contradict an earlier import, or a change that was made here.
    pub conflicts: Vec<Conflict>,
    /// Records that would replace what policy protects (OMS 23); each refusal is recorded.
    pub denied: Vec<Denied>,
    /// Records that are not grains, with what is wrong with them.
    pub refused: Vec<interchange::Error>,
    /// Records of what was deleted here: they do not come back (OMS 28.4).
    pub erased: Vec<Place>,
    /// What is stored but odd: where, and what about it.
    pub findings: Vec<(Place, String)>,
    /// What the file says and grains cannot carry.
    pub loss: Loss,
}

/// A record that says something else than what was imported under its name, with nothing to
/// choose between the two by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where it stands in the file.
    pub place: Place,
    /// Its name.
    pub id: ForeignId,
    /// The grain it was imported as.
    pub existing: ContentAddress,
    /// The grain it is kept as, until [`Admin::resolve_conflict`](crate::store::Admin::resolve_conflict);
    /// none where the format has it rejected (AIMEM 2.9).
    pub kept: Option<ContentAddress>,
}

/// A record that policy kept from replacing a grain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// Where it stands in the file.
    pub place: Place,
    /// The grain that is protected.
    pub existing: ContentAddress,
    /// The rule that spoke.
    pub rule: Rule,
}

impl Summary {
    /// Returns whether every record is in the store now, and none contradicts another.
    pub fn is_complete(&self) -> bool {
        self.conflicts.is_empty() && self.refusals() == 0
    }

    /// Returns how many records were kept out, by whatever rule.
    pub fn refusals(&self) -> u64 {
        (self.refused.len() + self.erased.len() + self.denied.len()) as u64
    }
}

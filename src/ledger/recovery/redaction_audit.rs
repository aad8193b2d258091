use std::collections::BTreeSet;

use crate::ledger::segment::entry::body_fault;
use crate::ledger::{Entry, Kind};

/// Tells which entries the body of an entry of kind [`Kind::Erasing`] lists. Bodies are the
/// caller's; the ledger asks of none but these.
pub type ErasureDecoder = fn(&[u8]) -> Vec<u64>;

/// The bodies that a pass could not prove, and the entries that it saw listed by erasures: an
/// erasure comes after what it erases, so the pass has to end before the two can be compared.
#[derive(Debug, Default)]
pub(in crate::ledger) struct RedactionAudit {
    met: Vec<Unproven>,
    pub(in crate::ledger) listed: BTreeSet<u64>,
}

/// A body that is not the one its header commits to, in a frame that was durable.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct Unproven {
    pub(in crate::ledger) sequence: u64,
    pub(in crate::ledger) segment: u32,
    pub(in crate::ledger) offset: u64,
    /// What is wrong if no erasure lists it.
    pub(in crate::ledger) reason: &'static str,
}

impl Unproven {
    pub(in crate::ledger) const fn new(
        sequence: u64,
        segment: u32,
        offset: u64,
        blank: bool,
    ) -> Self {
        Self {
            sequence,
            segment,
            offset,
            reason: body_fault(blank),
        }
    }
}

impl RedactionAudit {
    /// Takes in an entry that was proven.
    pub(in crate::ledger) fn learn(&mut self, entry: &Entry<'_>, erases: ErasureDecoder) {
        if entry.header.kind == Kind::Erasing {
            let rows = erases(&entry.body).into_iter();
            // Nothing is erased before it is there.
            self.listed
                .extend(rows.filter(|row| *row < entry.header.sequence));
        }
    }

    pub(in crate::ledger) fn meet(&mut self, unproven: Unproven) {
        self.met.push(unproven);
    }

    /// Returns what was met and no erasure lists, in order.
    pub(in crate::ledger) fn unlisted(&self) -> impl Iterator<Item = Unproven> {
        let met = self.met.iter().copied();
        met.filter(|unproven| !self.listed.contains(&unproven.sequence))
    }
}

//! The audit of blank bodies: each must be listed by an erasure that comes after it.
//!
//! An unlisted blank body is damage, else an attacker could delete by writing zeros.

use std::collections::BTreeSet;

use crate::ledger::segment::entry::{RawEntry, body_fault};
use crate::ledger::{Entry, EntryHeader, EntryId, Kind};

/// Returns the entries that the body of an entry of kind [`Kind::Erasing`] lists. The caller
/// supplies it, because the ledger interprets no bodies.
pub(crate) type ErasureDecoder = fn(&[u8]) -> Vec<EntryId>;

/// The bodies that a pass could not prove, and the entries that erasures list. An erasure comes
/// after what it erases, so the two are compared at the end of the pass.
#[derive(Debug, Default)]
pub(in crate::ledger) struct RedactionAudit {
    unproven: Vec<Unproven>,
    pub(in crate::ledger) listed: BTreeSet<EntryId>,
}

/// A body that is not the one its header commits to, in a frame that was durable.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct Unproven {
    pub(in crate::ledger) sequence: EntryId,
    pub(in crate::ledger) segment: u32,
    pub(in crate::ledger) offset: u64,
    /// Where the entry ends.
    pub(in crate::ledger) end: u64,
    /// Whether it is the body of a grain: without it, the other entries mean the same.
    pub(in crate::ledger) is_grain: bool,
    /// The fault it is if no erasure lists it.
    pub(in crate::ledger) reason: &'static str,
}

impl Unproven {
    pub(in crate::ledger) fn new(
        sequence: EntryId,
        segment: u32,
        offset: u64,
        raw: &RawEntry<'_>,
        blank: bool,
    ) -> Self {
        let kind = EntryHeader::decode(raw.header).map(|header| header.kind);
        Self {
            sequence,
            segment,
            offset,
            end: offset.saturating_add(raw.len() as u64),
            is_grain: kind == Ok(Kind::Grain),
            reason: body_fault(blank),
        }
    }
}

impl RedactionAudit {
    /// Records the entries that a proven entry lists, if it is an erasure.
    pub(in crate::ledger) fn record(&mut self, entry: &Entry<'_>, erases: ErasureDecoder) {
        if entry.header.kind == Kind::Erasing {
            let rows = erases(&entry.body).into_iter();
            // An erasure lists earlier entries only.
            self.listed
                .extend(rows.filter(|row| *row < entry.header.sequence));
        }
    }

    pub(in crate::ledger) fn add_unproven(&mut self, unproven: Unproven) {
        self.unproven.push(unproven);
    }

    /// Returns the unproven bodies that no erasure lists, in order.
    pub(in crate::ledger) fn unlisted(&self) -> impl Iterator<Item = Unproven> {
        let unproven = self.unproven.iter().copied();
        unproven.filter(|unproven| !self.listed.contains(&unproven.sequence))
    }
}

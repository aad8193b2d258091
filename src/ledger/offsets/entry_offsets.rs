//! The in-memory table of where every entry lies: 8 bytes an entry.
//!
//! It also knows the durable end and the erased entries. It reads and writes no file.

use std::collections::BTreeSet;
use std::hash::Hasher;

use sha2::{Digest, Sha256};
use siphasher::sip::SipHasher13;

use crate::ledger::segment::entry::OVERHEAD;
use crate::ledger::segment::segment_file;
use crate::ledger::{EntryHeader, EntryId, EntryLocation, LedgerPosition, RecoveryHint, StoreId};

/// The location of every entry, in 8 bytes an entry. Recovery and appends fill it.
#[derive(Debug, Clone)]
pub(in crate::ledger) struct EntryOffsets {
    segments: Vec<Segment>,
    len: u64,
    head: [u8; 32],
    durable: LedgerPosition,
    erased: BTreeSet<EntryId>,
}

#[derive(Debug, Clone)]
struct Segment {
    number: u32,
    first: u64,
    end: u64,
    offsets: Vec<CheckedOffset>,
}

/// The offset of one entry in its segment, and a check of its header. The frame's check covers
/// headers, but the read of a single entry does not see the frame.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct CheckedOffset {
    offset: u32,
    check: u32,
}

impl CheckedOffset {
    /// Returns the offset of an entry; `None` past 4 GiB, where no segment reaches.
    pub(in crate::ledger) fn new(offset: u64, header: &[u8; EntryHeader::LEN]) -> Option<Self> {
        Some(Self {
            offset: u32::try_from(offset).ok()?,
            check: check(header),
        })
    }

    const fn in_segment(self, segment: u32) -> EntryLocation {
        EntryLocation {
            segment,
            offset: self.offset,
            check: self.check,
        }
    }
}

/// A [`CheckedOffset`] with its segment and the room behind it.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct EntryExtent {
    /// The number of the segment.
    pub(in crate::ledger) segment: u32,
    /// Where the segment's frames end.
    pub(in crate::ledger) end: u64,
    /// Where the entry begins.
    pub(in crate::ledger) offset: u64,
    /// The number of bytes from there to the next entry. The entry takes the first of them.
    pub(in crate::ledger) bytes_to_next: usize,
    /// Whether an erasure lists the entry.
    pub(in crate::ledger) erased: bool,
    check: u32,
}

impl EntryExtent {
    /// Returns whether this is the header that was proven when the offset was taken.
    pub(in crate::ledger) fn has(&self, header: &[u8; EntryHeader::LEN]) -> bool {
        check(header) == self.check
    }
}

/// The extent of one segment.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct SegmentExtent {
    pub(in crate::ledger) number: u32,
    /// The sequence of its first entry.
    pub(in crate::ledger) first: u64,
    /// Where its frames end.
    pub(in crate::ledger) end: u64,
    /// Its last entry; `None` while it is empty.
    pub(in crate::ledger) last: Option<EntryLocation>,
}

impl EntryOffsets {
    /// Returns the offsets of a ledger without segments; its head is the leaf before the first.
    pub(in crate::ledger) fn new(store_id: &StoreId) -> Self {
        Self::starting(LedgerPosition {
            entries: 0,
            head: origin(store_id),
            segment: 0,
            offset: 0,
        })
    }

    fn starting(position: LedgerPosition) -> Self {
        Self {
            segments: Vec::new(),
            len: position.entries,
            head: position.head,
            durable: position,
            erased: BTreeSet::new(),
        }
    }

    /// Returns the offsets that a hint gives, with `ends`, the lengths of the segments before its
    /// position; or why the hint is wrong.
    pub(in crate::ledger) fn from_hint(
        hint: RecoveryHint,
        ends: &[u64],
    ) -> Result<Self, &'static str> {
        let position = hint.position;
        let mut offsets = Self::starting(position);
        let mut locations = hint.locations.as_slice();
        let mut first = 0;
        for (number, end) in (1..).zip(ends.iter().copied().chain([position.offset])) {
            let mut floor = segment_file::HEADER_LEN as u64;
            let here = locations.partition_point(|location| location.segment <= number);
            let (within, rest) = locations.split_at(here);
            locations = rest;
            let mut inside = Vec::with_capacity(within.len());
            for location in within {
                let (offset, check) = (location.offset, location.check);
                let is_inside = u64::from(offset) >= floor && u64::from(offset) + MIN_LEN <= end;
                if location.segment != number || !is_inside {
                    return Err(MISPLACED);
                }
                floor = u64::from(offset) + MIN_LEN;
                inside.push(CheckedOffset { offset, check });
            }
            let len = inside.len() as u64;
            offsets.segments.push(Segment {
                number,
                first,
                end,
                offsets: inside,
            });
            first += len;
        }
        if !locations.is_empty() || first != position.entries {
            return Err(MISPLACED);
        }
        offsets.erase(hint.erased);
        Ok(offsets)
    }

    /// Returns offsets that begin at the end of these, for what comes next: [`Self::extend`] takes
    /// them.
    pub(in crate::ledger) fn continuation(&self) -> Self {
        let end = self.end();
        let begun = self.segments.last().map(|last| Segment {
            number: last.number,
            first: last.first,
            end: last.end,
            offsets: Vec::new(),
        });
        Self {
            segments: begun.into_iter().collect(),
            ..Self::starting(end)
        }
    }

    /// Adds the offsets of a [continuation](Self::continuation).
    pub(in crate::ledger) fn extend(&mut self, more: Self) {
        for segment in more.segments {
            match self.segments.last_mut() {
                Some(last) if last.number == segment.number => {
                    last.offsets.extend(segment.offsets);
                    last.end = segment.end;
                }
                _ => self.segments.push(segment),
            }
        }
        self.len = more.len;
        self.head = more.head;
    }

    /// Returns the first sequence of the last segment.
    pub(in crate::ledger) fn last_first(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.first)
    }

    /// Returns the number of entries in a segment.
    pub(in crate::ledger) fn entries_in(&self, number: u32) -> u64 {
        let mut segments = self.segments.iter();
        let segment = segments.find(|segment| segment.number == number);
        segment.map_or(0, |segment| segment.offsets.len() as u64)
    }

    /// Returns the durable end.
    pub(in crate::ledger) const fn durable(&self) -> LedgerPosition {
        self.durable
    }

    /// Records that all entries are durable.
    pub(in crate::ledger) fn mark_durable(&mut self) {
        self.durable = self.end();
    }

    /// Records that an erasure lists these entries.
    pub(in crate::ledger) fn erase(&mut self, rows: impl IntoIterator<Item = EntryId>) {
        self.erased.extend(rows);
    }

    pub(in crate::ledger) const fn erased(&self) -> &BTreeSet<EntryId> {
        &self.erased
    }

    pub(in crate::ledger) fn end(&self) -> LedgerPosition {
        let last = self.segments.last();
        LedgerPosition {
            entries: self.len,
            head: self.head,
            segment: last.map_or(0, |segment| segment.number),
            offset: last.map_or(0, |segment| segment.end),
        }
    }

    /// Removes the entries behind a position between two frames.
    pub(in crate::ledger) fn cut(&mut self, position: &LedgerPosition) {
        self.segments
            .retain(|segment| segment.number <= position.segment);
        if let Some(last) = self.segments.last_mut() {
            let kept = position.entries.saturating_sub(last.first);
            last.offsets
                .truncate(usize::try_from(kept).unwrap_or(usize::MAX));
            last.end = position.offset;
        }
        self.len = position.entries;
        self.head = position.head;
        drop(self.erased.split_off(&EntryId::new(position.entries)));
        self.mark_durable();
    }

    /// Adds an empty segment.
    pub(in crate::ledger) fn begin_segment(&mut self, number: u32) {
        if let Some(closed) = self.segments.last_mut() {
            closed.offsets.shrink_to_fit();
        }
        self.segments.push(Segment {
            number,
            first: self.len,
            end: segment_file::HEADER_LEN as u64,
            offsets: Vec::new(),
        });
    }

    /// Adds a frame to the last segment: its entries, the leaf of the last, and where it ends.
    pub(in crate::ledger) fn add_frame(
        &mut self,
        offsets: &[CheckedOffset],
        head: [u8; 32],
        end: u64,
    ) {
        if let Some(segment) = self.segments.last_mut() {
            let room = segment.offsets.capacity() - segment.offsets.len();
            if room < offsets.len() {
                // A vector that doubles would leave up to half of its room empty.
                let more = offsets.len().max(segment.offsets.len() / 8);
                segment.offsets.reserve_exact(more);
            }
            segment.offsets.extend_from_slice(offsets);
            segment.end = end;
            self.len += offsets.len() as u64;
            self.head = head;
        }
    }

    /// Returns the extents of all segments, in order.
    pub(in crate::ledger) fn extents(&self) -> Vec<SegmentExtent> {
        let segments = self.segments.iter();
        let extents = segments.map(|segment| SegmentExtent {
            number: segment.number,
            first: segment.first,
            end: segment.end,
            last: segment
                .offsets
                .last()
                .map(|offset| offset.in_segment(segment.number)),
        });
        extents.collect()
    }

    /// Returns the last entry of a segment that begins before `offset`.
    pub(in crate::ledger) fn last_before(&self, number: u32, offset: u64) -> Option<EntryLocation> {
        let nth = usize::try_from(number.checked_sub(1)?).ok()?;
        let offsets = &self.segments.get(nth)?.offsets;
        let after = offsets.partition_point(|entry| u64::from(entry.offset) < offset);
        Some(offsets.get(after.checked_sub(1)?)?.in_segment(number))
    }

    /// Returns the location of an entry for a derived file; `None` past the end.
    pub(in crate::ledger) fn location(&self, sequence: EntryId) -> Option<EntryLocation> {
        let location = self.locate(sequence)?;
        Some(EntryLocation {
            segment: location.segment,
            offset: u32::try_from(location.offset).ok()?,
            check: location.check,
        })
    }

    /// Returns the extent of an entry; `None` past the end.
    pub(in crate::ledger) fn locate(&self, sequence: EntryId) -> Option<EntryExtent> {
        let after = self
            .segments
            .partition_point(|segment| segment.first <= sequence.get());
        let segment = self.segments.get(after.checked_sub(1)?)?;
        let nth = usize::try_from(sequence.get().checked_sub(segment.first)?).ok()?;
        let entry = segment.offsets.get(nth)?;
        let offset = u64::from(entry.offset);
        let next = segment.offsets.get(nth + 1);
        let next = next.map_or(segment.end, |next| u64::from(next.offset));
        Some(EntryExtent {
            segment: segment.number,
            end: segment.end,
            offset,
            bytes_to_next: usize::try_from(next.checked_sub(offset)?).ok()?,
            erased: self.erased.contains(&sequence),
            check: entry.check,
        })
    }
}

/// Returns the leaf before the first: SHA-256(store id).
pub(in crate::ledger) fn origin(store_id: &StoreId) -> [u8; 32] {
    Sha256::digest(store_id.as_bytes()).into()
}

pub(in crate::ledger) fn check(header: &[u8; EntryHeader::LEN]) -> u32 {
    // It guards against rot between opening and reading, not against an attacker, so it has no key.
    let mut hash = SipHasher13::new();
    hash.write(header);
    let [.., a, b, c, d] = hash.finish().to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// The length of the smallest entry.
const MIN_LEN: u64 = OVERHEAD as u64;
const MISPLACED: &str = "the entries are not where the index has seen them";

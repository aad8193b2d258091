use std::collections::BTreeSet;
use std::hash::Hasher;

use sha2::{Digest, Sha256};
use siphasher::sip::SipHasher13;

use crate::ledger::segment::entry::OVERHEAD;
use crate::ledger::segment::segment_file;
use crate::ledger::{EntryPlace, Header, Known, Mark, StoreId};

/// Where every entry lies, in 8 bytes an entry; filled by the opening pass and by appends.
#[derive(Debug, Clone)]
pub(in crate::ledger) struct Table {
    segments: Vec<Segment>,
    len: u64,
    head: [u8; 32],
    durable: End,
    erased: BTreeSet<u64>,
}

#[derive(Debug, Clone)]
struct Segment {
    number: u32,
    first: u64,
    end: u64,
    places: Vec<Place>,
}

/// Where one entry lies in its segment, and a check of its header: the frame's check covers
/// headers, but a single read does not see the frame.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct Place {
    offset: u32,
    check: u32,
}

impl Place {
    /// Returns the place of an entry; none past 4 GiB, where no segment reaches.
    pub(in crate::ledger) fn new(offset: u64, header: &[u8; Header::LEN]) -> Option<Self> {
        Some(Self {
            offset: u32::try_from(offset).ok()?,
            check: check(header),
        })
    }

    const fn kept(self, segment: u32) -> EntryPlace {
        EntryPlace {
            segment,
            offset: self.offset,
            check: self.check,
        }
    }
}

/// A [`Place`] with its segment.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct Location {
    /// The number of the segment.
    pub(in crate::ledger) segment: u32,
    /// Where the segment's frames end.
    pub(in crate::ledger) end: u64,
    /// Where the entry begins.
    pub(in crate::ledger) offset: u64,
    /// The bytes from there to the next entry, of which it is the first part.
    pub(in crate::ledger) room: usize,
    /// Whether an erasure lists the entry.
    pub(in crate::ledger) erased: bool,
    check: u32,
}

impl Location {
    /// Returns whether this is the header that was there when the place was learnt.
    pub(in crate::ledger) fn has(&self, header: &[u8; Header::LEN]) -> bool {
        check(header) == self.check
    }
}

/// The end of the ledger at one moment.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct End {
    /// The number of entries.
    pub(in crate::ledger) len: u64,
    /// The last leaf.
    pub(in crate::ledger) head: [u8; 32],
    /// The number of the last segment; 0 before there is one.
    pub(in crate::ledger) segment: u32,
    /// Where its frames end.
    pub(in crate::ledger) offset: u64,
}

/// What is known of one segment.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct Extent {
    pub(in crate::ledger) number: u32,
    /// The sequence of its first entry.
    pub(in crate::ledger) first: u64,
    /// Where its frames end.
    pub(in crate::ledger) end: u64,
    /// Its last entry; none while it has none.
    pub(in crate::ledger) last: Option<EntryPlace>,
}

impl Table {
    /// Returns the table of a ledger without segments; its head is the leaf before the first.
    pub(in crate::ledger) fn new(store_id: &StoreId) -> Self {
        Self::starting(Mark {
            entries: 0,
            head: origin(store_id),
            segment: 0,
            offset: 0,
        })
    }

    fn starting(mark: Mark) -> Self {
        Self {
            segments: Vec::new(),
            len: mark.entries,
            head: mark.head,
            durable: End {
                len: mark.entries,
                head: mark.head,
                segment: mark.segment,
                offset: mark.offset,
            },
            erased: BTreeSet::new(),
        }
    }

    /// Returns the table of what others know, and `ends`, the lengths of the segments before the
    /// one with the mark; or why that cannot be.
    pub(in crate::ledger) fn known(known: Known, ends: &[u64]) -> Result<Self, &'static str> {
        let mark = known.mark;
        let mut table = Self::starting(mark);
        let mut places = known.places.into_iter().peekable();
        let mut first = 0;
        for (number, end) in (1..).zip(ends.iter().copied().chain([mark.offset])) {
            let mut floor = segment_file::HEADER_LEN as u64;
            let mut inside = Vec::new();
            while let Some(place) = places.next_if(|place| place.segment == number) {
                let (offset, check) = (place.offset, place.check);
                if u64::from(offset) < floor || u64::from(offset) + MIN_LEN > end {
                    return Err(MISPLACED);
                }
                floor = u64::from(offset) + MIN_LEN;
                inside.push(Place { offset, check });
            }
            let len = inside.len() as u64;
            table.segments.push(Segment {
                number,
                first,
                end,
                places: inside,
            });
            first += len;
        }
        if places.next().is_some() || first != mark.entries {
            return Err(MISPLACED);
        }
        table.erase(known.erased);
        Ok(table)
    }

    /// Returns the first sequence of the last segment.
    pub(in crate::ledger) fn last_first(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.first)
    }

    /// Returns the end that is known durable.
    pub(in crate::ledger) const fn durable(&self) -> End {
        self.durable
    }

    /// Says that all there is is durable.
    pub(in crate::ledger) fn settle(&mut self) {
        self.durable = self.end();
    }

    /// Says that an erasure lists these entries.
    pub(in crate::ledger) fn erase(&mut self, rows: impl IntoIterator<Item = u64>) {
        self.erased.extend(rows);
    }

    pub(in crate::ledger) const fn erased(&self) -> &BTreeSet<u64> {
        &self.erased
    }

    pub(in crate::ledger) fn end(&self) -> End {
        let last = self.segments.last();
        End {
            len: self.len,
            head: self.head,
            segment: last.map_or(0, |segment| segment.number),
            offset: last.map_or(0, |segment| segment.end),
        }
    }

    /// Forgets what is behind a mark, which lies between two of its frames.
    pub(in crate::ledger) fn cut(&mut self, mark: &Mark) {
        self.segments
            .retain(|segment| segment.number <= mark.segment);
        if let Some(last) = self.segments.last_mut() {
            let kept = mark.entries.saturating_sub(last.first);
            last.places
                .truncate(usize::try_from(kept).unwrap_or(usize::MAX));
            last.end = mark.offset;
        }
        self.len = mark.entries;
        self.head = mark.head;
        drop(self.erased.split_off(&mark.entries));
        self.settle();
    }

    /// Adds an empty segment.
    pub(in crate::ledger) fn begin_segment(&mut self, number: u32) {
        if let Some(closed) = self.segments.last_mut() {
            closed.places.shrink_to_fit();
        }
        self.segments.push(Segment {
            number,
            first: self.len,
            end: segment_file::HEADER_LEN as u64,
            places: Vec::new(),
        });
    }

    /// Adds a frame to the last segment: its entries, the leaf of the last, and where it ends.
    pub(in crate::ledger) fn add_frame(&mut self, places: &[Place], head: [u8; 32], end: u64) {
        if let Some(segment) = self.segments.last_mut() {
            segment.places.extend_from_slice(places);
            segment.end = end;
            self.len += places.len() as u64;
            self.head = head;
        }
    }

    /// Returns what is known of each segment, in order.
    pub(in crate::ledger) fn extents(&self) -> Vec<Extent> {
        let segments = self.segments.iter();
        let extents = segments.map(|segment| Extent {
            number: segment.number,
            first: segment.first,
            end: segment.end,
            last: segment
                .places
                .last()
                .map(|place| place.kept(segment.number)),
        });
        extents.collect()
    }

    /// Returns the last entry of a segment that begins before `offset`.
    pub(in crate::ledger) fn last_before(&self, number: u32, offset: u64) -> Option<EntryPlace> {
        let nth = usize::try_from(number.checked_sub(1)?).ok()?;
        let places = &self.segments.get(nth)?.places;
        let after = places.partition_point(|place| u64::from(place.offset) < offset);
        Some(places.get(after.checked_sub(1)?)?.kept(number))
    }

    /// Returns where an entry lies, for other files to keep; none past the end.
    pub(in crate::ledger) fn place(&self, sequence: u64) -> Option<EntryPlace> {
        let location = self.locate(sequence)?;
        Some(EntryPlace {
            segment: location.segment,
            offset: u32::try_from(location.offset).ok()?,
            check: location.check,
        })
    }

    /// Returns where an entry lies; none past the end.
    pub(in crate::ledger) fn locate(&self, sequence: u64) -> Option<Location> {
        let after = self
            .segments
            .partition_point(|segment| segment.first <= sequence);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        let nth = usize::try_from(sequence.checked_sub(segment.first)?).ok()?;
        let place = segment.places.get(nth)?;
        let offset = u64::from(place.offset);
        let next = segment.places.get(nth + 1);
        let next = next.map_or(segment.end, |next| u64::from(next.offset));
        Some(Location {
            segment: segment.number,
            end: segment.end,
            offset,
            room: usize::try_from(next.checked_sub(offset)?).ok()?,
            erased: self.erased.contains(&sequence),
            check: place.check,
        })
    }
}

/// Returns the leaf before the first: SHA-256(store id).
pub(in crate::ledger) fn origin(store_id: &StoreId) -> [u8; 32] {
    Sha256::digest(store_id.as_bytes()).into()
}

pub(in crate::ledger) fn check(header: &[u8; Header::LEN]) -> u32 {
    // Against rot between opening and reading, not against an attacker: no key.
    let mut hash = SipHasher13::new();
    hash.write(header);
    let [.., a, b, c, d] = hash.finish().to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// The room that the smallest entry takes.
const MIN_LEN: u64 = OVERHEAD as u64;
const MISPLACED: &str = "the entries are not where the index has seen them";

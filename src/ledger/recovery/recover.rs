//! Recovery: the pass that opens a ledger, over every byte behind the recovery hint.
//!
//! Invariant: nothing is changed before everything is proven. Bodies before the hint are not read.

use std::io;
use std::sync::Arc;

use super::redaction_audit::{ErasureDecoder, RedactionAudit, Unproven};
use super::segment_pass::SegmentPass;
use super::torn_tail::{self, Tear, TornTail, damage};
use crate::ledger::offsets::entry_offsets::{EntryOffsets, check};
use crate::ledger::segment::entry::{OVERHEAD, declared_extent};
use crate::ledger::segment::frame;
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::segment_file::{self, HeaderFault, SegmentHeader};
use crate::ledger::{
    Disk, DiskFile, EntryHeader, EntryId, EntryLocation, Error, LedgerPosition, OpenMode,
    RecoveryHint, StoreId,
};

/// The pass that opens a ledger: it proves each frame behind the hint and collects the offsets.
pub(in crate::ledger) struct Recovery<'a> {
    pub(in crate::ledger) disk: &'a dyn Disk,
    pub(in crate::ledger) store_id: &'a StoreId,
    /// The number of entries that the caller's derived files have seen durable.
    pub(in crate::ledger) watermark: u64,
    pub(in crate::ledger) erases: ErasureDecoder,
    pub(in crate::ledger) audit: RedactionAudit,
    /// The damaged bodies that are returned instead of refused.
    pub(in crate::ledger) admitted: Admitted,
    /// The number of entries that the `synced` of a later frame covers.
    pub(in crate::ledger) proven: u64,
    /// Where the pass ends, if another process appends to the ledger.
    pub(in crate::ledger) until: Option<LedgerPosition>,
}

/// The entries whose damaged bodies a pass admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ledger) enum Admitted {
    Nothing,
    Grains,
    All,
}

/// The result of the pass.
pub(in crate::ledger) struct Recovered {
    /// The location of every entry.
    pub(in crate::ledger) offsets: EntryOffsets,
    /// The torn tail that was set aside.
    pub(in crate::ledger) torn: Option<TornTail>,
    /// The entries that erasures behind the hint list.
    pub(in crate::ledger) erased: Vec<EntryId>,
    /// The entries with damaged bodies, in order.
    pub(in crate::ledger) damaged: Vec<EntryId>,
    /// The number of entries that are known to be durable.
    pub(in crate::ledger) proven: u64,
}

impl Recovery<'_> {
    /// Proves the bytes behind the hint, and sets a torn tail aside.
    pub(in crate::ledger) fn run(self, hint: Option<RecoveryHint>) -> Result<Recovered, Error> {
        let disk = self.disk;
        set_torn_aside(disk, self.prove(hint)?)
    }

    /// Proves the bytes behind the end of `offsets`, and sets a torn tail aside.
    pub(in crate::ledger) fn run_from(self, offsets: EntryOffsets) -> Result<Recovered, Error> {
        let disk = self.disk;
        set_torn_aside(disk, self.prove_from(offsets)?)
    }

    /// Proves the bytes behind the hint and changes nothing; returns the tear, if there is one.
    pub(in crate::ledger) fn prove(
        self,
        hint: Option<RecoveryHint>,
    ) -> Result<(Recovered, Option<Tear>), Error> {
        let numbers = segment_file::numbers(self.disk)?;
        let offsets = match hint {
            Some(hint) => self.resume(hint, &numbers)?,
            None => EntryOffsets::new(self.store_id),
        };
        self.pass_segments(offsets, &numbers)
    }

    /// Proves the bytes behind the end of `offsets`, as [`Recovery::prove`].
    pub(in crate::ledger) fn prove_from(
        self,
        offsets: EntryOffsets,
    ) -> Result<(Recovered, Option<Tear>), Error> {
        let numbers = segment_file::numbers(self.disk)?;
        self.pass_segments(offsets, &numbers)
    }

    fn pass_segments(
        mut self,
        mut offsets: EntryOffsets,
        numbers: &[u32],
    ) -> Result<(Recovered, Option<Tear>), Error> {
        let begun = offsets.end().segment.max(1);
        let last = match self.until {
            Some(until) => until.segment.max(begun),
            None => numbers.last().copied().unwrap_or(1).max(begun),
        };
        let mut tear = None;
        for number in begun..=last {
            require(numbers, number, offsets.end().entries)?;
            tear = self.pass(number, number == last, &mut offsets)?;
        }
        let end = offsets.end();
        if end.entries < self.watermark {
            let reason = "the ledger ends before entries that were durable";
            return Err(damage(end.segment, end.offset, end.entries, reason));
        }
        if self.until.is_some_and(|until| until != end) {
            let reason = "the ledger is not the one whose end was published";
            return Err(damage(end.segment, end.offset, end.entries, reason));
        }
        let damaged: Vec<EntryId> = self.audit.unlisted().map(|body| body.sequence).collect();
        let refused = |body: &Unproven| match self.admitted {
            Admitted::Nothing => true,
            Admitted::Grains => !body.is_grain,
            Admitted::All => false,
        };
        if let Some(blank) = self.audit.unlisted().find(refused) {
            let (segment, offset) = (blank.segment, blank.offset);
            return Err(damage(segment, offset, blank.sequence.get(), blank.reason));
        }
        let found = Recovered {
            offsets,
            torn: None,
            erased: self.audit.listed.into_iter().collect(),
            damaged,
            proven: self.proven,
        };
        Ok((found, tear))
    }

    /// Returns the offsets up to the hint's position, if the segments exist and end where the hint
    /// says.
    fn resume(&self, hint: RecoveryHint, numbers: &[u32]) -> Result<EntryOffsets, Error> {
        let position = hint.position;
        let mut ends = Vec::new();
        let mut first = 0;
        for number in 1..=position.segment {
            require(numbers, number, first as u64)?;
            let (file, end) = self.file(number)?;
            if let Some(tear) = self.header(number, &*file, end, first as u64)? {
                return Err(tear.damage());
            }
            let locations = &hint.locations;
            let next = locations.partition_point(|location| location.segment <= number);
            let last = locations.get(first..next).and_then(<[_]>::last);
            let is_closed = number < position.segment;
            let expected = if is_closed { end } else { position.offset };
            if end < expected || end_of(&*file, number, last)? != Some(expected) {
                return Err(damage(number, end, next as u64, SHORTER));
            }
            if is_closed {
                ends.push(end);
            }
            first = next;
        }
        EntryOffsets::from_hint(hint, &ends)
            .map_err(|reason| damage(position.segment, position.offset, position.entries, reason))
    }

    fn file(&self, number: u32) -> Result<(Arc<dyn DiskFile>, u64), Error> {
        let name = segment_file::name_of(number);
        let failed = |source| Error::io("read", &name, source);
        let file = segment_file::open(self.disk, &name, OpenMode::Read).map_err(failed)?;
        let end = file.len_bytes().map_err(failed)?;
        Ok((file, end))
    }

    /// Checks the header of a segment whose first entry is `first`; returns the tear if it is torn.
    fn header(
        &self,
        number: u32,
        file: &dyn DiskFile,
        end: u64,
        first: u64,
    ) -> Result<Option<Tear>, Error> {
        let header = SegmentHeader::read(file, end, self.store_id);
        let header = header.map_err(|s| Error::io("read", &segment_file::name_of(number), s))?;
        match header {
            Err(HeaderFault::Version(version)) => Err(Error::Version {
                segment: number,
                version,
            }),
            Err(HeaderFault::Broken(reason)) => Ok(Some(Tear {
                segment: number,
                offset: 0,
                end,
                sequence: first,
                reason,
            })),
            Ok(header) if header.number != number => Err(damage(
                number,
                0,
                first,
                "the file has another segment's header",
            )),
            Ok(header) if header.first != first => Err(damage(
                number,
                0,
                first,
                "entries before this segment are missing",
            )),
            Ok(_) => Ok(None),
        }
    }

    fn pass(
        &mut self,
        number: u32,
        last: bool,
        offsets: &mut EntryOffsets,
    ) -> Result<Option<Tear>, Error> {
        let (file, end) = self.file(number)?;
        let end = match self.until {
            Some(until) if until.segment == number => end.min(until.offset),
            _ => end,
        };
        let begun = offsets.end();
        let is_begun = begun.segment == number;
        let first = if is_begun {
            offsets.last_first()
        } else {
            begun.entries
        };
        let mut tear = self.header(number, &*file, end, first)?;
        if is_begun && (tear.is_some() || end < begun.offset) {
            return Err(damage(number, end, begun.entries, SHORTER));
        }
        if tear.is_none() {
            if !is_begun {
                offsets.begin_segment(number);
            }
            let mut pass = SegmentPass {
                recovery: self,
                file: &*file,
                number,
                end,
                witness: (!last).then_some(u64::MAX),
            };
            let frames = pass.frames(offsets);
            let frames = frames.map_err(|s| Error::io("read", &segment_file::name_of(number), s));
            tear = frames??.map(|reason| Tear {
                segment: number,
                offset: offsets.end().offset,
                end,
                sequence: offsets.end().entries,
                reason,
            });
        }
        match tear {
            None => Ok(None),
            // Invariant: a segment is synced before the next is created, so only the last can be
            // torn.
            Some(tear) if !last => Err(tear.damage()),
            Some(tear) => {
                torn_tail::refuse_if_durable(&*file, &tear, self.store_id, self.watermark)?;
                Ok(Some(tear))
            }
        }
    }
}

/// Invariant: nothing is changed before everything is proven.
fn set_torn_aside(
    disk: &dyn Disk,
    (mut found, tear): (Recovered, Option<Tear>),
) -> Result<Recovered, Error> {
    let torn = tear.map(|tear| torn_tail::set_aside(disk, &tear));
    found.torn = torn.transpose()?.flatten();
    Ok(found)
}

/// Returns the end of an entry, by the length in its header; `None` if the header is not the
/// expected one. Without an entry, returns the end of the segment's header.
pub(in crate::ledger) fn end_of(
    file: &dyn DiskFile,
    number: u32,
    location: Option<&EntryLocation>,
) -> Result<Option<u64>, Error> {
    let Some(location) = location else {
        return Ok(Some(segment_file::HEADER_LEN as u64));
    };
    let offset = u64::from(location.offset);
    let mut header = [0; EntryHeader::LEN];
    match file.read_at(&mut header, offset) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read.map_err(|s| Error::io("read", &segment_file::name_of(number), s))?,
    }
    let known = declared_extent(&header).filter(|_| check(&header) == location.check);
    Ok(known.map(|(_, len)| offset + OVERHEAD as u64 + u64::from(len)))
}

fn require(numbers: &[u32], number: u32, sequence: u64) -> Result<(), Error> {
    match numbers.binary_search(&number) {
        Ok(_) => Ok(()),
        Err(_) => Err(damage(number, 0, sequence, "the segment is missing")),
    }
}

/// Rewrites in place the bytes that no frame proves to be durable, for the sync that follows.
///
/// After a failed sync the system may mark pages clean that never reached the disk, and serve them
/// from its cache. A later process then reads whole frames that its own sync would not write.
pub(in crate::ledger) fn rewrite_unproven(
    file: &dyn DiskFile,
    offsets: &EntryOffsets,
    proven: u64,
) -> io::Result<()> {
    let end = offsets.end();
    let mut offset = match offsets.locate(EntryId::new(proven)) {
        Some(location) if location.segment == end.segment && location.offset > FIRST_ENTRY => {
            location.offset.saturating_sub(frame::HEADER_LEN as u64)
        }
        // All entries are proven, and with them the header before them.
        None if end.offset > segment_file::HEADER_LEN as u64 => return Ok(()),
        // No frame of this segment proves its header.
        _ => 0,
    };
    let mut reader = ReadAhead::new(file, end.offset, SEQUENTIAL);
    while offset < end.offset {
        let part = reader.ahead(offset, 1)?;
        file.write_at(part, offset)?;
        offset = offset.saturating_add(part.len() as u64);
    }
    Ok(())
}

/// Where the first entry of a segment lies.
const FIRST_ENTRY: u64 = (segment_file::HEADER_LEN + frame::HEADER_LEN) as u64;

const SHORTER: &str = "the segment does not end where the index has seen it end";

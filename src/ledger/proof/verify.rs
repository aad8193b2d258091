//! Verification: reads the bytes of a ledger, proves them, and reports every fault.
//!
//! Unlike recovery it changes nothing and goes on behind damage.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::ledger::log::ledger::Ledger;
use crate::ledger::offsets::entry_offsets::{SegmentExtent, origin};
use crate::ledger::recovery::recover::end_of;
use crate::ledger::recovery::redaction_audit::{ErasureDecoder, RedactionAudit, Unproven};
use crate::ledger::segment::compacted;
use crate::ledger::segment::entry::{Fault, leaf};
use crate::ledger::segment::frame::Frame;
use crate::ledger::segment::frame_search::FrameSearch;
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::room::is_room;
use crate::ledger::segment::segment_file::{self, HEADER_LEN, HeaderFault, SegmentHeader};
use crate::ledger::{
    Disk, DiskFile, EntryId, Error, LedgerPosition, MerkleTree, OpenMode, StoreId,
};

/// The result of a verification.
///
/// ```
/// # use std::sync::Arc;
/// use grainstore::ledger::{Ledger, SEGMENT_BYTES, MemoryDisk, StoreId, verify};
///
/// let disk = Arc::new(MemoryDisk::default());
/// let store_id = StoreId::new([7; 16]);
/// Ledger::create(disk.clone(), store_id, SEGMENT_BYTES)?;
/// assert!(verify(&*disk, &store_id, |_| Vec::new())?.findings.is_empty());
/// # Ok::<(), grainstore::ledger::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerVerification {
    /// The number of entries that are sound.
    pub entries: u64,
    /// The last leaf; meaningless if there are findings.
    pub head: [u8; 32],
    /// The root of the Merkle tree over all leaves (RFC 9162); `None` if only a part was read.
    /// Meaningless if there are findings.
    pub root: Option<[u8; 32]>,
    /// The tree heads after the requested numbers of entries, and at the end; empty if only a part
    /// was read.
    pub tree_heads: Vec<TreeHead>,
    /// The faults, in the order of the ledger.
    pub findings: Vec<SegmentFault>,
}

/// The tree head of a ledger after some number of entries (RFC 9162, 4.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeHead {
    /// The number of entries, including those erased since.
    pub entries: u64,
    /// The last leaf.
    pub head: [u8; 32],
    /// The root of the Merkle tree over the leaves.
    pub root: [u8; 32],
}

/// One fault in the bytes of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentFault {
    /// The number of the segment.
    pub segment: u32,
    /// Where in its file.
    pub offset: u64,
    /// Where the bytes end that are not proven; `offset` if that is not known.
    pub end: u64,
    /// Whether it is the body of a grain: everything else can be read without it.
    pub is_grain: bool,
    /// The entry there, or that should begin there.
    pub sequence: EntryId,
    /// The fault.
    pub reason: &'static str,
}

impl fmt::Display for SegmentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            offset,
            end,
            sequence,
            reason,
            ..
        } = self;
        let file = segment_file::name_of(self.segment);
        match end.checked_sub(1).filter(|last| last > offset) {
            Some(last) => write!(f, "{file}, bytes {offset} to {last}")?,
            None => write!(f, "{file}, byte {offset}")?,
        }
        let kind = if self.is_grain { " (a grain)" } else { "" };
        write!(f, ", entry {sequence}{kind}: {reason}")
    }
}

/// Reads every byte of a ledger, which need not be open or able to open, and changes none.
///
/// A torn tail is a finding here; opening would set it aside. `erases` is as for [`Ledger::open`]:
/// a blank entry is a finding only if no erasure lists it.
///
/// # Errors
/// `ERR_STORAGE_IO`; damage is a finding, not an error.
pub fn verify(
    disk: &dyn Disk,
    store_id: &StoreId,
    erases: ErasureDecoder,
) -> Result<LedgerVerification, Error> {
    let mut pass = Pass::new(disk, store_id, erases);
    pass.walk(None)?;
    Ok(pass.finish(None))
}

/// Reads every byte up to the present end, and compares the end with the one this process
/// knows. Appends go on meanwhile.
///
/// # Errors
/// `ERR_STORAGE_IO`; damage is a finding, not an error.
pub fn verify_ledger(ledger: &Ledger) -> Result<LedgerVerification, Error> {
    verify_at(ledger, &[])
}

/// Reads every byte as [`verify_ledger`] does, and also reports the tree heads after the
/// numbers of entries in `requested`.
///
/// # Errors
/// As [`verify_ledger`].
pub fn verify_at(ledger: &Ledger, requested: &[u64]) -> Result<LedgerVerification, Error> {
    let end = ledger.offsets.read().end();
    let mut pass = Pass::new(&*ledger.disk, &ledger.store_id, |_| Vec::new());
    pass.requested = requested.to_vec();
    pass.watch();
    pass.walk(Some(end))?;
    // Invariant: an entry is listed before it is blanked, so every blank that the pass met is
    // listed by now.
    pass.audit.listed = ledger.offsets.read().erased().clone();
    Ok(pass.finish(Some(end)))
}

/// Checks the header and the end of every segment, and proves each frame behind `position` (all
/// without one) up to the head that this process knows. It is quick: frames before the position
/// are not read.
///
/// # Errors
/// `ERR_STORAGE_IO`; damage is a finding, not an error.
pub fn verify_structure(
    ledger: &Ledger,
    position: Option<LedgerPosition>,
) -> Result<LedgerVerification, Error> {
    let (extents, end) = {
        let offsets = ledger.offsets.read();
        (offsets.extents(), offsets.end())
    };
    let position = position.filter(|position| position.entries <= end.entries);
    let position = position.unwrap_or(LedgerPosition {
        entries: 0,
        head: origin(&ledger.store_id),
        segment: 1,
        offset: HEADER_LEN as u64,
    });
    let mut pass = Pass::new(&*ledger.disk, &ledger.store_id, |_| Vec::new());
    for extent in &extents {
        pass.next = extent.first;
        let sound = pass.ends(extent)?;
        let from = if extent.number == position.segment {
            pass.next = position.entries;
            pass.found.entries = position.entries;
            pass.found.head = position.head;
            position.offset
        } else {
            HEADER_LEN as u64
        };
        if let Some(file) = sound
            && extent.number >= position.segment
        {
            let failed = |source| Error::io("read", &segment_file::name_of(extent.number), source);
            pass.frames(&*file, extent.number, from, extent.end)
                .map_err(failed)?;
        }
    }
    pass.audit.listed = ledger.offsets.read().erased().clone();
    Ok(pass.finish(Some(end)))
}

struct Pass<'a> {
    disk: &'a dyn Disk,
    store_id: &'a StoreId,
    erases: ErasureDecoder,
    audit: RedactionAudit,
    /// The sequence that is expected next.
    next: u64,
    /// The last segment, of which nothing is known.
    last: Option<u32>,
    tree: MerkleTree,
    /// The numbers of entries whose tree heads were requested.
    requested: Vec<u64>,
    found: LedgerVerification,
}

impl<'a> Pass<'a> {
    fn new(disk: &'a dyn Disk, store_id: &'a StoreId, erases: ErasureDecoder) -> Self {
        Self {
            disk,
            store_id,
            erases,
            audit: RedactionAudit::default(),
            next: 0,
            last: None,
            tree: MerkleTree::default(),
            requested: Vec::new(),
            found: LedgerVerification {
                entries: 0,
                head: origin(store_id),
                root: None,
                tree_heads: Vec::new(),
                findings: Vec::new(),
            },
        }
    }

    fn walk(&mut self, end: Option<LedgerPosition>) -> Result<(), Error> {
        let numbers = segment_file::numbers(self.disk)?;
        let last = numbers.last().copied().unwrap_or(1);
        self.last = end.is_none().then_some(last);
        let last = end.map_or(last, |end| end.segment);
        let mut expected = 1;
        for number in numbers.into_iter().filter(|number| *number <= last) {
            if number != expected {
                self.report(expected, 0, MISSING);
            }
            let limit = end.filter(|end| end.segment == number);
            self.segment(number, limit.map(|end| end.offset))?;
            expected = number.saturating_add(1);
        }
        if expected <= last {
            self.report(expected, 0, MISSING);
        }
        Ok(())
    }

    fn finish(mut self, end: Option<LedgerPosition>) -> LedgerVerification {
        self.found.root = (self.tree.len() == self.next).then(|| self.tree.root());
        self.requested = vec![self.next];
        self.watch();
        let unlisted = self.audit.unlisted().map(|unproven| SegmentFault {
            segment: unproven.segment,
            offset: unproven.offset,
            end: unproven.end,
            is_grain: unproven.is_grain,
            sequence: unproven.sequence,
            reason: unproven.reason,
        });
        self.found.findings.extend(unlisted);
        let findings = &mut self.found.findings;
        findings.sort_by_key(|finding| (finding.segment, finding.offset));
        if let Some(end) = end
            && findings.is_empty()
            && (self.next, self.found.head) != (end.entries, end.head)
        {
            self.report(
                end.segment,
                end.offset,
                "the ledger is not the one that was opened",
            );
        }
        self.found
    }

    fn segment(&mut self, number: u32, limit: Option<u64>) -> Result<(), Error> {
        let name = segment_file::name_of(number);
        let failed = |source| Error::io("read", &name, source);
        let file = segment_file::open(self.disk, &name, OpenMode::Read).map_err(failed)?;
        let len = file.len_bytes().map_err(failed)?;
        let end = limit.map_or(len, |limit| limit.min(len));
        self.tables(number)?;
        match SegmentHeader::read(&*file, end, self.store_id).map_err(failed)? {
            Ok(header) if header.number != number => {
                self.report(number, 0, "the file has another segment's header");
            }
            Ok(header) if header.first != self.next => {
                self.report(number, 0, "entries before this segment are missing");
                self.next = header.first;
            }
            Ok(_) => {}
            Err(HeaderFault::Broken(reason)) => self.report(number, 0, reason),
            Err(HeaderFault::Version(_)) => {
                self.report(number, 0, NEWER);
                return Ok(());
            }
        }
        self.frames(&*file, number, HEADER_LEN as u64, end)
            .map_err(failed)
    }

    /// Reports a compacted segment of which one of the two tables is damaged.
    fn tables(&mut self, number: u32) -> Result<(), Error> {
        let name = segment_file::name_of(number);
        let failed = |source| Error::io("read", &name, source);
        let file = self.disk.open(&name, OpenMode::Read).map_err(failed)?;
        if compacted::is_damaged(&*file).map_err(failed)? {
            self.report(number, 0, "a table of a compacted segment does not hold");
        }
        Ok(())
    }

    /// Returns the file of a segment whose header and end are as expected; else reports the fault.
    fn ends(&mut self, extent: &SegmentExtent) -> Result<Option<Arc<dyn DiskFile>>, Error> {
        let number = extent.number;
        let name = segment_file::name_of(number);
        let failed = |source| Error::io("read", &name, source);
        let file = match segment_file::open(self.disk, &name, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.report(number, 0, MISSING);
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        };
        let len = file.len_bytes().map_err(failed)?;
        self.tables(number)?;
        let header = SegmentHeader::read(&*file, len, self.store_id).map_err(failed)?;
        let expected = SegmentHeader {
            number,
            first: extent.first,
        };
        let fault = match header {
            Ok(header) if header == expected => None,
            Ok(_) => Some("the file has another segment's header"),
            Err(HeaderFault::Broken(reason)) => Some(reason),
            Err(HeaderFault::Version(_)) => Some(NEWER),
        };
        if let Some(fault) = fault {
            self.report(number, 0, fault);
            return Ok(None);
        }
        if len < extent.end || end_of(&*file, number, extent.last.as_ref())? != Some(extent.end) {
            self.report(number, len, "the segment does not end with its last entry");
            return Ok(None);
        }
        Ok(Some(file))
    }

    fn frames(&mut self, file: &dyn DiskFile, number: u32, from: u64, end: u64) -> io::Result<()> {
        let mut reader = ReadAhead::new(file, end, SEQUENTIAL);
        let mut offset = from;
        while offset < end {
            let fault = match Frame::at(&mut reader, offset, self.store_id)? {
                Ok(frame) if frame.first == self.next => {
                    self.frame(&frame, number, offset);
                    offset = offset.saturating_add(frame.len);
                    continue;
                }
                Ok(_) => "frame does not continue the sequence",
                Err(reason) => reason,
            };
            // A process that was killed gave no room back.
            if self.last == Some(number) && is_room(&mut reader, offset)? {
                break;
            }
            let place = self.found.findings.len();
            self.report(number, offset, fault);
            // Verification reports all damage, so it goes on at the next whole frame.
            let mut search = FrameSearch::new(file, offset, end, self.store_id);
            let next = loop {
                match search.next()? {
                    Some(found) if found.first < self.next => {}
                    next => break next,
                }
            };
            let behind = next.as_ref().map_or(end, |next| next.offset);
            if let Some(fault) = self.found.findings.get_mut(place) {
                fault.end = behind;
            }
            let Some(next) = next else { break };
            offset = next.offset;
            self.next = next.first;
        }
        Ok(())
    }

    fn frame(&mut self, frame: &Frame<'_>, number: u32, offset: u64) {
        for (at, raw) in frame.entries() {
            match raw.open() {
                Ok(entry) => {
                    self.audit.record(&entry, self.erases);
                    self.found.entries += 1;
                }
                Err(Fault::Body { blank }) => {
                    let offset = offset.saturating_add(at);
                    let unproven =
                        Unproven::new(EntryId::new(self.next), number, offset, &raw, blank);
                    self.audit.add_unproven(unproven);
                }
                Err(Fault::Broken(reason)) => {
                    self.report(number, offset.saturating_add(at), reason);
                }
                Err(Fault::NewerKind { .. }) => {
                    let reason = "the kind of the entry belongs to a newer version";
                    self.report(number, offset.saturating_add(at), reason);
                }
            }
            self.found.head = leaf(&self.found.head, raw.header);
            self.tree.push(self.found.head);
            self.next = self.next.saturating_add(1);
            self.watch();
        }
    }

    /// Records the tree head if it was requested.
    fn watch(&mut self) {
        if !self.requested.contains(&self.next) || self.tree.len() != self.next {
            return;
        }
        let moment = TreeHead {
            entries: self.next,
            head: self.found.head,
            root: self.tree.root(),
        };
        if self.found.tree_heads.last() != Some(&moment) {
            self.found.tree_heads.push(moment);
        }
    }

    fn report(&mut self, segment: u32, offset: u64, reason: &'static str) {
        self.found.findings.push(SegmentFault {
            segment,
            offset,
            end: offset,
            is_grain: false,
            sequence: EntryId::new(self.next),
            reason,
        });
    }
}

const MISSING: &str = "the segment is missing";
const NEWER: &str = "the segment belongs to a newer version";

use std::fmt;

use super::blanks::{Blanks, Erases, Unproven};
use super::entry::{Fault, leaf};
use super::frame::Frame;
use super::log::Ledger;
use super::search::Search;
use super::segment::{self, HEADER_LEN, HeaderFault, SegmentHeader};
use super::table::{End, origin};
use super::window::{SEQUENTIAL, Window};
use super::{Access, Disk, DiskFile, Error, StoreId};

/// What a full pass over a ledger's bytes found.
///
/// ```
/// # use std::sync::Arc;
/// use grainstore::ledger::{Ledger, MemoryDisk, Options, StoreId, verify};
///
/// let disk = Arc::new(MemoryDisk::default());
/// let store_id = StoreId::new([7; 16]);
/// Ledger::create(disk.clone(), store_id, Options::default())?;
/// assert!(verify(&*disk, &store_id, |_| Vec::new())?.findings.is_empty());
/// # Ok::<(), grainstore::ledger::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The number of entries that are sound.
    pub entries: u64,
    /// The last leaf; means nothing if there are findings.
    pub head: [u8; 32],
    /// Everything that is not as it was written, in the order of the ledger.
    pub findings: Vec<Finding>,
}

/// One place that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The number of the segment.
    pub segment: u32,
    /// Where in its file.
    pub offset: u64,
    /// The entry there, or that should begin there.
    pub sequence: u64,
    /// What is wrong.
    pub reason: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            segment,
            offset,
            sequence,
            reason,
        } = self;
        write!(
            f,
            "segment {segment}, byte {offset}, entry {sequence}: {reason}"
        )
    }
}

/// Reads every byte of a ledger that need not be open, or even able to open, and changes none.
///
/// A torn tail is a finding here; opening would set it aside. `erases` is as for
/// [`Ledger::open`]: an entry without its body is a finding only if no erasure lists it.
///
/// # Errors
/// `ERR_STORAGE_IO`; damage is a finding, not an error.
pub fn verify(disk: &dyn Disk, store_id: &StoreId, erases: Erases) -> Result<Verification, Error> {
    let mut pass = Pass::new(disk, store_id, erases);
    pass.walk(None)?;
    Ok(pass.finish(None))
}

impl Ledger {
    /// Reads every byte up to the end there is now, and compares it with what this process knows.
    /// Appends go on meanwhile.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; damage is a finding, not an error.
    pub fn verify(&self) -> Result<Verification, Error> {
        let end = self.table.read().end();
        let mut pass = Pass::new(&*self.disk, &self.store_id, |_| Vec::new());
        pass.walk(Some(end))?;
        // An entry is listed before it is blanked: what the pass met blank is listed by now.
        pass.blanks.listed = self.table.read().erased().clone();
        Ok(pass.finish(Some(end)))
    }
}

struct Pass<'a> {
    disk: &'a dyn Disk,
    store_id: &'a StoreId,
    erases: Erases,
    blanks: Blanks,
    /// The sequence that should come next.
    next: u64,
    found: Verification,
}

impl<'a> Pass<'a> {
    fn new(disk: &'a dyn Disk, store_id: &'a StoreId, erases: Erases) -> Self {
        Self {
            disk,
            store_id,
            erases,
            blanks: Blanks::default(),
            next: 0,
            found: Verification {
                entries: 0,
                head: origin(store_id),
                findings: Vec::new(),
            },
        }
    }

    fn walk(&mut self, end: Option<End>) -> Result<(), Error> {
        let numbers = segment::numbers(self.disk)?;
        let last = numbers.last().copied().unwrap_or(1);
        let last = end.map_or(last, |end| end.segment);
        let mut expected = 1;
        for number in numbers.into_iter().filter(|number| *number <= last) {
            if number != expected {
                self.report(expected, 0, "the segment is missing");
            }
            let limit = end.filter(|end| end.segment == number);
            self.segment(number, limit.map(|end| end.offset))?;
            expected = number.saturating_add(1);
        }
        if expected <= last {
            self.report(expected, 0, "the segment is missing");
        }
        Ok(())
    }

    fn finish(mut self, end: Option<End>) -> Verification {
        let unlisted = self.blanks.unlisted().map(|unproven| Finding {
            segment: unproven.segment,
            offset: unproven.offset,
            sequence: unproven.sequence,
            reason: unproven.reason,
        });
        self.found.findings.extend(unlisted);
        let findings = &mut self.found.findings;
        findings.sort_by_key(|finding| (finding.segment, finding.offset));
        if let Some(end) = end
            && findings.is_empty()
            && (self.next, self.found.head) != (end.len, end.head)
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
        let name = segment::name_of(number);
        let failed = |source| Error::io("read", &name, source);
        let file = self.disk.open(&name, Access::Read).map_err(failed)?;
        let len = file.len_bytes().map_err(failed)?;
        let end = limit.map_or(len, |limit| limit.min(len));
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
                self.report(number, 0, "the segment belongs to a newer version");
                return Ok(());
            }
        }
        self.frames(&*file, number, end).map_err(failed)
    }

    fn frames(&mut self, file: &dyn DiskFile, number: u32, end: u64) -> std::io::Result<()> {
        let mut window = Window::new(file, end, SEQUENTIAL);
        let mut offset = HEADER_LEN as u64;
        while offset < end {
            let fault = match Frame::at(&mut window, offset, self.store_id)? {
                Ok(frame) if frame.first == self.next => {
                    self.frame(&frame, number, offset);
                    offset = offset.saturating_add(frame.len);
                    continue;
                }
                Ok(_) => "frame does not continue the sequence",
                Err(reason) => reason,
            };
            self.report(number, offset, fault);
            // What comes behind the damage is still worth knowing about.
            let mut search = Search::new(file, offset, end, self.store_id);
            let next = loop {
                match search.next()? {
                    Some(found) if found.first < self.next => {}
                    next => break next,
                }
            };
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
                    self.blanks.learn(&entry, self.erases);
                    self.found.entries += 1;
                }
                Err(Fault::Body { blank }) => {
                    let offset = offset.saturating_add(at);
                    let unproven = Unproven::new(self.next, number, offset, blank);
                    self.blanks.meet(unproven);
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
            self.next = self.next.saturating_add(1);
        }
    }

    fn report(&mut self, segment: u32, offset: u64, reason: &'static str) {
        self.found.findings.push(Finding {
            segment,
            offset,
            sequence: self.next,
            reason,
        });
    }
}

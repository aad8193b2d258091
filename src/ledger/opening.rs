use std::io;
use std::sync::Arc;

use super::blanks::{Blanks, Erases, Unproven};
use super::entry::{Fault, OVERHEAD, extent, leaf};
use super::frame::{self, Frame};
use super::search::Search;
use super::segment::{self, HeaderFault, SegmentHeader};
use super::table::{End, Place, Table, check};
use super::torn::{self, Torn};
use super::window::{SEQUENTIAL, Window};
use super::{Access, Disk, DiskFile, EntryPlace, Error, Header, Known, StoreId};

/// The pass over every byte from the known mark on that opens a ledger: it proves each frame and
/// learns where the entries lie.
pub(super) struct Opening<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) store_id: &'a StoreId,
    /// The number of entries that the caller's derived files have seen durable.
    pub(super) watermark: u64,
    pub(super) erases: Erases,
    pub(super) blanks: Blanks,
    /// The number of entries that a frame behind them says were durable when it was written.
    pub(super) proven: u64,
}

/// What the pass found.
pub(super) struct Found {
    /// Where the entries lie.
    pub(super) table: Table,
    /// What was set aside.
    pub(super) torn: Option<Torn>,
    /// What erasures in this part list.
    pub(super) erased: Vec<u64>,
    /// How many entries are known to be durable.
    pub(super) proven: u64,
}

/// Where a pass met bytes that are not a whole frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tear {
    pub(super) segment: u32,
    pub(super) offset: u64,
    /// The length of the segment.
    pub(super) end: u64,
    /// The entry that should begin there.
    pub(super) sequence: u64,
    pub(super) reason: &'static str,
}

impl Tear {
    pub(super) fn damage(&self) -> Error {
        damage(self.segment, self.offset, self.sequence, self.reason)
    }
}

impl Opening<'_> {
    /// Proves what lies behind the known mark, and sets aside what was torn.
    pub(super) fn run(self, known: Option<Known>) -> Result<Found, Error> {
        let disk = self.disk;
        let (mut found, tear) = self.prove(known)?;
        // Nothing is changed before everything is proven.
        let torn = tear.map(|tear| torn::set_aside(disk, &tear));
        found.torn = torn.transpose()?;
        Ok(found)
    }

    /// Proves what lies behind the known mark, and changes nothing. What was torn is returned.
    pub(super) fn prove(mut self, known: Option<Known>) -> Result<(Found, Option<Tear>), Error> {
        let numbers = segment::numbers(self.disk)?;
        let mut table = match known {
            Some(known) => self.resume(known, &numbers)?,
            None => Table::new(self.store_id),
        };
        let begun = table.end().segment.max(1);
        let last = numbers.last().copied().unwrap_or(1).max(begun);
        let mut tear = None;
        for number in begun..=last {
            require(&numbers, number, table.end().len)?;
            tear = self.pass(number, number == last, &mut table)?;
        }
        let end = table.end();
        if end.len < self.watermark {
            let reason = "the ledger ends before entries that were durable";
            return Err(damage(end.segment, end.offset, end.len, reason));
        }
        if let Some(blank) = self.blanks.unlisted().next() {
            let (segment, offset) = (blank.segment, blank.offset);
            return Err(damage(segment, offset, blank.sequence, blank.reason));
        }
        let found = Found {
            table,
            torn: None,
            erased: self.blanks.listed.into_iter().collect(),
            proven: self.proven,
        };
        Ok((found, tear))
    }

    /// Returns the table up to a mark, of segments that are there and end where they must.
    fn resume(&self, known: Known, numbers: &[u32]) -> Result<Table, Error> {
        let mark = known.mark;
        let mut ends = Vec::new();
        let mut first = 0;
        for number in 1..=mark.segment {
            require(numbers, number, first as u64)?;
            let (file, end) = self.file(number)?;
            if let Some(tear) = self.header(number, &*file, end, first as u64)? {
                return Err(tear.damage());
            }
            let places = &known.places;
            let next = places.partition_point(|place| place.segment <= number);
            let last = places.get(first..next).and_then(<[_]>::last);
            let is_closed = number < mark.segment;
            let expected = if is_closed { end } else { mark.offset };
            if end < expected || end_of(&*file, number, last)? != Some(expected) {
                return Err(damage(number, end, next as u64, SHORTER));
            }
            if is_closed {
                ends.push(end);
            }
            first = next;
        }
        Table::known(known, &ends)
            .map_err(|reason| damage(mark.segment, mark.offset, mark.entries, reason))
    }

    fn file(&self, number: u32) -> Result<(Arc<dyn DiskFile>, u64), Error> {
        let name = segment::name_of(number);
        let failed = |source| Error::io("read", &name, source);
        let file = self.disk.open(&name, Access::Read).map_err(failed)?;
        let end = file.len_bytes().map_err(failed)?;
        Ok((file, end))
    }

    /// Checks the header of a segment whose first entry is `first`; a torn one is returned.
    fn header(
        &self,
        number: u32,
        file: &dyn DiskFile,
        end: u64,
        first: u64,
    ) -> Result<Option<Tear>, Error> {
        let header = SegmentHeader::read(file, end, self.store_id);
        let header = header.map_err(|s| Error::io("read", &segment::name_of(number), s))?;
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

    fn pass(&mut self, number: u32, last: bool, table: &mut Table) -> Result<Option<Tear>, Error> {
        let (file, end) = self.file(number)?;
        let begun = table.end();
        let is_begun = begun.segment == number;
        let first = if is_begun {
            table.last_first()
        } else {
            begun.len
        };
        let mut tear = self.header(number, &*file, end, first)?;
        if is_begun && (tear.is_some() || end < begun.offset) {
            return Err(damage(number, end, begun.len, SHORTER));
        }
        if tear.is_none() {
            if !is_begun {
                table.begin_segment(number);
            }
            let mut pass = Pass {
                opening: self,
                file: &*file,
                number,
                end,
                witness: (!last).then_some(u64::MAX),
            };
            let frames = pass.frames(table);
            let frames = frames.map_err(|s| Error::io("read", &segment::name_of(number), s));
            tear = frames??.map(|reason| Tear {
                segment: number,
                offset: table.end().offset,
                end,
                sequence: table.end().len,
                reason,
            });
        }
        match tear {
            None => Ok(None),
            // A segment is synced before the next is created.
            Some(tear) if !last => Err(tear.damage()),
            Some(tear) => {
                torn::judge(&*file, &tear, self.store_id, self.watermark)?;
                Ok(Some(tear))
            }
        }
    }
}

/// The pass over the frames of one segment.
struct Pass<'a, 'o> {
    opening: &'a mut Opening<'o>,
    file: &'a dyn DiskFile,
    number: u32,
    end: u64,
    /// The number of entries that were durable by what lies in this segment, once it is known.
    witness: Option<u64>,
}

impl Pass<'_, '_> {
    /// Takes in whole frames up to the end of the segment, or up to what it returns the fault of.
    fn frames(&mut self, table: &mut Table) -> io::Result<Result<Option<&'static str>, Error>> {
        let mut window = Window::new(self.file, self.end, SEQUENTIAL);
        let mut places = Vec::new();
        loop {
            let at = table.end();
            if at.offset == self.end {
                return Ok(Ok(None));
            }
            let frame = match Frame::at(&mut window, at.offset, self.opening.store_id)? {
                Ok(frame) if frame.first == at.len => frame,
                Ok(_) => return Ok(Ok(Some("frame does not continue the sequence"))),
                Err(reason) => return Ok(Ok(Some(reason))),
            };
            self.opening.proven = self.opening.proven.max(frame.synced);
            places.clear();
            let head = match self.entries(&frame, &at, &mut places)? {
                Ok(head) => head,
                Err(Stop::Torn(reason)) => return Ok(Ok(Some(reason))),
                Err(Stop::Refused(error)) => return Ok(Err(error)),
            };
            table.add_frame(&places, head, at.offset.saturating_add(frame.len));
        }
    }

    /// Proves the bodies of a frame, and returns the leaf of its last entry.
    fn entries(
        &mut self,
        frame: &Frame<'_>,
        at: &End,
        places: &mut Vec<Place>,
    ) -> io::Result<Result<[u8; 32], Stop>> {
        let mut head = at.head;
        for (offset, raw) in frame.entries() {
            let offset = at.offset.saturating_add(offset);
            match raw.open() {
                Ok(entry) => self.opening.blanks.learn(&entry, self.opening.erases),
                Err(Fault::Broken(reason)) => return Ok(Err(Stop::Torn(reason))),
                Err(Fault::NewerKind { kind, sequence }) => {
                    let error = Error::UnknownKind { sequence, kind };
                    return Ok(Err(Stop::Refused(error)));
                }
                Err(Fault::Body { blank }) => {
                    let sequence = raw.sequence().unwrap_or(at.len);
                    let unproven = Unproven::new(sequence, self.number, offset, blank);
                    if !self.was_durable(frame, at)? {
                        return Ok(Err(Stop::Torn(unproven.reason)));
                    }
                    self.opening.blanks.meet(unproven);
                }
            }
            let Some(place) = Place::new(offset, raw.header) else {
                let reason = "the segment is longer than 4 GiB";
                let error = damage(self.number, offset, at.len, reason);
                return Ok(Err(Stop::Refused(error)));
            };
            places.push(place);
            head = leaf(&head, raw.header);
        }
        Ok(Ok(head))
    }

    /// Returns whether a frame was durable once: then a body that is not proven was not torn by a
    /// crash inside its append, but blanked or damaged since.
    fn was_durable(&mut self, frame: &Frame<'_>, at: &End) -> io::Result<bool> {
        if self.opening.watermark > frame.first {
            return Ok(true);
        }
        let durable = match self.witness {
            Some(durable) => durable,
            None => {
                let from = at.offset.saturating_add(frame.len);
                let mut search = Search::new(self.file, from, self.end, self.opening.store_id);
                let mut durable = 0;
                while let Some(found) = search.next()? {
                    durable = found.synced.max(durable);
                }
                *self.witness.insert(durable)
            }
        };
        Ok(durable > frame.first)
    }
}

/// Why the entries of a frame are not taken in.
enum Stop {
    Torn(&'static str),
    Refused(Error),
}

/// Returns where an entry ends, by the length in its header; none if that is not the header known
/// to be there. Without an entry it is where the header of the segment ends.
pub(super) fn end_of(
    file: &dyn DiskFile,
    number: u32,
    place: Option<&EntryPlace>,
) -> Result<Option<u64>, Error> {
    let Some(place) = place else {
        return Ok(Some(segment::HEADER_LEN as u64));
    };
    let offset = u64::from(place.offset);
    let mut header = [0; Header::LEN];
    match file.read_at(&mut header, offset) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read.map_err(|s| Error::io("read", &segment::name_of(number), s))?,
    }
    let known = extent(&header).filter(|_| check(&header) == place.check);
    Ok(known.map(|(_, len)| offset + OVERHEAD as u64 + u64::from(len)))
}

fn require(numbers: &[u32], number: u32, sequence: u64) -> Result<(), Error> {
    match numbers.binary_search(&number) {
        Ok(_) => Ok(()),
        Err(_) => Err(damage(number, 0, sequence, "the segment is missing")),
    }
}

/// Writes once more what no frame proves to be durable, in place, for the sync that follows.
///
/// After a failed sync the system may call pages clean that never reached the disk, and go on
/// reading them from its cache: a later process sees whole frames that no sync of its own would
/// write.
pub(super) fn renew(file: &dyn DiskFile, table: &Table, proven: u64) -> io::Result<()> {
    let end = table.end();
    let mut offset = match table.locate(proven) {
        Some(place) if place.segment == end.segment && place.offset > FIRST_ENTRY => {
            place.offset.saturating_sub(frame::HEADER_LEN as u64)
        }
        // Everything is proven, and with the entries the header before them.
        None if end.offset > segment::HEADER_LEN as u64 => return Ok(()),
        // No frame of this segment proves its header.
        _ => 0,
    };
    let mut window = Window::new(file, end.offset, SEQUENTIAL);
    while offset < end.offset {
        let part = window.ahead(offset, 1)?;
        file.write_at(part, offset)?;
        offset = offset.saturating_add(part.len() as u64);
    }
    Ok(())
}

/// Where the first entry of a segment lies.
const FIRST_ENTRY: u64 = (segment::HEADER_LEN + frame::HEADER_LEN) as u64;

fn damage(segment: u32, offset: u64, sequence: u64, reason: &'static str) -> Error {
    Error::Damaged {
        segment,
        offset,
        sequence,
        reason,
    }
}

const SHORTER: &str = "the segment does not end where the index has seen it end";

use std::io;

use super::entry::{Fault, leaf};
use super::frame::{self, Frame};
use super::segment::{self, HeaderFault, SegmentHeader};
use super::table::{Place, Table};
use super::torn::{self, Torn};
use super::window::{SEQUENTIAL, Window};
use super::{Access, Disk, DiskFile, Entry, Error, StoreId};

/// The pass over every byte that opens a ledger: it proves each frame, learns where the entries
/// lie, and hands them to the caller in order.
pub(super) struct Opening<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) store_id: &'a StoreId,
    /// The number of entries that the caller's derived files have seen durable.
    pub(super) watermark: u64,
    pub(super) visit: &'a mut dyn FnMut(&Entry<'_>),
    /// The number of entries that a frame behind them says were durable when it was written.
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
    /// Returns where the entries lie, and what was set aside.
    pub(super) fn run(&mut self) -> Result<(Table, Option<Torn>), Error> {
        let mut table = Table::new(self.store_id);
        let mut torn = None;
        let numbers = segment::numbers(self.disk)?;
        let last = numbers.last().copied().unwrap_or(1);
        for number in 1..=last {
            if numbers.binary_search(&number).is_err() {
                return Err(damage(number, 0, table.end().len, "the segment is missing"));
            }
            torn = self.pass(number, number == last, &mut table)?;
        }
        let end = table.end();
        if end.len < self.watermark {
            let reason = "the ledger ends before entries that were durable";
            return Err(damage(end.segment, end.offset, end.len, reason));
        }
        Ok((table, torn))
    }

    fn pass(&mut self, number: u32, last: bool, table: &mut Table) -> Result<Option<Torn>, Error> {
        let name = segment::name_of(number);
        let failed = |source| Error::io("read", &name, source);
        let file = self.disk.open(&name, Access::Read).map_err(failed)?;
        let end = file.len_bytes().map_err(failed)?;
        let header = SegmentHeader::read(&*file, end, self.store_id).map_err(failed)?;
        let tear_at = |offset, sequence, reason| Tear {
            segment: number,
            offset,
            end,
            sequence,
            reason,
        };
        let sequence = table.end().len;
        let tear = match header {
            Err(HeaderFault::Version(version)) => {
                return Err(Error::Version {
                    segment: number,
                    version,
                });
            }
            Err(HeaderFault::Broken(reason)) => Some(tear_at(0, sequence, reason)),
            Ok(header) if header.number != number => {
                return Err(damage(
                    number,
                    0,
                    sequence,
                    "the file has another segment's header",
                ));
            }
            Ok(header) if header.first != sequence => {
                return Err(damage(
                    number,
                    0,
                    sequence,
                    "entries before this segment are missing",
                ));
            }
            Ok(_) => {
                table.begin_segment(number);
                let mut window = Window::new(&*file, end, SEQUENTIAL);
                self.frames(number, &mut window, end, table)
                    .map_err(failed)??
                    .map(|reason| tear_at(table.end().offset, table.end().len, reason))
            }
        };
        match tear {
            None => Ok(None),
            // A segment is synced before the next is created.
            Some(tear) if !last => Err(tear.damage()),
            Some(tear) => {
                torn::judge(&*file, &tear, self.store_id, self.watermark)?;
                torn::set_aside(self.disk, &*file, &tear).map(Some)
            }
        }
    }

    /// Takes in whole frames up to the end of the segment, or up to what it returns the fault of.
    fn frames(
        &mut self,
        number: u32,
        window: &mut Window<'_>,
        end: u64,
        table: &mut Table,
    ) -> io::Result<Result<Option<&'static str>, Error>> {
        let mut places = Vec::new();
        loop {
            let at = table.end();
            if at.offset == end {
                return Ok(Ok(None));
            }
            let frame = match Frame::at(window, at.offset, self.store_id)? {
                Ok(frame) if frame.first == at.len => frame,
                Ok(_) => return Ok(Ok(Some("frame does not continue the sequence"))),
                Err(reason) => return Ok(Ok(Some(reason))),
            };
            let entries = match frame.open() {
                Ok(entries) => entries,
                Err(Fault::Broken(reason)) => return Ok(Ok(Some(reason))),
                Err(Fault::NewerKind { kind, sequence }) => {
                    return Ok(Err(Error::UnknownKind { sequence, kind }));
                }
            };
            self.proven = self.proven.max(frame.synced);
            let mut head = at.head;
            places.clear();
            for (offset, raw, _) in &entries {
                let offset = at.offset.saturating_add(*offset);
                let Some(place) = Place::new(offset, raw.header) else {
                    let reason = "the segment is longer than 4 GiB";
                    return Ok(Err(damage(number, offset, at.len, reason)));
                };
                places.push(place);
                head = leaf(&head, raw.header);
            }
            for (_, _, entry) in &entries {
                (self.visit)(entry);
            }
            table.add_frame(&places, head, at.offset.saturating_add(frame.len));
        }
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

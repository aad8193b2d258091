//! Torn tails: what a crash left behind the last whole frame.
//!
//! A tear is set aside only if nothing says that the missing bytes were durable; else it is damage.
//! The bytes are moved to a file of their own, which stays until a deletion or a compaction.

use std::io;

use crate::ledger::segment::frame::{self, claimed};
use crate::ledger::segment::frame_search::FrameSearch;
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::room::begin_of_room;
use crate::ledger::segment::segment_file::{self, FOLDER};
use crate::ledger::{Disk, DiskFile, EntryId, Error, OpenMode, StoreId};

/// The bytes that a crash left behind the last whole frame, set aside at opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// The file that holds the bytes now, relative to the store.
    pub file: String,
    /// The number of the segment they were cut from.
    pub segment: u32,
    /// Where in that segment they began.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The entry that should begin there: nothing says that it was ever acknowledged, and nothing
    /// that it was not, if the file was cut or damaged.
    pub sequence: EntryId,
    /// The number of entries they may hold: as many as the torn frame claims and fit in. None was
    /// acknowledged, unless the disk lost bytes that it had synced.
    pub entries_maybe: u64,
}

/// The first bytes of a segment that are not a whole frame.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct Tear {
    pub(in crate::ledger) segment: u32,
    pub(in crate::ledger) offset: u64,
    /// The length of the segment.
    pub(in crate::ledger) end: u64,
    /// The entry that should begin there.
    pub(in crate::ledger) sequence: u64,
    pub(in crate::ledger) reason: &'static str,
}

impl Tear {
    pub(in crate::ledger) fn damage(&self) -> Error {
        damage(self.segment, self.offset, self.sequence, self.reason)
    }
}

/// Refuses to treat a tear in the last segment as a torn tail if there is evidence that the missing
/// bytes were durable.
pub(super) fn refuse_if_durable(
    file: &dyn DiskFile,
    tear: &Tear,
    store_id: &StoreId,
    watermark: u64,
) -> Result<(), Error> {
    let headless = tear.offset == 0;
    // The first segment is durable before a store exists. With the wrong store id every check of a
    // sound ledger fails, and its bytes must not be moved.
    if headless && tear.segment == 1 {
        return Err(tear.damage());
    }
    if watermark > tear.sequence {
        return Err(tear.damage());
    }
    let mut search = FrameSearch::new(file, tear.offset, tear.end, store_id);
    let failed = |source| Error::io("read", &segment_file::name_of(tear.segment), source);
    while let Some(found) = search.next().map_err(failed)? {
        // Invariant: a segment's header is synced before its first frame is written.
        if found.synced > tear.sequence || (headless && found.first >= tear.sequence) {
            return Err(tear.damage());
        }
    }
    Ok(())
}

/// Moves the bytes from a tear on to a file of their own. Room is only cut off; `None` if there is
/// nothing else.
pub(super) fn set_aside(disk: &dyn Disk, tear: &Tear) -> Result<Option<TornTail>, Error> {
    let name = segment_file::name_of(tear.segment);
    let failed = |source| Error::io("set aside the torn tail of", &name, source);
    let file = segment_file::open(disk, &name, OpenMode::Read).map_err(failed)?;
    let mut reader = ReadAhead::new(&*file, tear.end, SEQUENTIAL);
    let behind = begin_of_room(&mut reader, tear.offset).map_err(failed)?;
    let bytes = behind.saturating_sub(tear.offset);
    if bytes == 0 && tear.offset > 0 {
        cut(disk, tear).map_err(failed)?;
        return Ok(None);
    }
    let aside = free_name(disk)?;
    let header = reader.ahead(tear.offset, frame::HEADER_LEN);
    let (count, _) = claimed(header.map_err(failed)?);
    let torn = TornTail {
        file: aside,
        segment: tear.segment,
        offset: tear.offset,
        bytes,
        sequence: EntryId::new(tear.sequence),
        entries_maybe: count.min(bytes / crate::ledger::segment::entry::OVERHEAD as u64),
    };
    if tear.offset == 0 {
        disk.rename(&name, &torn.file).map_err(failed)?;
        disk.sync_folder(FOLDER).map_err(failed)?;
        return Ok(Some(torn));
    }
    // Invariant: the copy is durable before the original is cut, so a crash between leaves both.
    let copy = disk.create(&torn.file).map_err(failed)?;
    let mut done = 0;
    while done < bytes {
        let part = reader.ahead(tear.offset + done, 1).map_err(failed)?;
        let left = usize::try_from(bytes - done).unwrap_or(usize::MAX);
        let part = part.get(..left).unwrap_or(part);
        copy.write_at(part, done).map_err(failed)?;
        done += part.len() as u64;
    }
    copy.sync().map_err(failed)?;
    disk.sync_folder(FOLDER).map_err(failed)?;
    cut(disk, tear).map_err(failed)?;
    Ok(Some(torn))
}

/// Cuts off what lies behind a tear.
fn cut(disk: &dyn Disk, tear: &Tear) -> io::Result<()> {
    let tail = segment_file::open(disk, &segment_file::name_of(tear.segment), OpenMode::Write)?;
    tail.set_len(tear.offset)?;
    tail.sync()
}

fn free_name(disk: &dyn Disk) -> Result<String, Error> {
    let last = numbers(disk)?.pop();
    let next = last.map_or(1, |last| last.saturating_add(1));
    Ok(format!("{FOLDER}/torn-{next}"))
}

/// Returns the names of the files that hold torn tails, relative to the store.
pub(in crate::ledger) fn names(disk: &dyn Disk) -> Result<Vec<String>, Error> {
    let numbers = numbers(disk)?.into_iter();
    Ok(numbers
        .map(|number| format!("{FOLDER}/torn-{number}"))
        .collect())
}

/// Returns the numbers of these files in ascending order.
fn numbers(disk: &dyn Disk) -> Result<Vec<u64>, Error> {
    let names = disk.list(FOLDER);
    let names = names.map_err(|source| Error::io("list", FOLDER, source))?;
    let numbers = names.iter().filter_map(|name| {
        let number = name.strip_prefix("torn-")?.parse::<u64>().ok()?;
        (*name == format!("torn-{number}")).then_some(number)
    });
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    Ok(numbers)
}

pub(in crate::ledger) fn damage(
    segment: u32,
    offset: u64,
    sequence: u64,
    reason: &'static str,
) -> Error {
    Error::Damaged {
        segment,
        offset,
        sequence: EntryId::new(sequence),
        reason,
    }
}

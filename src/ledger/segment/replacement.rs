//! Replacing several segments at once, or adding to their ends: all of them, or none, whatever
//! interrupts it.
//!
//! New segments, and what is to follow the end of an old one, are written beside the old ones. A mark
//! says that all of them are complete and durable: from then on the replacement is done, and each
//! opening of the ledger completes what is left. Without the mark they are remains, and are removed.

use std::io;

use super::segment_file::{FOLDER, number_in};
use crate::ledger::{Disk, DiskFile, Error, OpenMode};

/// Returns the name of the new segment beside the old one.
pub(in crate::ledger) fn beside(name: &str) -> String {
    format!("{name}{NEW}")
}

/// Returns the name of the packed form of a segment, while it is being written beside it.
pub(in crate::ledger) fn packed_beside(name: &str) -> String {
    format!("{name}{PACK}")
}

/// Returns the name of the file beside a segment that holds what is to follow its end: the end, 8
/// bytes, and the bytes behind it.
pub(in crate::ledger) fn rest_beside(name: &str) -> String {
    format!("{name}{REST}")
}

/// Puts the new segments in the place of the old ones. Invariant: each of them was synced.
pub(in crate::ledger) fn replace(disk: &dyn Disk) -> Result<(), Error> {
    let mark = || {
        // A mark must not survive a crash that its segments do not.
        disk.sync_folder(FOLDER)?;
        disk.create(MARK)?.sync()?;
        disk.sync_folder(FOLDER)
    };
    mark().map_err(|source| Error::io("create", MARK, source))?;
    complete(disk)
}

/// Completes a replacement that was interrupted, if there is one.
pub(in crate::ledger) fn complete(disk: &dyn Disk) -> Result<(), Error> {
    match disk.open(MARK, OpenMode::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(|source| Error::io("read", MARK, source))?,
    };
    for name in left(disk, NEW)? {
        let renamed = disk.rename(&beside(&name), &name);
        renamed.map_err(|source| Error::io("replace", &name, source))?;
    }
    for name in left(disk, REST)? {
        let added = add_rest(disk, &name);
        added.map_err(|source| Error::io("add to", &name, source))?;
    }
    let unmark = || {
        disk.sync_folder(FOLDER)?;
        disk.remove(MARK)?;
        disk.sync_folder(FOLDER)
    };
    unmark().map_err(|source| Error::io("remove", MARK, source))
}

/// Adds to the end of a segment what lies beside it. Done twice, it writes the same bytes again.
fn add_rest(disk: &dyn Disk, name: &str) -> io::Result<()> {
    let rest = disk.open(&rest_beside(name), OpenMode::Read)?;
    let mut end = [0; size_of::<u64>()];
    rest.read_at(&mut end, 0)?;
    let end = u64::from_be_bytes(end);
    let segment = disk.open(name, OpenMode::Write)?;
    copy(&*rest, REST_HEADER_LEN, rest.len_bytes()?, &*segment, end)?;
    segment.sync()?;
    disk.remove(&rest_beside(name))
}

/// Copies the bytes of a file from `at` to `end` to a place in another.
pub(in crate::ledger) fn copy(
    from: &dyn DiskFile,
    mut at: u64,
    end: u64,
    to: &dyn DiskFile,
    mut place: u64,
) -> io::Result<()> {
    let mut part = vec![0; CHUNK_BYTES];
    while at < end {
        part.truncate(usize::try_from(end - at).unwrap_or(usize::MAX));
        from.read_at(&mut part, at)?;
        to.write_at(&part, place)?;
        at += part.len() as u64;
        place = place.saturating_add(part.len() as u64);
    }
    Ok(())
}

/// Removes what an interrupted copy or compaction left beside the segments without a mark.
pub(in crate::ledger) fn discard(disk: &dyn Disk) -> Result<(), Error> {
    for ending in [NEW, REST, PACK] {
        for name in left(disk, ending)? {
            let name = format!("{name}{ending}");
            let removed = disk.remove(&name);
            removed.map_err(|source| Error::io("remove", &name, source))?;
        }
    }
    Ok(())
}

/// Returns the names of the segments that a file with an ending lies beside.
fn left(disk: &dyn Disk, ending: &str) -> Result<Vec<String>, Error> {
    let names = disk.list(FOLDER);
    let names = names.map_err(|source| Error::io("list", FOLDER, source))?;
    let segment = |name: &String| {
        let name = name.strip_suffix(ending)?;
        number_in(name).map(|_| format!("{FOLDER}/{name}"))
    };
    Ok(names.iter().filter_map(segment).collect())
}

const NEW: &str = ".new";
const REST: &str = ".rest";
const PACK: &str = ".pack";
/// Before the bytes of a rest: the end that they follow.
pub(in crate::ledger) const REST_HEADER_LEN: u64 = 8;
/// The length of one read of a copy, in bytes.
pub(in crate::ledger) const CHUNK_BYTES: usize = 1 << 20;
const MARK: &str = "ledger/REPLACE";

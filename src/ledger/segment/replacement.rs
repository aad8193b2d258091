//! Replacing several segments at once: all of them, or none, whatever interrupts it.
//!
//! The new segments are written beside the old ones. A mark says that all of them are complete and
//! durable: from then on the replacement is done, and each opening of the ledger completes the
//! renames that are left. Without the mark the new segments are remains, and are removed.

use std::io;

use super::segment_file::{FOLDER, number_in};
use crate::ledger::{Disk, Error, OpenMode};

/// Returns the name of the new segment beside the old one.
pub(in crate::ledger) fn beside(name: &str) -> String {
    format!("{name}{NEW}")
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
    for name in left(disk)? {
        let renamed = disk.rename(&beside(&name), &name);
        renamed.map_err(|source| Error::io("replace", &name, source))?;
    }
    let unmark = || {
        disk.sync_folder(FOLDER)?;
        disk.remove(MARK)?;
        disk.sync_folder(FOLDER)
    };
    unmark().map_err(|source| Error::io("remove", MARK, source))
}

/// Removes the new segments that an interrupted copy left without a mark.
pub(in crate::ledger) fn discard(disk: &dyn Disk) -> Result<(), Error> {
    for name in left(disk)? {
        let name = beside(&name);
        let removed = disk.remove(&name);
        removed.map_err(|source| Error::io("remove", &name, source))?;
    }
    Ok(())
}

/// Returns the names of the segments that a new one lies beside.
fn left(disk: &dyn Disk) -> Result<Vec<String>, Error> {
    let names = disk.list(FOLDER);
    let names = names.map_err(|source| Error::io("list", FOLDER, source))?;
    let segment = |name: &String| {
        let name = name.strip_suffix(NEW)?;
        number_in(name).map(|_| format!("{FOLDER}/{name}"))
    };
    Ok(names.iter().filter_map(segment).collect())
}

const NEW: &str = ".new";
const MARK: &str = "ledger/REPLACE";

//! The last step of a tree, kept beside the ledger in a file that may be lost: the next step then reads
//! everything.

use std::io;

use crate::grain::Time;
use crate::index::Family;
use crate::ledger::{Disk, EntryId, Kind, OpenMode};
use crate::store::engine::TREES;
use crate::store::{Access, Error};

/// Reads what was kept of the last step under a name.
pub(crate) fn kept_step(store: &Access, name: &str) -> Option<Vec<u8>> {
    let file = store.engine.disk().open(&path(name), OpenMode::Read).ok()?;
    let len = usize::try_from(file.len_bytes().ok()?).ok()?;
    let mut bytes = vec![0; Some(len).filter(|len| *len <= LEN_MAX)?];
    file.read_at(&mut bytes, 0).ok()?;
    Some(bytes)
}

/// Keeps a step under a name. It is not synced: a file that is torn is none.
///
/// # Errors
/// Those of the disk.
pub(crate) fn keep_step(store: &Access, name: &str, bytes: &[u8]) -> io::Result<()> {
    let disk: &dyn Disk = store.engine.disk();
    let (path, new) = (path(name), path(name) + ".new");
    disk.create_folder(TREES)?;
    match disk.remove(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => disk.create(&new)?.write_at(bytes, 0)?,
    }
    disk.rename(&new, &path)
}

/// Returns the mark of a path or a text of a tree, which only this store can make.
pub(crate) fn mark(store: &Access, scope: &str, of: &str) -> [u8; 32] {
    store.engine.manifest().tombstone_key().of_note(scope, of)
}

/// Returns the time by the clock of the machine, which the times of files are of too.
pub(crate) fn wall_clock(store: &Access) -> Time {
    store.engine.options().clock.now()
}

/// Returns whether an export at one time is that of another, when the ledger ended at an entry.
///
/// # Errors
/// Storage errors.
pub(crate) fn is_as_it_was(
    store: &Access,
    since: EntryId,
    [at, now]: [Time; 2],
) -> Result<bool, Error> {
    let snapshot = store.snapshot();
    let end = snapshot.watermark();
    // A consent runs out without an entry.
    if since.get() > end || now < at || !store.engine.state().consents().required().is_empty() {
        return Ok(false);
    }
    let mut entry = since;
    while entry.get() < end {
        let kind = store.engine.ledger().stated(entry)?.kind;
        if !BESIDE.contains(&kind) {
            return Ok(false);
        }
        entry = entry.next();
    }
    let before = Time::from_ms(at.ms().saturating_sub(1));
    let over = snapshot.in_time(Family::ValidTo, Some(before), Some(now));
    Ok(over.set()?.is_empty())
}

fn path(name: &str) -> String {
    format!("{TREES}/{name}")
}

/// The kinds of entries that change no grain and no status.
const BESIDE: [Kind; 6] = [
    Kind::Import,
    Kind::Export,
    Kind::Embedding,
    Kind::Read,
    Kind::Denial,
    Kind::Checkpoint,
];

/// The longest step that is read: a tree has no more files.
const LEN_MAX: usize = 16 << 20;

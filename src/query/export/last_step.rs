//! The files of a tree as the last step left them: a step reads those that are others now.
//!
//! A file is as it was if its length, its times and its number are. One that was written so shortly before it
//! was read that a later write may have the same times is not remembered, as in the index of git. The list
//! may be lost. Paths and texts stand in it as marks, so that it tells nothing of what was erased.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use crate::grain::Time;
use crate::ledger::EntryId;
use crate::store::Access;
use crate::store::import::{keep_step, kept_step, mark};

/// What tells a file that was written from one that was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    len: u64,
    /// In nanoseconds since 1970.
    modified: i64,
    /// When anything of it changed; the system alone sets it.
    changed: i64,
    number: u64,
}

/// A path or a text, as the store alone can mark it.
pub(super) type Mark = [u8; 16];

/// A file as it was, and the mark of its text if all of it is here.
type Row = (Stamp, Option<Mark>);

/// The last step of a tree.
#[derive(Debug, Default)]
pub(super) struct LastStep {
    /// Where the ledger ended when the tree was as the store has it, and the time of that; `None` if it may
    /// not have been.
    pub(super) written: Option<(EntryId, Time)>,
    rows: HashMap<Mark, Row>,
}

impl Stamp {
    /// Returns the stamp of a file; `None` of what is none.
    pub(super) fn of(file: &Path) -> io::Result<Option<Self>> {
        let found = match fs::symlink_metadata(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        if !found.is_file() {
            return Ok(None);
        }
        let since = found.modified()?.duration_since(UNIX_EPOCH);
        let modified = since.map_or(0, |since| {
            i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
        });
        let (changed, number) = system_stamp(&found);
        Ok(Some(Self {
            len: found.len(),
            modified,
            changed,
            number,
        }))
    }

    /// Returns whether no write after a moment has these times.
    fn is_before(&self, moment: Time) -> bool {
        let last = self.modified.max(self.changed);
        last.saturating_add(COARSEST_NS) < moment.ms().saturating_mul(1_000_000)
    }
}

/// Returns the time of the last change and the number of a file.
#[cfg(unix)]
fn system_stamp(file: &Metadata) -> (i64, u64) {
    use std::os::unix::fs::MetadataExt;
    let seconds = file.ctime().saturating_mul(1_000_000_000);
    (seconds.saturating_add(file.ctime_nsec()), file.ino())
}

#[cfg(not(unix))]
fn system_stamp(_: &Metadata) -> (i64, u64) {
    (0, 0)
}

impl LastStep {
    /// Returns a step that knows no file yet.
    pub(super) fn of(written: Option<(EntryId, Time)>) -> Self {
        Self {
            written,
            rows: HashMap::new(),
        }
    }

    /// Reads the last step of a name; an empty one if there is none, or it is damaged.
    pub(super) fn read(store: &Access, name: &str) -> Self {
        let bytes = kept_step(store, name);
        bytes
            .and_then(|bytes| Self::of_bytes(&bytes))
            .unwrap_or_default()
    }

    /// Keeps it under a name.
    pub(super) fn keep(&self, store: &Access, name: &str) -> io::Result<()> {
        keep_step(store, name, &self.to_bytes())
    }

    /// Remembers a file that was read after a moment, unless a later write may have the same times.
    pub(super) fn add(&mut self, path: Mark, stamp: Stamp, text: Option<Mark>, read_at: Time) {
        if stamp.is_before(read_at) {
            self.rows.insert(path, (stamp, text));
        }
    }

    /// Returns what is known of the text of a file that is as it was; `None` of one that is not.
    pub(super) fn as_it_was(&self, path: &Mark, stamp: &Stamp) -> Option<Option<Mark>> {
        let (then, text) = self.rows.get(path)?;
        (then == stamp).then_some(*text)
    }

    /// Returns the number of files that are remembered.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    fn to_bytes(&self) -> Vec<u8> {
        let (entry, at) = self
            .written
            .map_or((u64::MAX, 0), |(entry, at)| (entry.get(), at.ms()));
        let mut bytes = MAGIC.to_vec();
        bytes.extend(entry.to_be_bytes());
        bytes.extend(at.to_be_bytes());
        for (path, (stamp, text)) in &self.rows {
            bytes.extend(path);
            bytes.extend(text.unwrap_or_default());
            bytes.extend(stamp.len.to_be_bytes());
            bytes.extend(stamp.modified.to_be_bytes());
            bytes.extend(stamp.changed.to_be_bytes());
            bytes.extend(stamp.number.to_be_bytes());
        }
        let check = Sha256::digest(&bytes);
        bytes.extend(check);
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (said, check) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
        if *check != *Sha256::digest(said) {
            return None;
        }
        let mut rest = said.strip_prefix(MAGIC)?;
        let entry = u64::from_be_bytes(take(&mut rest)?);
        let at = Time::from_ms(i64::from_be_bytes(take(&mut rest)?));
        let mut step = Self::of((entry != u64::MAX).then(|| (EntryId::new(entry), at)));
        while !rest.is_empty() {
            let (path, text) = (take(&mut rest)?, take::<16>(&mut rest)?);
            let stamp = Stamp {
                len: u64::from_be_bytes(take(&mut rest)?),
                modified: i64::from_be_bytes(take(&mut rest)?),
                changed: i64::from_be_bytes(take(&mut rest)?),
                number: u64::from_be_bytes(take(&mut rest)?),
            };
            let text = Some(text).filter(|text| *text != [0; 16]);
            step.rows.insert(path, (stamp, text));
        }
        Some(step)
    }
}

fn take<const LEN: usize>(rest: &mut &[u8]) -> Option<[u8; LEN]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

/// The marks of a tree.
#[derive(Clone, Copy)]
pub(super) struct Marks<'a> {
    pub(super) store: &'a Access,
    pub(super) scope: &'a str,
}

impl Marks<'_> {
    pub(super) fn path(&self, path: &str) -> Mark {
        self.of(&format!("path {path}"))
    }

    pub(super) fn text(&self, digest: &str) -> Mark {
        self.of(&format!("text {digest}"))
    }

    fn of(&self, what: &str) -> Mark {
        let mark = mark(self.store, self.scope, what);
        mark.first_chunk().copied().unwrap_or_default()
    }
}

const MAGIC: &[u8] = b"GRAINSTEP1";

/// The coarsest times of a file system: FAT writes every other second.
const COARSEST_NS: i64 = 2_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_torn_or_changed_is_none() {
        let stamp = Stamp {
            len: 1,
            modified: 2,
            changed: 3,
            number: 4,
        };
        let mut step = LastStep::of(Some((EntryId::new(5), Time::from_ms(6))));
        step.add([7; 16], stamp, Some([8; 16]), Time::from_ms(10_000));
        step.add([9; 16], stamp, None, Time::from_ms(10_000));
        let bytes = step.to_bytes();
        let read = LastStep::of_bytes(&bytes).unwrap();
        assert_eq!((read.written, read.len()), (step.written, 2));
        assert_eq!(read.as_it_was(&[7; 16], &stamp), Some(Some([8; 16])));
        assert_eq!(read.as_it_was(&[9; 16], &stamp), Some(None));
        for len in 0..bytes.len() {
            assert!(LastStep::of_bytes(&bytes[..len]).is_none(), "{len}");
            let mut changed = bytes.clone();
            changed[len] ^= 1;
            assert!(LastStep::of_bytes(&changed).is_none(), "{len}");
        }
    }

    #[test]
    fn a_file_whose_times_a_later_write_may_have_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.md");
        fs::write(&file, "- one\n").unwrap();
        let stamp = Stamp::of(&file).unwrap().unwrap();
        let written_at = stamp.modified.max(stamp.changed) / 1_000_000;
        let mut step = LastStep::default();
        step.add([1; 16], stamp, None, Time::from_ms(written_at + 1_999));
        assert_eq!(step.len(), 0);
        step.add([1; 16], stamp, None, Time::from_ms(written_at + 2_001));
        assert_eq!(step.len(), 1);
        // The times of a file may be set, but for the one that the system keeps.
        let times = fs::File::open(&file).unwrap();
        let modified = times.metadata().unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "- two\n").unwrap();
        let times = fs::File::options().write(true).open(&file).unwrap();
        times.set_modified(modified).unwrap();
        let now = Stamp::of(&file).unwrap().unwrap();
        assert_eq!((now.len, now.modified), (stamp.len, stamp.modified));
        assert_eq!(step.as_it_was(&[1; 16], &now).is_none(), cfg!(unix));
    }
}

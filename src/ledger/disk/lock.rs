//! The lock of a store: one writing process, and the name of its holder for the process that finds
//! it taken.
//!
//! The exclusion itself is the disk's; this adds the holder's name and the check that the file is
//! still the one that was locked.

use std::fmt;
use std::io;

use super::{Disk, DiskFile, OpenMode};
use crate::ledger::Error;

/// A held lock, released when dropped.
///
/// ```
/// use grainstore::ledger::{Lock, MemoryDisk};
///
/// let disk = MemoryDisk::default();
/// let held = Lock::take(&disk, "LOCK", "process 1 (first)")?;
/// held.check()?;
/// let error = Lock::take(&disk, "LOCK", "process 2 (second)").unwrap_err();
/// assert_eq!(error.to_string(), "the store is in use by process 1 (first)");
/// drop(held);
/// assert!(Lock::take(&disk, "LOCK", "process 2 (second)").is_ok());
/// # Ok::<(), grainstore::ledger::Error>(())
/// ```
#[must_use = "a lock is released when dropped"]
pub struct Lock {
    name: String,
    is_ours: Box<dyn Fn() -> bool + Send + Sync>,
    _held: Box<dyn Send + Sync>,
}

impl Lock {
    /// Wraps a guard that releases the lock when it is dropped.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self {
            name: String::new(),
            is_ours: Box::new(|| true),
            _held: Box::new(held),
        }
    }

    /// Adds the test whether the lock's file is still the one that was locked.
    pub fn watched(self, is_ours: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            is_ours: Box::new(is_ours),
            ..self
        }
    }

    /// Takes the lock of a store, which the writing process holds while the store is open, and
    /// writes `holder` to its file for the next process that tries.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` while another holds it, `ERR_STORAGE_READ_ONLY`, `ERR_STORAGE_IO`.
    pub fn take(disk: &dyn Disk, name: &str, holder: &str) -> Result<Self, Error> {
        let lock = disk.lock(name).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => Error::Locked {
                holder: read_holder(disk, name),
            },
            io::ErrorKind::PermissionDenied => Error::ReadOnly {
                action: "lock",
                name: name.into(),
                source,
            },
            _ => Error::io("lock", name, source),
        })?;
        // The name is informational: the lock is held even if it cannot be written.
        if let Err(error) = write_holder(disk, name, holder) {
            tracing::debug!(%error, "the lock does not name its holder");
        }
        Ok(Self {
            name: name.into(),
            ..lock
        })
    }

    /// Checks that the lock's file was not removed or replaced, which would admit a second writer.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED`.
    pub fn check(&self) -> Result<(), Error> {
        if (self.is_ours)() {
            return Ok(());
        }
        Err(Error::LockLost {
            name: self.name.clone(),
        })
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lock")
    }
}

fn write_holder(disk: &dyn Disk, name: &str, holder: &str) -> io::Result<()> {
    let file = disk.open(name, OpenMode::Write)?;
    file.set_len(0)?;
    file.write_at(format!("{holder}\n").as_bytes(), 0)
}

fn read_holder(disk: &dyn Disk, name: &str) -> Option<String> {
    holder_in(&*disk.open(name, OpenMode::Read).ok()?)
}

/// Returns the name in a lock's file, if it is one line of plain text.
pub(crate) fn holder_in(file: &dyn DiskFile) -> Option<String> {
    let len = file.len_bytes().ok()?.min(HOLDER_MAX);
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    file.read_at(&mut bytes, 0).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let line = text.strip_suffix('\n')?;
    (!line.is_empty() && !line.contains(char::is_control)).then(|| line.to_owned())
}

/// The longest name that is read, in bytes.
const HOLDER_MAX: u64 = 512;

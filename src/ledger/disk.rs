use std::fmt;
use std::io;
use std::sync::Arc;

use super::Error;

/// A directory of files: the one seam through which a store's bytes are changed.
///
/// Names are relative, use `/`, and lie at most one folder deep (`ledger/0000000000000001.seg`);
/// any other name is `InvalidInput`. Nothing is durable before the file is synced, and no
/// creation, renaming or removal before its folder is.
///
/// ```
/// use grainstore::ledger::{Access, Disk, MemoryDisk};
///
/// let disk = MemoryDisk::default();
/// let file = disk.create("note")?;
/// file.write_at(b"hello", 0)?;
/// let mut bytes = [0; 5];
/// disk.open("note", Access::Read)?.read_at(&mut bytes, 0)?;
/// assert_eq!(&bytes, b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Disk: fmt::Debug + Send + Sync {
    /// Opens an existing file.
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates a file for reading and writing; one that exists is `AlreadyExists`.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates a folder, unless it exists.
    fn create_folder(&self, folder: &str) -> io::Result<()>;

    /// Renames a file over whatever has the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns the names of the files in a folder, without the folder; `""` is the root.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Makes what was created, renamed or removed in a folder durable; `""` is the root.
    fn sync_folder(&self, folder: &str) -> io::Result<()>;

    /// Takes the exclusive lock of a file, which is created if missing; `WouldBlock` if it is held.
    fn lock(&self, name: &str) -> io::Result<Lock>;
}

/// An open file of a [`Disk`]. Reads and writes carry their offset, so one handle serves many
/// threads.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Returns the length in bytes.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Fills `buffer` from `offset`; a file that ends before is `UnexpectedEof`.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`, growing the file as needed.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Cuts the file, or grows it with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes bytes and length durable (`fdatasync`).
    fn sync(&self) -> io::Result<()>;
}

/// Says what a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing.
    Write,
}

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
    /// Wraps what releases the lock when it is dropped.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self {
            name: String::new(),
            is_ours: Box::new(|| true),
            _held: Box::new(held),
        }
    }

    /// Adds what tells whether the lock's file is still the one that was locked.
    pub fn watched(self, is_ours: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            is_ours: Box::new(is_ours),
            ..self
        }
    }

    /// Takes the lock of a store, which its writing process holds as long as it is open, and
    /// leaves `holder` in its file for whoever comes second.
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
        // The name is a courtesy: a lock that cannot be written to is held all the same.
        if let Err(error) = write_holder(disk, name, holder) {
            tracing::debug!(%error, "the lock does not name its holder");
        }
        Ok(Self {
            name: name.into(),
            ..lock
        })
    }

    /// Makes sure that nobody removed or replaced the lock's file, which would let another writer
    /// in.
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
    let file = disk.open(name, Access::Write)?;
    file.set_len(0)?;
    file.write_at(format!("{holder}\n").as_bytes(), 0)
}

/// Returns what the holder of a lock wrote, if it is one line of plain text.
fn read_holder(disk: &dyn Disk, name: &str) -> Option<String> {
    let file = disk.open(name, Access::Read).ok()?;
    let len = file.len_bytes().ok()?.min(HOLDER_MAX);
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    file.read_at(&mut bytes, 0).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let line = text.strip_suffix('\n')?;
    (!line.is_empty() && !line.contains(char::is_control)).then(|| line.to_owned())
}

/// Refuses a name that could leave the directory or lies deeper than one folder.
pub(super) fn check_name(name: &str) -> io::Result<()> {
    let mut parts = 0;
    let sound = name.split('/').all(|part| {
        parts += 1;
        // A backslash or colon is a separator or a drive on Windows.
        !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '\0'])
    });
    if sound && parts <= 2 {
        Ok(())
    } else {
        Err(invalid(name))
    }
}

/// Refuses a folder that is not the root or one plain name.
pub(super) fn check_folder(folder: &str) -> io::Result<()> {
    if folder.is_empty() || (!folder.contains('/') && check_name(folder).is_ok()) {
        Ok(())
    } else {
        Err(invalid(folder))
    }
}

fn invalid(name: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("not a name inside the store: {name:?}"),
    )
}

/// A process number and a name are shorter.
const HOLDER_MAX: u64 = 512;

#[cfg(test)]
mod tests {
    use super::{check_folder, check_name};

    #[test]
    fn a_name_cannot_leave_the_directory() {
        for good in ["LOCK", "ledger/0000000000000001.seg", "a/.b"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "..",
            "a/..",
            "a/b/c",
            "a//b",
            "./a",
            "a/",
            "c:x",
            "a\\b",
        ] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
        assert!(check_folder("").is_ok() && check_folder("ledger").is_ok());
        assert!(check_folder("a/b").is_err() && check_folder("..").is_err());
    }
}

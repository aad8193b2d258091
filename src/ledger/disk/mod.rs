//! The disk: the seam through which every byte of a store is changed, and its implementations.
//!
//! The crash programme adds one that fails and crashes. Files of other engines do not pass through
//! here.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) mod lock;
#[cfg(unix)]
mod directory;
#[cfg(any(test, not(unix)))]
mod directory_by_path;
pub(super) mod file_disk;
pub(super) mod memory_disk;
pub(super) mod overlay_disk;
pub(super) mod ballast;

use self::lock::Lock;

/// A directory of files: the only interface through which a store's bytes are changed.
///
/// Names are relative, use `/`, and lie at most one folder deep (`ledger/0000000000000001.seg`);
/// any other name is `InvalidInput`. Nothing is durable before the file is synced, and no
/// creation, renaming or removal before its folder is.
///
/// ```
/// use grainstore::ledger::{OpenMode, Disk, MemoryDisk};
///
/// let disk = MemoryDisk::default();
/// let file = disk.create("note")?;
/// file.write_at(b"hello", 0)?;
/// let mut bytes = [0; 5];
/// disk.open("note", OpenMode::Read)?.read_at(&mut bytes, 0)?;
/// assert_eq!(&bytes, b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Disk: fmt::Debug + Send + Sync {
    /// Opens an existing file.
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;

    /// Returns whether something has the name of a file.
    fn exists(&self, name: &str) -> io::Result<bool> {
        match self.open(name, OpenMode::Read) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates a file for reading and writing; one that exists is `AlreadyExists`.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates a folder, unless it exists.
    fn create_folder(&self, folder: &str) -> io::Result<()>;

    /// Renames a file, replacing any file of the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns the names of the files in a folder, without the folder; `""` is the root.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Makes creations, renamings and removals in a folder durable; `""` is the root.
    fn sync_folder(&self, folder: &str) -> io::Result<()>;

    /// Takes the exclusive lock of a file, which is created if missing; `WouldBlock` if it is held.
    fn lock(&self, name: &str) -> io::Result<Lock>;

    /// Returns the test whether files of a folder are still those that have these names now. `None`
    /// from a disk that no other program writes.
    fn watch(&self, _folder: &str, _names: Vec<String>) -> io::Result<Option<Watch>> {
        Ok(None)
    }

    /// Returns the path of a file or a folder if it lies in a file system, so that a reader can map
    /// it into memory.
    fn file_system_path(&self, _name: &str) -> Option<PathBuf> {
        None
    }
}

/// Returns the place in the list of a file that was removed or replaced since.
pub(crate) type Watch = Box<dyn FnMut() -> Option<usize> + Send + Sync>;

/// An open file of a [`Disk`]. Reads and writes carry their offset, so one handle serves many
/// threads.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Returns the length in bytes.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Fills `buffer` from `offset`; a file that ends before is `UnexpectedEof`.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Adds `len` bytes from `offset` to `buffer`, as [`read_at`](Self::read_at) reads them.
    fn read_onto(&self, buffer: &mut Vec<u8>, len: usize, offset: u64) -> io::Result<()> {
        let before = buffer.len();
        buffer.resize(before.saturating_add(len), 0);
        self.read_at(buffer.get_mut(before..).unwrap_or_default(), offset)
    }

    /// Writes all of `bytes` at `offset`, growing the file as needed.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Truncates the file, or extends it with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes a file that ends at `end` longer by zeros, up to `room_end`, with a place on the disk, so
    /// that bytes that are written there cost less to make durable than some behind the end. Returns
    /// whether it did: not on a disk where they do not. The zeros are durable with the next
    /// [`sync`](Self::sync).
    fn make_room(&self, _end: u64, _room_end: u64) -> io::Result<bool> {
        Ok(false)
    }

    /// Makes bytes and length durable (`fdatasync`).
    fn sync(&self) -> io::Result<()>;

    /// Writes as [`write_at`](Self::write_at) does and makes the bytes and the length durable, in one
    /// call to the system where it has one. Bytes that were written before and not synced need not
    /// become durable.
    ///
    /// The outer result is of the write, of which a part may be there after an error, and none was
    /// synced; the inner one is of the sync, after whose error nothing is known of the bytes.
    fn write_durably(&self, bytes: &[u8], offset: u64) -> io::Result<io::Result<()>> {
        self.write_at(bytes, offset)?;
        Ok(self.sync())
    }

    /// Takes the exclusive lock of the file if no other handle of it has the lock, and returns
    /// whether it did. It ends with [`unlock`](Self::unlock), and with the process. A disk that no
    /// other program writes need not lock.
    fn try_lock(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Takes the lock of the file beside others who do the same, and beside no one who has it alone. A
    /// disk that has no such lock takes the exclusive one.
    fn try_lock_shared(&self) -> io::Result<bool> {
        self.try_lock()
    }

    /// Releases the lock of the file.
    fn unlock(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns whether the file still has the name that it was opened by: another program may have
    /// removed or replaced it. A disk that no other program writes need not look.
    fn is_in_place(&self) -> bool {
        true
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Reading only.
    Read,
    /// Reading and writing.
    Write,
}

/// Refuses a name that could leave the directory or lies deeper than one folder.
pub(in crate::ledger) fn check_name(name: &str) -> io::Result<()> {
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
pub(in crate::ledger) fn check_folder(folder: &str) -> io::Result<()> {
    if folder.is_empty() || (!folder.contains('/') && check_name(folder).is_ok()) {
        Ok(())
    } else {
        Err(invalid(folder))
    }
}

/// How a file of a directory is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    /// Creates the file; one that exists is an error.
    CreateNew,
    /// Creates the file unless it exists, for writing.
    Create,
}

fn not_a_file(name: &str) -> io::Error {
    refused(format!("{name} is no regular file; a link is not followed"))
}

fn not_a_directory(name: &str) -> io::Error {
    refused(format!("{name} is no directory; a link is not followed"))
}

#[cfg(unix)]
fn second_name(name: &str) -> io::Error {
    refused(format!(
        "{name} has a second name (a hard link), and writing would change that file too"
    ))
}

fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn invalid(name: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("not a name inside the store: {name:?}"),
    )
}

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

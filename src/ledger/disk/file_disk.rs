//! The disk that ships: a directory of the file system, `fdatasync` and advisory locks.
//!
//! It adds no buffering and no retries. Names are checked, and no file is opened through a link
//! (`directory`).

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
use rustix::io::Errno;

#[cfg(unix)]
use super::directory::Directory;
#[cfg(not(unix))]
use super::directory_by_path::Directory;
use super::lock::Lock;
use super::{Access, Disk, DiskFile, OpenMode, Watch, check_folder, check_name};

/// A [`Disk`] that is a directory of the file system.
///
/// ```
/// use grainstore::ledger::{Disk, FileDisk};
///
/// let home = tempfile::tempdir()?;
/// let disk = FileDisk::new(home.path());
/// disk.create_folder("ledger")?;
/// disk.create("ledger/one")?.sync()?;
/// assert_eq!(disk.list("ledger")?, ["one"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FileDisk {
    directory: Arc<Directory>,
}

impl FileDisk {
    /// Returns the disk rooted at an existing directory; nothing is touched yet.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self {
            directory: Arc::new(Directory::new(root.as_ref())),
        }
    }

    /// Refuses links, and whatever else a store does not write, where a store has its folders and
    /// files; nothing is opened.
    pub(crate) fn check_kinds(&self, folders: &[&str], files: &[&str]) -> io::Result<()> {
        let folders = folders.iter().map(|name| (name, true));
        let mut names = folders.chain(files.iter().map(|name| (name, false)));
        names.try_for_each(|(name, is_folder)| self.directory.check_kind(name, is_folder))
    }

    fn file(&self, name: &str, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        check_name(name)?;
        let file = self.directory.open(name, access)?;
        Ok(Arc::new(NamedFile {
            is_in_place: Box::new(self.directory.watch(name, &file)?),
            file,
        }))
    }
}

impl Disk for FileDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        self.file(
            name,
            match mode {
                OpenMode::Read => Access::Read,
                OpenMode::Write => Access::Write,
            },
        )
    }

    #[cfg(unix)]
    fn exists(&self, name: &str) -> io::Result<bool> {
        check_name(name)?;
        self.directory.exists(name)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.file(name, Access::CreateNew)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        check_folder(folder)?;
        match folder {
            "" => Ok(()),
            _ => self.directory.create_folder(folder),
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        check_name(from)?;
        check_name(to)?;
        self.directory.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        check_name(name)?;
        self.directory.remove(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        check_folder(folder)?;
        self.directory.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        check_folder(folder)?;
        self.directory.sync(folder)
    }

    fn watch(&self, folder: &str, names: Vec<String>) -> io::Result<Option<Watch>> {
        check_folder(folder)?;
        names.iter().try_for_each(|name| check_name(name))?;
        self.directory.watch_all(folder, names, SETTLED_AFTER)
    }

    fn file_system_path(&self, name: &str) -> Option<PathBuf> {
        check_folder(name).or_else(|_| check_name(name)).ok()?;
        Some(self.directory.path().join(name))
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        check_name(name)?;
        let file = self.directory.open(name, Access::Create)?;
        match file.try_lock() {
            Ok(()) => {
                let is_ours = self.directory.watch(name, &file)?;
                // The file may have been replaced between opening and locking it.
                if is_ours() {
                    Ok(Lock::new(Locked(file)).watched(is_ours))
                } else {
                    Err(io::ErrorKind::WouldBlock.into())
                }
            }
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// File systems give the times of changes in steps of up to two seconds.
const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// A file with the test whether it still has its name.
struct NamedFile {
    file: File,
    is_in_place: Box<dyn Fn() -> bool + Send + Sync>,
}

impl fmt::Debug for NamedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl DiskFile for NamedFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.file.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_at(buffer, offset)
    }

    fn read_onto(&self, buffer: &mut Vec<u8>, len: usize, offset: u64) -> io::Result<()> {
        self.file.read_onto(buffer, len, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        DiskFile::set_len(&self.file, len)
    }

    fn make_room(&self, end: u64, room_end: u64) -> io::Result<bool> {
        // Written, not only allocated: a file system notes which allocated blocks were written.
        let len = usize::try_from(room_end.saturating_sub(end)).unwrap_or(usize::MAX);
        self.file.write_at(&vec![0; len], end)?;
        Ok(true)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn write_durably(&self, bytes: &[u8], offset: u64) -> io::Result<io::Result<()>> {
        self.file.write_durably(bytes, offset)
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn try_lock_shared(&self) -> io::Result<bool> {
        match self.file.try_lock_shared() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }

    fn is_in_place(&self) -> bool {
        (self.is_in_place)()
    }
}

/// A locked file. It is unlocked, not only closed: between `fork` and `exec` a child process has a
/// copy of the descriptor, and would keep the lock.
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::debug!(%error, "the lock is released by closing its file");
        }
    }
}

impl DiskFile for File {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }

    /// Without writing zeros first where the bytes come to lie.
    #[cfg(unix)]
    fn read_onto(&self, buffer: &mut Vec<u8>, len: usize, offset: u64) -> io::Result<()> {
        let (begin, end) = (buffer.len(), buffer.len().saturating_add(len));
        buffer.reserve_exact(len);
        while buffer.len() < end {
            let at = offset.saturating_add((buffer.len() - begin) as u64);
            match rustix::io::pread(self, rustix::buffer::spare_capacity(buffer), at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // The room may be larger than what was asked for.
        buffer.truncate(end);
        Ok(())
    }

    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        use std::os::windows::fs::FileExt;

        while !buffer.is_empty() {
            let n = self.seek_read(buffer, offset)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer = buffer.split_at_mut(n).1;
            offset += n as u64;
        }
        Ok(())
    }

    #[cfg(windows)]
    fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        use std::os::windows::fs::FileExt;

        while !bytes.is_empty() {
            let n = self.seek_write(bytes, offset)?;
            if n == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = bytes.split_at(n).1;
            offset += n as u64;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Self::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    #[cfg(target_os = "linux")]
    fn write_durably(&self, bytes: &[u8], offset: u64) -> io::Result<io::Result<()>> {
        match write_and_sync(self, bytes, offset) {
            Ok(()) => Ok(Ok(())),
            // A kernel, a sandbox or a file system without the flag.
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL | Errno::PERM) => {
                self.write_at(bytes, offset)?;
                Ok(self.sync())
            }
            // Room for the bytes is taken before any of them is synced.
            Err(error @ (Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
            Err(error) => Ok(Err(error.into())),
        }
    }
}

/// Writes and syncs in one call for each part that the system takes at once, which is all of it unless
/// the disk fills up or a signal comes.
#[cfg(target_os = "linux")]
fn write_and_sync(file: &File, mut bytes: &[u8], mut offset: u64) -> Result<(), Errno> {
    use rustix::io::{ReadWriteFlags, pwritev2};

    while !bytes.is_empty() {
        let part = [io::IoSlice::new(bytes)];
        match pwritev2(file, &part, offset, ReadWriteFlags::DSYNC) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => {
                bytes = bytes.get(written..).unwrap_or_default();
                offset = offset.saturating_add(written as u64);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_released_though_a_child_process_has_a_copy_of_its_file() {
        let home = tempfile::tempdir().unwrap();
        let disk = FileDisk::new(home.path());
        let file = File::create(home.path().join("LOCK")).unwrap();
        file.try_lock().unwrap();
        // The copy that a child process has between fork and exec.
        let _copy = file.try_clone().unwrap();
        assert!(disk.lock("LOCK").is_err());
        drop(Locked(file));
        assert!(disk.lock("LOCK").is_ok());
    }
}

//! The disk that ships: a directory of the file system, `fdatasync` and advisory locks.
//!
//! It adds no buffering and no retries. Names are checked before they become paths.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::lock::Lock;
use super::{Disk, DiskFile, OpenMode, check_folder, check_name};

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
    root: PathBuf,
}

impl FileDisk {
    /// Returns the disk rooted at an existing directory; nothing is touched yet.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self {
            root: root.as_ref().to_path_buf(),
        }
    }

    fn path(&self, name: &str) -> io::Result<PathBuf> {
        check_name(name)?;
        Ok(name
            .split('/')
            .fold(self.root.clone(), |path, part| path.join(part)))
    }

    fn folder(&self, folder: &str) -> io::Result<PathBuf> {
        check_folder(folder)?;
        Ok(if folder.is_empty() {
            self.root.clone()
        } else {
            self.root.join(folder)
        })
    }
}

impl Disk for FileDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(mode == OpenMode::Write)
            .open(self.path(name)?)?;
        Ok(Arc::new(file))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.path(name)?)?;
        Ok(Arc::new(file))
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        match fs::create_dir(self.folder(folder)?) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            outcome => outcome,
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from)?, self.path(to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name)?)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.folder(folder)?)? {
            let entry = entry?;
            // A store writes no name that is not UTF-8.
            if entry.file_type()?.is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        let path = self.folder(folder)?;
        // Windows cannot open a directory to sync it; NTFS journals names itself.
        if cfg!(unix) {
            File::open(path)?.sync_all()?;
        }
        Ok(())
    }

    fn file_system_path(&self, folder: &str) -> Option<PathBuf> {
        self.folder(folder).ok()
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        let path = self.path(name)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        match file.try_lock() {
            Ok(()) => {
                let locked = identity(&file.metadata()?);
                let is_ours =
                    move || fs::metadata(&path).is_ok_and(|found| identity(&found) == locked);
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

/// Returns the identity of a file, which another file of the same name does not share.
#[cfg(unix)]
fn identity(file: &fs::Metadata) -> impl PartialEq + Send + Sync + use<> {
    use std::os::unix::fs::MetadataExt;

    (file.dev(), file.ino())
}

/// On other systems a locked file cannot be replaced.
#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> impl PartialEq + Send + Sync + use<> {}

impl DiskFile for File {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
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

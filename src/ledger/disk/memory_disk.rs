//! A disk in memory, for stores without files and for tests; or in files without names, for stores
//! that are thrown away and need not fit the memory.
//!
//! A sync does nothing and every write succeeds: it simulates no crash. `grainstore-crash` does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::process::{Mutex, RwLock};

use super::lock::Lock;
use super::{Disk, DiskFile, OpenMode, check_folder, check_name};

/// A [`Disk`] in memory. A clone is another handle to the same bytes.
///
/// ```
/// use grainstore::ledger::{Disk, MemoryDisk};
///
/// let disk = MemoryDisk::default();
/// disk.create("one")?;
/// assert_eq!(disk.clone().list("")?, ["one"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryDisk {
    content: Arc<Mutex<Content>>,
    /// Where the files without names are.
    folder: Option<Arc<Path>>,
}

impl MemoryDisk {
    /// Returns a disk whose bytes are in files without names in a folder, if one is given: they are
    /// gone with their handles, and with the process, however it ends.
    pub(crate) fn in_unnamed_files(folder: Option<&Path>) -> Self {
        Self {
            folder: folder.map(Arc::from),
            ..Self::default()
        }
    }

    fn new_file(&self) -> io::Result<Arc<MemoryFile>> {
        let bytes = match &self.folder {
            None => Bytes::default(),
            Some(folder) => Bytes::Unnamed(unnamed_file(folder)?),
        };
        Ok(Arc::new(MemoryFile(bytes, AtomicBool::new(false))))
    }
}

/// Creates a file and takes its name away.
fn unnamed_file(folder: &Path) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut options = File::options();
    // A link of this name would be refused, not followed.
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".grainstore-{}-{number}", std::process::id()));
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => {
                let file = file?;
                std::fs::remove_file(path)?;
                return Ok(file);
            }
        }
    }
}

#[derive(Debug, Default)]
struct Content {
    files: BTreeMap<String, Arc<MemoryFile>>,
    folders: BTreeSet<String>,
    locked: BTreeSet<String>,
}

impl Content {
    fn folder_of(&self, name: &str) -> io::Result<()> {
        check_name(name)?;
        match name.split_once('/') {
            Some((folder, _)) if !self.folders.contains(folder) => {
                Err(io::ErrorKind::NotFound.into())
            }
            _ => Ok(()),
        }
    }
}

impl Disk for MemoryDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        check_name(name)?;
        let content = self.content.lock();
        let file = content.files.get(name).cloned();
        let file: Arc<MemoryFile> = file.ok_or(io::ErrorKind::NotFound)?;
        Ok(match mode {
            OpenMode::Write => file,
            OpenMode::Read => Arc::new(ReadOnly(file)),
        })
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut content = self.content.lock();
        content.folder_of(name)?;
        if content.files.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = self.new_file()?;
        content
            .files
            .insert(name.into(), Arc::<MemoryFile>::clone(&file));
        Ok(file)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        check_folder(folder)?;
        self.content.lock().folders.insert(folder.into());
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut content = self.content.lock();
        check_name(from)?;
        content.folder_of(to)?;
        let file = content.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        content.files.insert(to.into(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        check_name(name)?;
        let removed = self.content.lock().files.remove(name);
        removed.map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        check_folder(folder)?;
        let content = self.content.lock();
        if !folder.is_empty() && !content.folders.contains(folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let names = content.files.keys().filter_map(|name| {
            let (place, base) = name.split_once('/').unwrap_or(("", name));
            (place == folder).then(|| base.to_owned())
        });
        Ok(names.collect())
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        check_folder(folder)
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        let mut content = self.content.lock();
        content.folder_of(name)?;
        if !content.locked.insert(name.into()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if !content.files.contains_key(name) {
            // Nothing is ever written to it.
            content.files.insert(name.into(), Arc::default());
        }
        Ok(Lock::new(Held {
            content: Arc::clone(&self.content),
            name: name.into(),
        }))
    }
}

/// The bytes of one file, and whether it is locked; handles outlive a renaming or removal, as on Unix.
#[derive(Debug, Default)]
struct MemoryFile(Bytes, AtomicBool);

#[derive(Debug)]
enum Bytes {
    Held(RwLock<Vec<u8>>),
    Unnamed(File),
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Held(RwLock::default())
    }
}

impl DiskFile for MemoryFile {
    fn len_bytes(&self) -> io::Result<u64> {
        match &self.0 {
            Bytes::Held(bytes) => u64::try_from(bytes.read().len()).map_err(io::Error::other),
            Bytes::Unnamed(file) => file.len_bytes(),
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = match &self.0 {
            Bytes::Held(bytes) => bytes.read(),
            Bytes::Unnamed(file) => return DiskFile::read_at(file, buffer, offset),
        };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = bytes
            .get(offset..)
            .and_then(|rest| rest.get(..buffer.len()))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(found);
        Ok(())
    }

    fn write_at(&self, new: &[u8], offset: u64) -> io::Result<()> {
        let bytes = match &self.0 {
            Bytes::Held(bytes) => bytes,
            Bytes::Unnamed(file) => return DiskFile::write_at(file, new, offset),
        };
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let end = offset.checked_add(new.len());
        let end = end.ok_or(io::ErrorKind::StorageFull)?;
        let mut bytes = bytes.write();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        if let Some(place) = bytes.get_mut(offset..end) {
            place.copy_from_slice(new);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        match &self.0 {
            Bytes::Held(bytes) => {
                let len = usize::try_from(len).map_err(io::Error::other)?;
                bytes.write().resize(len, 0);
                Ok(())
            }
            Bytes::Unnamed(file) => DiskFile::set_len(file, len),
        }
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Between the stores of one process that are open on one disk.
    fn try_lock(&self) -> io::Result<bool> {
        Ok(!self.1.swap(true, Ordering::AcqRel))
    }

    fn unlock(&self) -> io::Result<()> {
        self.1.store(false, Ordering::Release);
        Ok(())
    }
}

/// A handle that was opened for reading.
#[derive(Debug)]
struct ReadOnly(Arc<MemoryFile>);

impl DiskFile for ReadOnly {
    fn len_bytes(&self) -> io::Result<u64> {
        self.0.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

/// Releases a lock when dropped.
struct Held {
    content: Arc<Mutex<Content>>,
    name: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.content.lock().locked.remove(&self.name);
    }
}

//! The files of the index: tantivy's `Directory` over the [`Disk`] of the store.
//!
//! Every change passes through the disk of the store, so that the crash campaigns see it. Files of a
//! file system are mapped into memory for reading; those of another disk are read whole, once for
//! as long as a reader uses them.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, OwnedBytes,
    TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use crate::ledger::{Disk, DiskFile, OpenMode};

/// The folder of the index on a disk, as the index library uses it. A clone is another handle.
///
/// The library has no lock of its own here: the store is locked by its process.
#[derive(Clone)]
pub(in crate::text) struct DiskDirectory {
    disk: Arc<dyn Disk>,
    /// Maps files, if the disk is a file system.
    mapped: Option<MmapDirectory>,
    /// Contents of files that are not mapped, for as long as a reader holds them.
    read: Arc<Mutex<HashMap<String, Weak<[u8]>>>>,
}

impl DiskDirectory {
    /// Returns the folder on `disk`, which must have it.
    pub(in crate::text) fn new(disk: &Arc<dyn Disk>) -> Self {
        let mapped = disk.file_system_path(FOLDER);
        Self {
            disk: Arc::clone(disk),
            mapped: mapped.and_then(|path| MmapDirectory::open(path).ok()),
            read: Arc::default(),
        }
    }

    fn contents(&self, name: &str) -> io::Result<Arc<[u8]>> {
        let mut read = self.read.lock();
        if let Some(contents) = read.get(name).and_then(Weak::upgrade) {
            return Ok(contents);
        }
        read.retain(|_, contents| contents.strong_count() > 0);
        let contents = Arc::from(self.whole(name)?);
        read.insert(name.to_owned(), Arc::downgrade(&contents));
        Ok(contents)
    }

    fn whole(&self, name: &str) -> io::Result<Vec<u8>> {
        let file = self.disk.open(name, OpenMode::Read)?;
        let len = usize::try_from(file.len_bytes()?).map_err(io::Error::other)?;
        let mut bytes = vec![0; len];
        file.read_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}

impl Directory for DiskDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if let Some(mapped) = &self.mapped {
            return mapped.get_file_handle(path);
        }
        let contents = name_of(path).and_then(|name| self.contents(&name));
        let contents = contents.map_err(|error| not_read(error, path))?;
        Ok(Arc::new(OwnedBytes::new(contents)))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let removed = name_of(path).and_then(|name| self.disk.remove(&name));
        removed.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_owned()),
            _ => DeleteError::IoError {
                io_error: Arc::new(error),
                filepath: path.to_owned(),
            },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        match name_of(path).and_then(|name| self.disk.open(&name, OpenMode::Read)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(not_read(error, path)),
        }
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let created = name_of(path).and_then(|name| self.disk.create(&name));
        let file = created.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(FileWriter { file, at: 0 })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let contents = name_of(path).and_then(|name| self.whole(&name));
        contents.map_err(|error| not_read(error, path))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let name = name_of(path)?;
        let new = format!("{name}.new");
        match self.disk.remove(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = self.disk.create(&new)?;
        file.write_at(data, 0)?;
        file.sync()?;
        self.disk.rename(&new, &name)?;
        self.disk.sync_folder(FOLDER)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.disk.sync_folder(FOLDER)
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

impl fmt::Debug for DiskDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DiskDirectory")
    }
}

/// A file that is being written, from its beginning to its end.
struct FileWriter {
    file: Arc<dyn DiskFile>,
    at: u64,
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.at)?;
        self.at = self.at.saturating_add(bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for FileWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.file.sync()
    }
}

/// Returns the name of a file on the disk. The disk refuses a name outside the folder.
fn name_of(path: &Path) -> io::Result<String> {
    let name = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(format!("{FOLDER}/{name}"))
}

fn not_read(error: io::Error, path: &Path) -> OpenReadError {
    let path = PathBuf::from(path);
    match error.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path),
        _ => OpenReadError::wrap_io_error(error, path),
    }
}

/// The folder of the index.
pub(in crate::text) const FOLDER: &str = "text";

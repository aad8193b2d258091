//! The files of the index: tantivy's `Directory` over the [`Disk`] of the store.
//!
//! Every change passes through the disk of the store, so that the crash campaigns see it. Files of a
//! file system are mapped into memory for reading; those of another disk are read whole, once for
//! as long as a reader uses them. The library starts no thread, takes no lock and deletes no file:
//! the store has one writing process, and [`SegmentList`](super::segment_list::SegmentList) names
//! the files.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, OwnedBytes,
    TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use crate::ledger::{Disk, DiskFile, OpenMode};
use crate::process::Mutex;
use crate::text::index::disk::WindowedFile;

/// The folder of the index on a disk, as the index library uses it. A clone is another handle.
#[derive(Clone)]
pub(in crate::text) struct DiskDirectory {
    disk: Arc<dyn Disk>,
    /// Maps files, if the disk is a file system.
    mapped: Option<MmapDirectory>,
    /// Contents of files that are not mapped, for as long as a reader holds them.
    read: Arc<Mutex<HashMap<String, Weak<[u8]>>>>,
    /// The segment that is being built, for a builder's handle.
    staging: Option<Arc<Staging>>,
    /// Whether files are read a window at a time, and not mapped.
    is_windowed: bool,
}

/// The files of a segment that no list names yet. They are removed when the last handle is dropped,
/// unless the segment was listed.
pub(in crate::text) struct Staging {
    disk: Arc<dyn Disk>,
    /// The list of segments that the library writes for an index of one segment.
    list: Mutex<Option<Vec<u8>>>,
    created: Mutex<Vec<String>>,
    is_listed: AtomicBool,
    /// Above 0, writing fails: the segment is not wanted any more.
    cancelled: Arc<AtomicUsize>,
}

impl Staging {
    /// Keeps the files.
    pub(in crate::text) fn set_listed(&self) {
        self.is_listed.store(true, Ordering::Release);
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.is_listed.load(Ordering::Acquire) {
            for name in self.created.get_mut() {
                // The next opening removes what stays.
                drop(self.disk.remove(name));
            }
        }
    }
}

impl DiskDirectory {
    /// Returns the folder on `disk`, which must have it.
    pub(in crate::text) fn new(disk: &Arc<dyn Disk>) -> Self {
        let mapped = disk.file_system_path(FOLDER);
        Self {
            disk: Arc::clone(disk),
            mapped: mapped.and_then(|path| MmapDirectory::open(path).ok()),
            read: Arc::default(),
            staging: None,
            is_windowed: false,
        }
    }

    /// Returns a handle for reading each file once, in little memory.
    pub(in crate::text) fn windowed(&self) -> Self {
        Self {
            is_windowed: true,
            ..self.clone()
        }
    }

    /// Returns a handle for building one segment, and the segment's files. Writing fails while
    /// `cancelled` is above 0.
    pub(in crate::text) fn stage(&self, cancelled: &Arc<AtomicUsize>) -> (Self, Arc<Staging>) {
        let staging = Arc::new(Staging {
            disk: Arc::clone(&self.disk),
            list: Mutex::default(),
            created: Mutex::default(),
            is_listed: AtomicBool::new(false),
            cancelled: Arc::clone(cancelled),
        });
        let staged = Self {
            staging: Some(Arc::clone(&staging)),
            ..self.clone()
        };
        (staged, staging)
    }

    /// Makes creations, renamings and removals durable.
    pub(in crate::text) fn sync(&self) -> io::Result<()> {
        self.disk.sync_folder(FOLDER)
    }

    /// Removes the files of the index for which `is_kept` is false, the list of segments first.
    pub(in crate::text) fn retain(&self, is_kept: impl Fn(&str) -> bool) -> io::Result<()> {
        let mut names = self.disk.list(FOLDER)?;
        names.retain(|name| is_own(name) && !is_kept(name));
        names.sort_by_key(|name| (name != LIST, name.clone()));
        for name in names {
            match self.disk.remove(&format!("{FOLDER}/{name}")) {
                // Another process, which erases, empties the folder too.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        Ok(())
    }

    /// Returns the segment under construction if `path` is the list of segments.
    fn staging_of_list(&self, path: &Path) -> Option<&Staging> {
        let is_list = path == Path::new(LIST);
        self.staging.as_deref().filter(|_| is_list)
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
        let name = name_of(path).map_err(|error| not_read(error, path))?;
        // An overlay has files of its own beside those of a file system.
        let is_mapped = self.disk.file_system_path(&name).is_some();
        if let Some(mapped) = self.mapped.as_ref().filter(|_| is_mapped) {
            // The disk refuses a link, which mapping would follow.
            let found = self.disk.open(&name, OpenMode::Read);
            let file = found.map_err(|error| not_read(error, path))?;
            if self.is_windowed {
                let file = WindowedFile::new(file).map_err(|error| not_read(error, path))?;
                return Ok(Arc::new(file));
            }
            return mapped.get_file_handle(path);
        }
        let contents = self.contents(&name);
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
        if let Some(staging) = self.staging_of_list(path) {
            return Ok(staging.list.lock().is_some());
        }
        match name_of(path).and_then(|name| self.disk.open(&name, OpenMode::Read)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(not_read(error, path)),
        }
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let created = name_of(path).and_then(|name| {
            if let Some(staging) = &self.staging {
                staging.created.lock().push(name.clone());
            }
            self.disk.create(&name)
        });
        let file = created.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        let cancelled = self.staging.as_ref().map(|it| Arc::clone(&it.cancelled));
        let writer = FileWriter {
            file,
            at: 0,
            cancelled: cancelled.unwrap_or_default(),
        };
        Ok(BufWriter::with_capacity(BUFFER_BYTES, Box::new(writer)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let missing = || OpenReadError::FileDoesNotExist(path.to_owned());
        if path == Path::new(MANAGED) {
            return Err(missing());
        }
        if let Some(staging) = self.staging_of_list(path) {
            return staging.list.lock().clone().ok_or_else(missing);
        }
        let contents = name_of(path).and_then(|name| self.whole(&name));
        contents.map_err(|error| not_read(error, path))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(MANAGED) {
            return Ok(());
        }
        if let Some(staging) = self.staging_of_list(path) {
            *staging.list.lock() = Some(data.to_vec());
            return Ok(());
        }
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
        self.sync()
    }

    fn sync_directory(&self) -> io::Result<()> {
        match self.staging {
            // The names of a segment are made durable once, when it is listed.
            Some(_) => Ok(()),
            None => self.sync(),
        }
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
    cancelled: Arc<AtomicUsize>,
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancelled.load(Ordering::Relaxed) > 0 {
            return Err(io::Error::other("the segment is not wanted any more"));
        }
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

/// Returns whether a file in the folder has a name that the index library gives.
fn is_own(name: &str) -> bool {
    let is_of_segment = name
        .split_once('.')
        .is_some_and(|(id, _)| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_of_segment || OWN.contains(&name)
}

/// The folder of the index.
pub(in crate::text) const FOLDER: &str = "text";

/// The list of segments.
pub(in crate::text) const LIST: &str = "meta.json";

/// The list of files that the index library would keep. Files are removed by the list of segments
/// instead.
const MANAGED: &str = ".managed.json";

/// Files beside segments, those of earlier versions included.
const OWN: [&str; 5] = [
    LIST,
    "meta.json.new",
    MANAGED,
    ".tantivy-meta.lock",
    ".tantivy-writer.lock",
];

/// Written at once, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

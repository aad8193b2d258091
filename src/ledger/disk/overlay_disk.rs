//! A disk whose changes stay in memory: what reads a store beside its writer, and on a file system
//! that cannot be written, sees the files of another disk and changes none of them.
//!
//! Opening a store writes: it rebuilds what is in doubt and removes what no list names. On this
//! disk it does so for itself alone.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::process::Mutex;

use super::lock::Lock;
use super::memory_disk::MemoryDisk;
use super::{Disk, DiskFile, OpenMode};

/// A [`Disk`] that reads another, and keeps in memory what is created, renamed and removed.
///
/// A file of the disk below can be hidden and replaced, and never be opened for writing.
#[derive(Debug)]
pub(crate) struct OverlayDisk {
    below: Arc<dyn Disk>,
    changed: MemoryDisk,
    /// The files of the disk below that were removed here.
    removed: Mutex<BTreeSet<String>>,
}

impl OverlayDisk {
    pub(crate) fn new(below: Arc<dyn Disk>) -> Self {
        Self {
            below,
            changed: MemoryDisk::default(),
            removed: Mutex::default(),
        }
    }

    /// Returns whether the file is one that was created here.
    fn is_changed(&self, name: &str) -> bool {
        self.changed.open(name, OpenMode::Read).is_ok()
    }

    /// Opens the file of the disk below, unless it was removed here.
    fn open_below(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        if self.removed.lock().contains(name) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.below.open(name, OpenMode::Read)
    }

    /// Makes the folder of a new file, if the disk below has it.
    fn prepare_folder_of(&self, name: &str) -> io::Result<()> {
        match name.split_once('/') {
            Some((folder, _)) if self.changed.list(folder).is_err() => {
                self.below.list(folder)?;
                self.changed.create_folder(folder)
            }
            _ => Ok(()),
        }
    }
}

impl Disk for OverlayDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        match self.changed.open(name, mode) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let found = self.open_below(name)?;
        match mode {
            OpenMode::Read => Ok(found),
            OpenMode::Write => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        match self.open_below(name) {
            Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.prepare_folder_of(name)?;
        self.changed.create(name)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.changed.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        if !self.is_changed(from) {
            self.open_below(from)?;
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.prepare_folder_of(to)?;
        self.changed.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let is_changed = self.is_changed(name);
        if is_changed {
            self.changed.remove(name)?;
        }
        match self.open_below(name) {
            Ok(_) => {
                self.removed.lock().insert(name.to_owned());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_changed => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let removed = self.removed.lock().clone();
        let is_there = |base: &String| match folder {
            "" => !removed.contains(base),
            _ => !removed.contains(&format!("{folder}/{base}")),
        };
        let below = self.below.list(folder);
        let changed = self.changed.list(folder);
        let names: BTreeSet<String> = match (below, changed) {
            (Err(error), Err(_)) => return Err(error),
            (Err(error), _) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            (below, changed) => {
                let below = below.unwrap_or_default().into_iter().filter(is_there);
                below.chain(changed.unwrap_or_default()).collect()
            }
        };
        Ok(names.into_iter().collect())
    }

    fn sync_folder(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.changed.lock(name)
    }

    fn file_system_path(&self, name: &str) -> Option<PathBuf> {
        if self.is_changed(name) || self.removed.lock().contains(name) {
            return None;
        }
        self.below.file_system_path(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(disk: &dyn Disk, name: &str) -> io::Result<Vec<u8>> {
        let file = disk.open(name, OpenMode::Read)?;
        let mut bytes = vec![0; usize::try_from(file.len_bytes()?).unwrap()];
        file.read_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    fn write(disk: &dyn Disk, name: &str, bytes: &[u8]) -> io::Result<()> {
        disk.create(name)?.write_at(bytes, 0)
    }

    #[test]
    fn changes_are_seen_here_and_not_on_the_disk_below() {
        let below = MemoryDisk::default();
        below.create_folder("index").unwrap();
        write(&below, "index/CURRENT", b"old").unwrap();
        write(&below, "index/1.run", b"run").unwrap();
        let disk = OverlayDisk::new(Arc::new(below.clone()));

        assert!(disk.open("index/CURRENT", OpenMode::Write).is_err());
        assert!(disk.create("index/CURRENT").is_err());
        write(&disk, "index/CURRENT.new", b"new").unwrap();
        disk.rename("index/CURRENT.new", "index/CURRENT").unwrap();
        disk.remove("index/1.run").unwrap();
        assert!(disk.remove("index/1.run").is_err());
        assert!(disk.rename("index/2.run", "index/3.run").is_err());
        assert_eq!(text(&disk, "index/CURRENT").unwrap(), b"new");
        assert_eq!(disk.list("index").unwrap(), ["CURRENT"]);
        write(&disk, "index/1.run", b"mine").unwrap();
        assert_eq!(text(&disk, "index/1.run").unwrap(), b"mine");

        assert_eq!(text(&below, "index/CURRENT").unwrap(), b"old");
        assert_eq!(text(&below, "index/1.run").unwrap(), b"run");
        assert_eq!(below.list("index").unwrap(), ["1.run", "CURRENT"]);
    }

    #[test]
    fn a_folder_that_no_disk_has_is_not_found() {
        let disk = OverlayDisk::new(Arc::new(MemoryDisk::default()));
        let missing = disk.list("text").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert!(disk.create("text/a").is_err());
        disk.create_folder("text").unwrap();
        assert!(disk.create("text/a").is_ok());
    }
}

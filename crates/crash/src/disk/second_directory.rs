//! The second directory of a simulated disk, for backups: one log and one crash cover both.
//!
//! It only adds the folder to names.

use std::io;
use std::sync::Arc;

use grainstore::ledger::{Disk, DiskFile, Lock, OpenMode};

use crate::disk::image::BACKUP;
use crate::disk::sim_disk::SimDisk;

/// A [`Disk`] of the files below [`BACKUP`].
#[derive(Debug, Clone)]
pub(crate) struct SecondDirectory(pub(crate) SimDisk);

fn inside(name: &str) -> String {
    if name.is_empty() {
        BACKUP.to_owned()
    } else {
        format!("{BACKUP}/{name}")
    }
}

impl Disk for SecondDirectory {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        self.0.open(&inside(name), mode)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.0.create(&inside(name))
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.0.create_folder(&inside(folder))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(&inside(from), &inside(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(&inside(name))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.0.list(&inside(folder))
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.0.sync_folder(&inside(folder))
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.0.lock(&inside(name))
    }
}

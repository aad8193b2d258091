//! A bounded cache of segments that are open for reading.
//!
//! A large ledger has more segments than a process may have open files.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::ledger::segment::segment_file;
use crate::ledger::{Disk, DiskFile, Error, OpenMode};
use crate::process::RwLock;

/// The segments that were read most recently.
#[derive(Debug)]
pub(super) struct OpenSegments {
    disk: Arc<dyn Disk>,
    recent: RwLock<VecDeque<(u32, Arc<dyn DiskFile>)>>,
}

impl OpenSegments {
    pub(in crate::ledger) fn new(disk: Arc<dyn Disk>) -> Self {
        Self {
            disk,
            recent: RwLock::default(),
        }
    }

    /// Returns a segment, opened if it is not in the cache.
    pub(in crate::ledger) fn get(&self, number: u32) -> Result<Arc<dyn DiskFile>, Error> {
        let find = |recent: &VecDeque<(u32, Arc<dyn DiskFile>)>| {
            let mut recent = recent.iter();
            let found = recent.find(|(open, _)| *open == number);
            found.map(|(_, file)| Arc::clone(file))
        };
        // Readers beside each other wait for none of them.
        if let Some(file) = find(&self.recent.read()) {
            return Ok(file);
        }
        let mut recent = self.recent.write();
        if let Some(file) = find(&recent) {
            return Ok(file);
        }
        let name = segment_file::name_of(number);
        let file = segment_file::open(&*self.disk, &name, OpenMode::Read);
        let file = file.map_err(|source| Error::io("open", &name, source))?;
        recent.truncate(OPEN_MAX - 1);
        recent.push_front((number, Arc::clone(&file)));
        Ok(file)
    }

    /// Closes those that are open, since other files have their names.
    pub(super) fn forget(&self) {
        self.recent.write().clear();
    }
}

const OPEN_MAX: usize = 16;

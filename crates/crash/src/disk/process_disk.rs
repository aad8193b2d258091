//! The disk of a simulated machine as one of its processes sees it: each operation is a step of the
//! process, and locks are those of the machine.
//!
//! It can lie as a store with a fault would behave; that is how the oracle is tested.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use grainstore::ledger::{Disk, DiskFile, Lock, OpenMode};
use parking_lot::Mutex;

use crate::disk::image::is_segment;
use crate::disk::machine::{Life, Machine};
use crate::disk::sim_disk::SimDisk;

/// A fault of a store that several processes have open, as its disk would see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharedFault {
    /// The end of the ledger is published before the frames up to it are synced.
    PublishedBeforeSync,
    /// A process decides in its turn without what others wrote since it asked last.
    NoCatchUp,
    /// Two processes keep the derived files.
    TwoKeepers,
    /// A process answers from a cache that holds erased grains. Its disk knows nothing of that.
    StaleCache,
}

/// A [`Disk`] of one process.
#[derive(Debug, Clone)]
pub(crate) struct ProcessDisk {
    pub(crate) below: SimDisk,
    pub(crate) machine: Arc<Machine>,
    pub(crate) life: Life,
    pub(crate) fault: Option<SharedFault>,
    pub(crate) known: Arc<Mutex<Known>>,
}

/// The end of the ledger that a process has written itself, for the faults.
#[derive(Debug, Default)]
pub(crate) struct Known {
    published: Option<Vec<u8>>,
    segment: Option<(String, u64)>,
    unsynced: Option<Arc<dyn DiskFile>>,
}

impl ProcessDisk {
    fn step(&self) -> io::Result<()> {
        self.machine.step(self.life)
    }

    fn file(&self, name: &str, below: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(ProcessFile {
            disk: self.clone(),
            name: name.into(),
            below,
        })
    }
}

impl Disk for ProcessDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        self.step()?;
        Ok(self.file(name, self.below.open(name, mode)?))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.step()?;
        Ok(self.file(name, self.below.create(name)?))
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.step()?;
        self.below.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.step()?;
        self.below.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.step()?;
        self.below.remove(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.step()?;
        self.below.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.step()?;
        self.below.sync_folder(folder)
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.step()?;
        let is_shared = self.fault == Some(SharedFault::TwoKeepers);
        if !self.machine.lock(name, self.life, is_shared) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let held = Held {
            machine: Arc::clone(&self.machine),
            name: name.into(),
            life: self.life,
        };
        match self.below.create(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(Lock::new(held)),
        }
    }
}

#[derive(Debug)]
struct ProcessFile {
    disk: ProcessDisk,
    name: Arc<str>,
    below: Arc<dyn DiskFile>,
}

impl ProcessFile {
    fn has(&self, fault: SharedFault) -> bool {
        self.disk.fault == Some(fault)
    }

    /// Returns whether the process has its turn and forgets to look at what the others wrote.
    fn is_blind(&self) -> bool {
        let (machine, life) = (&self.disk.machine, self.disk.life);
        self.has(SharedFault::NoCatchUp) && machine.has_lock("WRITER", life)
    }
}

impl DiskFile for ProcessFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.disk.step()?;
        if self.is_blind()
            && let Some((name, len)) = &self.disk.known.lock().segment
            && **name == *self.name
        {
            return Ok(*len);
        }
        self.below.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.step()?;
        if &*self.name == END
            && self.is_blind()
            && let Some(published) = &self.disk.known.lock().published
        {
            let from = usize::try_from(offset).unwrap_or(usize::MAX);
            let known = published
                .get(from..)
                .and_then(|rest| rest.get(..buffer.len()));
            if let Some(known) = known {
                buffer.copy_from_slice(known);
                return Ok(());
            }
        }
        self.below.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.step()?;
        self.below.write_at(bytes, offset)?;
        if is_segment(&self.name) {
            let end = offset + bytes.len() as u64;
            self.disk.known.lock().segment = Some((self.name.to_string(), end));
        }
        if &*self.name == END {
            let unsynced = {
                let mut known = self.disk.known.lock();
                known.published = Some(bytes.to_vec());
                known.unsynced.take()
            };
            if let Some(file) = unsynced {
                self.disk.machine.pause(self.disk.life, SYNC);
                self.disk.step()?;
                file.sync()?;
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.step()?;
        self.below.set_len(len)
    }

    fn make_room(&self, end: u64, room_end: u64) -> io::Result<bool> {
        self.disk.step()?;
        self.below.make_room(end, room_end)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.step()?;
        if self.has(SharedFault::PublishedBeforeSync) && is_segment(&self.name) {
            self.disk.known.lock().unsynced = Some(Arc::clone(&self.below));
            return Ok(());
        }
        self.disk.machine.pause(self.disk.life, SYNC);
        self.disk.step()?;
        self.below.sync()
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.disk.step()?;
        Ok(self.disk.machine.lock(&self.name, self.disk.life, false))
    }

    fn unlock(&self) -> io::Result<()> {
        self.disk.machine.unlock(&self.name, self.disk.life);
        // Others may come first now.
        drop(self.disk.step());
        Ok(())
    }
}

/// Releases a lock when dropped.
struct Held {
    machine: Arc<Machine>,
    name: String,
    life: Life,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.machine.unlock(&self.name, self.life);
    }
}

const END: &str = "END";

/// How long a sync takes: far longer than another operation, so the others come to theirs.
const SYNC: Duration = Duration::from_millis(1);

//! The simulated disk: a `Disk` in memory that logs every change and fails where a fault says so.
//!
//! It keeps what a running system would read. `disk_state` derives from the log what is durable.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use grainstore::ledger::{Disk, DiskFile, Lock, OpenMode};
use parking_lot::Mutex;

use crate::disk::fault::{Fault, How, Side};
use crate::disk::image::{Image, folder_of, is_root};
use crate::disk::op::{FileId, Op};

/// A [`Disk`] in memory that keeps one log of everything that changes it, over all files, and fails
/// when it is told to. A clone is another handle to the same disk.
#[derive(Debug, Clone)]
pub(crate) struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    folders: BTreeSet<String>,
    names: BTreeMap<String, FileId>,
    contents: Vec<Vec<u8>>,
    locked: BTreeSet<String>,
    log: Vec<Op>,
    fault: Option<Fault>,
    /// How many operations of each side there were.
    counts: [u64; 3],
}

impl SimDisk {
    /// A disk that holds what a machine finds when it starts.
    pub(crate) fn new(image: &Image) -> Self {
        Self(Arc::new(Mutex::new(State::new(image))))
    }

    /// A disk on which `log` happened in a process that was killed: nothing more is durable than
    /// was, and all of it can be read.
    pub(crate) fn resume(image: &Image, log: &[Op]) -> Self {
        let mut state = State::new(image);
        for op in log {
            // It was possible the first time.
            drop(state.apply(op));
        }
        state.log = log.to_vec();
        Self(Arc::new(Mutex::new(state)))
    }

    /// Writes a word of the program into the log.
    pub(crate) fn say(&self, word: Op) {
        self.0.lock().log.push(word);
    }

    /// Makes operations fail from now on, counted from now; none heals the disk.
    pub(crate) fn fail(&self, fault: Option<Fault>) {
        let mut state = self.0.lock();
        state.fault = fault;
        state.counts = [0; 3];
    }

    /// Returns how many operations of a side there were since the last [`SimDisk::fail`].
    pub(crate) fn count(&self, side: Side) -> u64 {
        self.0.lock().counts[side as usize]
    }

    /// Returns the length of the log.
    pub(crate) fn operations(&self) -> usize {
        self.0.lock().log.len()
    }

    pub(crate) fn log(&self) -> Vec<Op> {
        self.0.lock().log.clone()
    }

    /// Returns what can be read now.
    pub(crate) fn image(&self) -> Image {
        let state = self.0.lock();
        let content = |file: &FileId| state.contents.get(*file).cloned().unwrap_or_default();
        let files = state.names.iter();
        Image {
            folders: state.folders.clone(),
            files: files
                .map(|(name, file)| (name.clone(), content(file)))
                .collect(),
        }
    }

    fn change(&self, op: Op) -> io::Result<()> {
        self.0.lock().change(op)
    }

    fn file(&self, file: FileId, name: &str, access: OpenMode) -> Arc<dyn DiskFile> {
        Arc::new(SimFile {
            disk: self.clone(),
            file,
            name: name.into(),
            access,
        })
    }
}

impl State {
    fn new(image: &Image) -> Self {
        let mut state = Self {
            folders: image.folders.clone(),
            ..Self::default()
        };
        for (name, bytes) in &image.files {
            state.names.insert(name.clone(), state.contents.len());
            state.contents.push(bytes.clone());
        }
        state
    }

    /// Counts an operation, and returns the fault if it is to fail.
    fn fails(&mut self, side: Side) -> Option<Fault> {
        let count = &mut self.counts[side as usize];
        let nth = *count;
        *count += 1;
        self.fault
            .filter(|fault| fault.side == side && fault.fires(nth))
    }

    fn change(&mut self, op: Op) -> io::Result<()> {
        let fault = self.fails(Side::Write);
        let fault = if self.grows(&op) {
            self.fails(Side::Growth).or(fault)
        } else {
            fault
        };
        let Some(fault) = fault else {
            self.apply(&op)?;
            self.log.push(op);
            return Ok(());
        };
        if let Some(done) = partly(op, fault.how) {
            self.apply(&done)?;
            self.log.push(done);
        }
        Err(fault.kind.into())
    }

    fn grows(&self, op: &Op) -> bool {
        let len_of = |file: &FileId| self.contents.get(*file).map_or(0, Vec::len);
        match op {
            Op::CreateFolder { .. } | Op::Create { .. } => true,
            Op::Write {
                file,
                offset,
                bytes,
                ..
            } => offset + bytes.len() > len_of(file),
            Op::SetLen { file, len, .. } => *len > len_of(file),
            _ => false,
        }
    }

    fn apply(&mut self, op: &Op) -> io::Result<()> {
        match op {
            Op::CreateFolder { folder } => {
                self.folders.insert(folder.clone());
            }
            Op::Create { name, file } => {
                self.folder(folder_of(name))?;
                if self.names.contains_key(name) {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                self.names.insert(name.clone(), *file);
                self.contents
                    .resize(self.contents.len().max(file + 1), Vec::new());
            }
            Op::Rename { from, to } => {
                self.folder(folder_of(to))?;
                let file = self.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
                self.names.insert(to.clone(), file);
            }
            Op::Remove { name } => {
                self.names.remove(name).ok_or(io::ErrorKind::NotFound)?;
            }
            Op::Write {
                file,
                offset,
                bytes,
                ..
            } => write(self.content(*file)?, *offset, bytes),
            Op::SetLen { file, len, .. } => self.content(*file)?.resize(*len, 0),
            Op::SyncFolder { folder } => self.folder(folder)?,
            Op::Sync { .. }
            | Op::SyncFailed { .. }
            | Op::Try(_)
            | Op::Ack(_)
            | Op::AckUnsynced(_)
            | Op::TryBackup(_)
            | Op::AckBackup(_) => {}
        }
        Ok(())
    }

    fn folder(&self, folder: &str) -> io::Result<()> {
        if is_root(folder) || self.folders.contains(folder) {
            Ok(())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn content(&mut self, file: FileId) -> io::Result<&mut Vec<u8>> {
        Ok(self.contents.get_mut(file).ok_or(io::ErrorKind::NotFound)?)
    }
}

/// Returns what is done of an operation that reports an error.
fn partly(op: Op, how: How) -> Option<Op> {
    match (op, how) {
        (op, How::Applied) => Some(op),
        (Op::Sync { file, name }, _) => Some(Op::SyncFailed { file, name }),
        (
            Op::Write {
                file,
                name,
                offset,
                mut bytes,
            },
            How::Half,
        ) => {
            bytes.truncate(bytes.len() / 2);
            Some(Op::Write {
                file,
                name,
                offset,
                bytes,
            })
        }
        // A directory operation is there or not.
        _ => None,
    }
}

/// Writes into bytes that grow as needed.
pub(crate) fn write(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    if let Some(place) = content.get_mut(offset..end) {
        place.copy_from_slice(bytes);
    }
}

impl Disk for SimDisk {
    fn open(&self, name: &str, access: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.0.lock();
        if let Some(fault) = state.fails(Side::Read) {
            return Err(fault.kind.into());
        }
        let file = *state.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.file(file, name, access))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.0.lock();
        let file = state.contents.len();
        state.change(Op::Create {
            name: name.into(),
            file,
        })?;
        Ok(self.file(file, name, OpenMode::Write))
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        if self.0.lock().folders.contains(folder) {
            return Ok(());
        }
        self.change(Op::CreateFolder {
            folder: folder.into(),
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(Op::Rename {
            from: from.into(),
            to: to.into(),
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.change(Op::Remove { name: name.into() })
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut state = self.0.lock();
        if let Some(fault) = state.fails(Side::Read) {
            return Err(fault.kind.into());
        }
        state.folder(folder)?;
        let names = state.names.keys().filter(|name| folder_of(name) == folder);
        let base = |name: &String| name.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(names.map(base).collect())
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.change(Op::SyncFolder {
            folder: folder.into(),
        })
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        let mut state = self.0.lock();
        if !state.locked.insert(name.into()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let held = Held {
            disk: self.clone(),
            name: name.into(),
        };
        let outcome = if state.names.contains_key(name) {
            Ok(())
        } else {
            let file = state.contents.len();
            state.change(Op::Create {
                name: name.into(),
                file,
            })
        };
        // Dropping what holds the lock takes the state.
        drop(state);
        outcome.map(|()| Lock::new(held))
    }
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    file: FileId,
    name: Arc<str>,
    access: OpenMode,
}

impl SimFile {
    fn read<T>(&self, read: impl FnOnce(&[u8]) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.disk.0.lock();
        if let Some(fault) = state.fails(Side::Read) {
            return Err(fault.kind.into());
        }
        read(state.content(self.file)?)
    }

    fn may_write(&self) -> io::Result<()> {
        match self.access {
            OpenMode::Write => Ok(()),
            OpenMode::Read => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

impl DiskFile for SimFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.read(|bytes| Ok(bytes.len() as u64))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        self.read(|bytes| {
            let found = bytes
                .get(offset..)
                .and_then(|rest| rest.get(..buffer.len()));
            buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.may_write()?;
        self.disk.change(Op::Write {
            file: self.file,
            name: Arc::clone(&self.name),
            offset: usize::try_from(offset).map_err(io::Error::other)?,
            bytes: bytes.to_vec(),
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.may_write()?;
        self.disk.change(Op::SetLen {
            file: self.file,
            name: Arc::clone(&self.name),
            len: usize::try_from(len).map_err(io::Error::other)?,
        })
    }

    /// So that a crash meets room.
    fn make_room(&self, _end: u64, room_end: u64) -> io::Result<bool> {
        self.set_len(room_end)?;
        Ok(true)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.change(Op::Sync {
            file: self.file,
            name: Arc::clone(&self.name),
        })
    }
}

/// Releases a lock when dropped.
struct Held {
    disk: SimDisk,
    name: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.disk.0.lock().locked.remove(&self.name);
    }
}

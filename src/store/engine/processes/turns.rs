//! The right to write, of several processes that have one store open: one at a time, for one commit,
//! in about the order in which they came.
//!
//! It is two file locks. A process waits for the second, `WRITER`, while it holds the first, `NEXT`:
//! one that has just written cannot come before one that waits. The system releases both when a
//! process dies.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::ledger::{self, Disk, DiskFile, Ledger, OpenMode};
use crate::store::engine::folder::{NEXT, WRITER, this_process};
use crate::store::engine::sharing::Lease;
use crate::store::{Clock, Error};

/// The lock files of one process.
pub(in crate::store::engine) struct Turns {
    writer: Arc<dyn DiskFile>,
    next: Arc<dyn DiskFile>,
    clock: Arc<dyn Clock>,
    /// Whether `WRITER` names this process.
    is_named: AtomicBool,
}

/// The right of this process to write, given back when dropped.
#[must_use = "a turn ends when it is dropped"]
pub(crate) struct Turn<'a> {
    /// That of this machine among others, given back first.
    pub(in crate::store::engine) lease: Option<Lease<'a>>,
    turns: &'a Turns,
    ledger: &'a Ledger,
}

/// How far a turn reaches, where the directory is a cache of a sequence that machines share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The files of this machine.
    Here,
    /// The same, with what other machines wrote.
    News,
    /// The same, and no other machine appends.
    Turn,
}

impl Turns {
    /// Opens the lock files, and creates them if they are missing.
    pub(in crate::store::engine) fn open(
        disk: &dyn Disk,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        Ok(Self {
            writer: open(disk, WRITER)?,
            next: open(disk, NEXT)?,
            clock: Arc::clone(clock),
            is_named: AtomicBool::new(false),
        })
    }

    /// Waits up to `wait` for the right to write. Called by one thread of a process at a time.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` names the process that has it; `ERR_STORAGE_IO`.
    pub(in crate::store::engine) fn take<'a>(
        &'a self,
        ledger: &'a Ledger,
        wait: Duration,
    ) -> Result<Turn<'a>, Error> {
        self.lock(wait)?;
        Ok(Turn {
            lease: None,
            turns: self,
            ledger,
        })
    }

    fn lock(&self, wait: Duration) -> Result<(), Error> {
        let mut waited = Duration::ZERO;
        self.wait_for(&*self.next, NEXT, wait, &mut waited)?;
        let writer = self.wait_for(&*self.writer, WRITER, wait, &mut waited);
        release(&*self.next);
        writer
    }

    /// Waits up to `wait` for the right to write before there is a ledger to write.
    ///
    /// # Errors
    /// As [`Turns::take`].
    pub(in crate::store::engine) fn alone(
        &self,
        wait: Duration,
    ) -> Result<impl Drop + use<>, Error> {
        self.lock(wait)?;
        Ok(Held(Arc::clone(&self.writer)))
    }

    /// Writes the name of this process to `WRITER`, for those that wait in vain: again where
    /// `others_wrote` since.
    pub(in crate::store::engine) fn name(&self, others_wrote: bool) {
        if self.is_named.swap(true, Ordering::Relaxed) && !others_wrote {
            return;
        }
        let line = format!("{}\n", this_process());
        let mut named = self.writer.set_len(0);
        named = named.and_then(|()| self.writer.write_at(line.as_bytes(), 0));
        if let Err(error) = named {
            tracing::debug!(%error, "the process that writes is not named");
        }
    }

    /// Checks that the lock's file was not removed or replaced, which would admit a second writer.
    pub(in crate::store::engine) fn check(&self) -> Result<(), Error> {
        if self.writer.is_in_place() {
            return Ok(());
        }
        Err(ledger::Error::LockLost {
            name: WRITER.to_owned(),
        }
        .into())
    }

    fn wait_for(
        &self,
        file: &dyn DiskFile,
        name: &str,
        wait: Duration,
        waited: &mut Duration,
    ) -> Result<(), Error> {
        let mut pause = FIRST_PAUSE;
        loop {
            let locked = file.try_lock();
            if locked.map_err(|source| ledger::Error::io("lock", name, source))? {
                return Ok(());
            }
            if *waited >= wait {
                return Err(ledger::Error::Locked {
                    holder: ledger::holder_in(&*self.writer),
                }
                .into());
            }
            self.clock.pause(pause);
            *waited = waited.saturating_add(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.lease = None;
        self.ledger.end_turn();
        release(&*self.turns.writer);
    }
}

/// The locked file `WRITER`.
struct Held(Arc<dyn DiskFile>);

impl Drop for Held {
    fn drop(&mut self) {
        release(&*self.0);
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turns")
    }
}

fn open(disk: &dyn Disk, name: &str) -> Result<Arc<dyn DiskFile>, Error> {
    let opened = match disk.open(name, OpenMode::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match disk.create(name) {
            // Another process has created it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                disk.open(name, OpenMode::Write)
            }
            created => created,
        },
        opened => opened,
    };
    Ok(opened.map_err(|source| ledger::Error::io("open", name, source))?)
}

fn release(file: &dyn DiskFile) {
    if let Err(error) = file.unlock() {
        tracing::warn!(%error, "the right to write is given back by closing its file");
    }
}

const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

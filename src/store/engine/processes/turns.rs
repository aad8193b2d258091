//! The right to write, of several processes that have one store open: one at a time, for one commit,
//! in about the order in which they came.
//!
//! It is two file locks. A process waits for the second, `WRITER`, while it holds the first, `NEXT`:
//! one that has just written cannot come before one that waits, and one that keeps the right sees that
//! another waits. The system releases both when a process dies.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::ledger::{self, Disk, DiskFile, Ledger};
use crate::process::{Mutex, ProcessId};
use crate::store::engine::folder::{NEXT, WRITER, this_process};
use crate::store::engine::sharing::Lease;
use crate::store::{Clock, Error, Options};

use super::seat::{Begun, Seat, release};

/// The order of writers, as one open store is in it.
pub(in crate::store::engine) struct Turns {
    disk: Arc<dyn Disk>,
    seat: Arc<Seat>,
    /// Whether the disk has directories, which other processes have open, too.
    is_directory: bool,
    /// That of a child that was forked since the store was opened.
    of_child: Mutex<Option<Arc<Seat>>>,
    clock: Arc<dyn Clock>,
    /// Whether `WRITER` names this process.
    is_named: AtomicBool,
}

/// The right of this process to write, given back or kept when dropped.
#[must_use = "a turn ends when it is dropped"]
pub(crate) struct Turn<'a> {
    /// That of this machine among others, given back first.
    pub(in crate::store::engine) lease: Option<Lease<'a>>,
    seat: Arc<Seat>,
    ledger: &'a Arc<Ledger>,
    kept: Option<Begun>,
    has_begun: bool,
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
        disk: &Arc<dyn Disk>,
        options: &Options,
    ) -> Result<Self, Error> {
        // Other processes have a directory alone open, and to see that they ask takes a thread.
        let is_directory = disk.file_system_path(WRITER).is_some();
        let can_keep = cfg!(unix) && is_directory && options.index.background;
        let clock = &options.clock;
        Ok(Self {
            disk: Arc::clone(disk),
            seat: Seat::open(&**disk, clock, can_keep)?,
            is_directory,
            of_child: Mutex::default(),
            clock: Arc::clone(clock),
            is_named: AtomicBool::new(false),
        })
    }

    /// Waits up to `wait` for the right of this process, `by`, to write. Called by one thread of a
    /// process at a time.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` names the process that has it; `ERR_STORAGE_IO`.
    pub(in crate::store::engine) fn take<'a>(
        &self,
        ledger: &'a Arc<Ledger>,
        wait: Duration,
        by: ProcessId,
    ) -> Result<Turn<'a>, Error> {
        let seat = self.seat_of(by)?;
        seat.of(ledger);
        let kept = seat.take();
        if kept.is_none() {
            let locked = self.lock(&seat, wait);
            let waited = locked.inspect_err(|_| seat.give_up())?;
            if !waited.is_zero() {
                seat.meet_another();
            }
        }
        Ok(Turn {
            lease: None,
            seat,
            ledger,
            kept,
            has_begun: false,
        })
    }

    /// Returns whether appends make room ahead in a turn that ends with the operation. In a directory to
    /// make and to cut it costs more than it saves; elsewhere the disk decides.
    pub(in crate::store::engine) const fn makes_room(&self) -> bool {
        !self.is_directory
    }

    /// Returns whether no other process can have written since this one did.
    pub(in crate::store::engine) fn holds(&self) -> bool {
        self.seat.holds()
    }

    /// Keeps the right where many questions look in vain at what others wrote.
    pub(in crate::store::engine) fn keep_for_questions(&self, ledger: &Ledger) {
        if self.seat.keep_for_questions(|| ledger.is_behind()) {
            self.name(true);
        }
    }

    /// Gives the right back that is kept.
    pub(in crate::store::engine) fn stop(&self) {
        self.seat.stop();
        if let Some(seat) = &*self.of_child.lock() {
            seat.stop();
        }
    }

    fn seat_of(&self, by: ProcessId) -> Result<Arc<Seat>, Error> {
        if self.seat.process == by {
            return Ok(Arc::clone(&self.seat));
        }
        let mut of_child = self.of_child.lock();
        if let Some(seat) = of_child.as_ref().filter(|seat| seat.process == by) {
            return Ok(Arc::clone(seat));
        }
        let seat = Seat::open(&*self.disk, &self.clock, self.seat.can_keep)?;
        *of_child = Some(Arc::clone(&seat));
        Ok(seat)
    }

    /// Returns for how long it waited.
    fn lock(&self, seat: &Seat, wait: Duration) -> Result<Duration, Error> {
        // One that keeps the right has to see that it is asked.
        let wait = match seat.can_keep {
            true => wait.max(SEEN_WITHIN),
            false => wait,
        };
        let mut waited = Duration::ZERO;
        self.wait_for(seat, &*seat.next, NEXT, wait, &mut waited)?;
        let writer = self.wait_for(seat, &*seat.writer, WRITER, wait, &mut waited);
        release(&*seat.next);
        writer.map(|()| waited)
    }

    /// Waits up to `wait` for the right to write before there is a ledger to write.
    ///
    /// # Errors
    /// As [`Turns::take`].
    pub(in crate::store::engine) fn alone(
        &self,
        wait: Duration,
    ) -> Result<impl Drop + use<>, Error> {
        self.seat.take();
        let locked = self.lock(&self.seat, wait);
        locked.inspect_err(|_| self.seat.give_up())?;
        Ok(Held(Arc::clone(&self.seat)))
    }

    /// Writes the name of this process to `WRITER`, for those that wait in vain: again where
    /// `others_wrote` since.
    pub(in crate::store::engine) fn name(&self, others_wrote: bool) {
        if self.is_named.swap(true, Ordering::Relaxed) && !others_wrote {
            return;
        }
        let line = format!("{}\n", this_process());
        let mut named = self.seat.writer.set_len(0);
        named = named.and_then(|()| self.seat.writer.write_at(line.as_bytes(), 0));
        if let Err(error) = named {
            tracing::debug!(%error, "the process that writes is not named");
        }
    }

    /// Checks that the lock's file was not removed or replaced, which would admit a second writer.
    pub(in crate::store::engine) fn check(&self) -> Result<(), Error> {
        if self.seat.writer.is_in_place() {
            return Ok(());
        }
        Err(ledger::Error::LockLost {
            name: WRITER.to_owned(),
        }
        .into())
    }

    fn wait_for(
        &self,
        seat: &Seat,
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
                    holder: ledger::holder_in(&*seat.writer),
                }
                .into());
            }
            self.clock.pause(pause);
            *waited = waited.saturating_add(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl Turn<'_> {
    /// Returns whether the right was kept, and how far the ledger is known, if it was.
    pub(in crate::store::engine) const fn kept(&self) -> Option<Begun> {
        self.kept
    }

    /// Notes that the ledger is as the process with the right found it or left it, so that the right may
    /// be kept; `others_wrote` since this process did.
    pub(in crate::store::engine) fn begin(&mut self, others_wrote: bool) {
        self.has_begun = true;
        if others_wrote {
            self.seat.meet_another();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.lease = None;
        self.ledger.end_turn();
        self.seat.end(self.has_begun && !self.ledger.is_halted());
    }
}

/// The right to write, without a ledger.
struct Held(Arc<Seat>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.end(false);
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turns")
    }
}

/// The least time that a process waits for one that may keep the right: many of its looks, since a busy
/// machine delays them.
const SEEN_WITHIN: Duration = Duration::from_millis(100);

const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use crate::ledger::{FileDisk, SEGMENT_BYTES, StoreId};

    use super::*;

    /// The turns of a process, and its ledger, in a folder.
    fn open(home: &tempfile::TempDir) -> (Turns, Arc<Ledger>) {
        let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(home.path()));
        let turns = Turns::open(&disk, &Options::default()).unwrap();
        let ledger = Ledger::create(disk, StoreId::new([7; 16]), SEGMENT_BYTES);
        (turns, Arc::new(ledger.unwrap()))
    }

    /// Takes turns until the right is kept.
    fn keep(turns: &Turns, ledger: &Arc<Ledger>) {
        while !turns.holds() {
            let turn = turns.take(ledger, PATIENT, ProcessId::current());
            turn.unwrap().begin(false);
        }
    }

    fn take<'a>(turns: &Turns, ledger: &'a Arc<Ledger>, by: ProcessId) -> Result<Turn<'a>, Error> {
        turns.take(ledger, Duration::ZERO, by)
    }

    #[test]
    fn a_child_that_was_forked_has_no_right_that_its_parent_keeps() {
        let home = tempfile::tempdir().unwrap();
        let (turns, ledger) = open(&home);
        keep(&turns, &ledger);
        // Asked for the right, the parent gives it back.
        let turn = turns.take(&ledger, PATIENT, ProcessId::of_child()).unwrap();
        assert_eq!(turn.kept(), None);
        assert!(!turns.holds());
        let refused = take(&turns, &ledger, ProcessId::current()).map(drop);
        assert_eq!(refused.unwrap_err().code(), "ERR_STORE_LOCKED");
        drop(turn);
        drop(take(&turns, &ledger, ProcessId::current()).unwrap());
    }

    #[test]
    fn a_right_that_another_asked_for_is_not_kept_again_at_once() {
        let home = tempfile::tempdir().unwrap();
        let (turns, ledger) = open(&home);
        keep(&turns, &ledger);
        drop(turns.take(&ledger, PATIENT, ProcessId::of_child()).unwrap());
        for _ in 0..10 {
            let turn = turns.take(&ledger, PATIENT, ProcessId::current());
            turn.unwrap().begin(false);
            assert!(!turns.holds());
        }
    }

    #[test]
    fn a_right_that_is_kept_is_given_back_without_an_operation() {
        let home = tempfile::tempdir().unwrap();
        let (turns, ledger) = open(&home);
        keep(&turns, &ledger);
        let writer = std::fs::File::open(home.path().join(WRITER)).unwrap();
        writer.lock().unwrap();
        assert!(!turns.holds());
    }

    #[test]
    fn a_turn_that_did_not_begin_is_not_kept() {
        let home = tempfile::tempdir().unwrap();
        let (turns, ledger) = open(&home);
        keep(&turns, &ledger);
        drop(take(&turns, &ledger, ProcessId::current()).unwrap());
        assert!(!turns.holds());
        let writer = std::fs::File::open(home.path().join(WRITER)).unwrap();
        assert!(writer.try_lock().is_ok());
    }

    const PATIENT: Duration = Duration::from_secs(60);
}

//! The place of one process in the order of writers: its handles of the lock files, and the right to
//! write that it keeps.
//!
//! A process that writes, or asks, again and again keeps the right from one operation to the next. No
//! other process appends meanwhile, so it takes no lock and does not look at what others wrote. It
//! gives the right back as soon as another process waits for it, and after a moment without an
//! operation. A thread that is there only meanwhile sees to both. The system releases the lock if the
//! process dies.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use crate::ledger::{self, Disk, DiskFile, Ledger, OpenMode};
use crate::process::{Condvar, Mutex, ProcessId};
use crate::store::engine::folder::{NEXT, WRITER};
use crate::store::{Clock, Error};

/// The place of a process in the order of writers.
pub(super) struct Seat {
    pub(super) writer: Arc<dyn DiskFile>,
    pub(super) next: Arc<dyn DiskFile>,
    /// Locks are of the handles. A child that was forked shares these with its parent, and would
    /// release what that one holds.
    pub(super) process: ProcessId,
    clock: Arc<dyn Clock>,
    /// Whether the right may be kept at all.
    pub(super) can_keep: bool,
    /// Its room is given back with the right.
    ledger: OnceLock<Weak<Ledger>>,
    right: Mutex<Right>,
    ended: Condvar,
    /// Whether the right is held from one operation to the next.
    is_kept: AtomicBool,
    /// Whether there was an operation since the thread looked last.
    is_used: AtomicBool,
    /// When the thread looked last. In a child that was forked it looks no more.
    looked_us: AtomicU64,
    /// The number of questions that had to look at what others wrote.
    questions: AtomicU32,
}

struct Right {
    phase: Phase,
    /// The number of the thread that watches the kept right.
    watch: u64,
    /// Until then nothing is kept, since another process was seen to write.
    not_before: Duration,
    last_turn: Option<Duration>,
}

/// Whether this process has the right to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Free,
    /// A thread waits for it or writes; `is_again` if this process wrote a moment before.
    Taken {
        is_again: bool,
    },
    /// A thread writes, and the right was kept until then.
    TakenFromKept {
        is_asked: bool,
    },
    /// Held between two operations.
    Kept {
        begun: Begun,
    },
}

/// Whether this process knows the end of the ledger: a process that died in its turn may have left
/// behind it what was never published, which the next turn has to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store::engine) enum Begun {
    Yes,
    No,
}

impl Seat {
    /// Opens the lock files, and creates them if they are missing.
    pub(super) fn open(
        disk: &dyn Disk,
        clock: &Arc<dyn Clock>,
        can_keep: bool,
    ) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self {
            writer: open(disk, WRITER)?,
            next: open(disk, NEXT)?,
            process: ProcessId::current(),
            clock: Arc::clone(clock),
            can_keep,
            ledger: OnceLock::new(),
            right: Mutex::new(Right {
                phase: Phase::Free,
                watch: 0,
                not_before: Duration::ZERO,
                last_turn: None,
            }),
            ended: Condvar::new(),
            is_kept: AtomicBool::new(false),
            is_used: AtomicBool::new(false),
            looked_us: AtomicU64::new(0),
            questions: AtomicU32::new(0),
        }))
    }

    /// Returns whether no other process can have written since this one did, and notes an operation.
    ///
    /// It costs no call to the system. A child that was forked lacks the thread that looks.
    pub(super) fn holds(&self) -> bool {
        if !self.is_kept.load(Ordering::Acquire) {
            return false;
        }
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
        let looked = self.looked_us.load(Ordering::Relaxed);
        micros(self.clock.monotonic()).saturating_sub(looked) < LOOKED_MAX_US
    }

    /// Notes the ledger that the turns of this process append to.
    pub(super) fn of(&self, ledger: &Arc<Ledger>) {
        self.ledger.get_or_init(|| Arc::downgrade(ledger));
    }

    /// Begins a turn: returns whether the right was kept; if not, the locks are the caller's to take.
    pub(super) fn take(&self) -> Option<Begun> {
        self.is_used.store(true, Ordering::Relaxed);
        let mut right = self.right.lock();
        if let Phase::Kept { begun } = right.phase {
            right.phase = Phase::TakenFromKept { is_asked: false };
            return Some(begun);
        }
        let last = right
            .last_turn
            .map(|last| self.clock.monotonic().saturating_sub(last));
        right.phase = Phase::Taken {
            is_again: last.is_some_and(|ago| ago < AGAIN_WITHIN),
        };
        None
    }

    /// Ends a turn that waited for the locks in vain.
    pub(super) fn give_up(&self) {
        self.right.lock().phase = Phase::Free;
    }

    /// Notes that another process writes too: nothing is kept for a while.
    pub(super) fn meet_another(&self) {
        if !self.can_keep {
            return;
        }
        self.right.lock().not_before = self.clock.monotonic().saturating_add(ALONE_FOR);
    }

    /// Ends a turn: the right is given back, or kept if this process wrote a moment ago, too, and no
    /// other one asks. `may_keep` says that the turn left nothing to be looked into.
    pub(super) fn end(self: &Arc<Self>, may_keep: bool) {
        if !self.can_keep {
            return self.free(&mut self.right.lock());
        }
        let now = self.clock.monotonic();
        self.is_used.store(true, Ordering::Relaxed);
        let mut right = self.right.lock();
        right.last_turn = Some(now);
        let keeps = may_keep
            && match right.phase {
                Phase::TakenFromKept { is_asked } => !is_asked,
                Phase::Taken { is_again: true } => {
                    now >= right.not_before && self.watch(&mut right)
                }
                _ => false,
            };
        match keeps {
            true => right.phase = Phase::Kept { begun: Begun::Yes },
            false => self.free(&mut right),
        }
    }

    /// Counts a question that had to look at what others wrote. Where there are many, the right is
    /// kept from now on, if no other process has it or waits for it; returns whether it is.
    /// `is_behind` looks once more.
    pub(super) fn keep_for_questions(self: &Arc<Self>, is_behind: impl Fn() -> bool) -> bool {
        let is_one_of_many = self.can_keep && {
            let nth = self.questions.fetch_add(1, Ordering::Relaxed);
            nth % QUESTIONS == QUESTIONS - 1
        };
        if !is_one_of_many {
            return false;
        }
        let Some(mut right) = self.right.try_lock() else {
            return false;
        };
        let is_free = right.phase == Phase::Free && self.clock.monotonic() >= right.not_before;
        if !is_free || self.process != ProcessId::current() {
            return false;
        }
        if !self.lock_now() {
            // One that has the right would take attempts for a wait.
            right.not_before = self.clock.monotonic().saturating_add(ALONE_FOR);
            return false;
        }
        if is_behind() || !self.watch(&mut right) {
            release(&*self.writer);
            return false;
        }
        right.phase = Phase::Kept { begun: Begun::No };
        true
    }

    /// Gives the right back that is kept, at the end of this use of the store.
    pub(super) fn stop(&self) {
        // The parent's thread may have held the lock when a child was forked.
        if self.process != ProcessId::current() {
            return;
        }
        let mut right = self.right.lock();
        if matches!(right.phase, Phase::Kept { .. }) {
            self.free(&mut right);
        }
    }

    /// Takes the locks without waiting, and not past a process that waits.
    fn lock_now(&self) -> bool {
        let has = |file: &dyn DiskFile| file.try_lock().unwrap_or(false);
        if !has(&*self.next) {
            return false;
        }
        let is_taken = has(&*self.writer);
        release(&*self.next);
        is_taken
    }

    fn free(&self, right: &mut Right) {
        // Questions look again before another process can write.
        self.is_kept.store(false, Ordering::Release);
        right.phase = Phase::Free;
        right.watch += 1;
        if let Some(ledger) = self.ledger.get().and_then(Weak::upgrade) {
            ledger.give_room_back();
        }
        release(&*self.writer);
        self.ended.notify_all();
    }

    /// Starts the thread that gives the right back; returns whether it did.
    fn watch(self: &Arc<Self>, right: &mut Right) -> bool {
        right.watch += 1;
        let (seat, number) = (Arc::clone(self), right.watch);
        self.look();
        let thread = thread::Builder::new().name("grainstore-turn".to_owned());
        if let Err(error) = thread.spawn(move || seat.give_back(number)) {
            tracing::debug!(%error, "the right to write is not kept");
            right.not_before = self.clock.monotonic().saturating_add(ALONE_FOR);
            return false;
        }
        self.is_kept.store(true, Ordering::Release);
        true
    }

    /// Gives the kept right back once another process asks, or none of this one's operations needs it.
    fn give_back(&self, number: u64) {
        let mut right = self.right.lock();
        let mut idle = 0;
        loop {
            right = self.ended.wait_for(right, LOOK_EVERY);
            if right.watch != number {
                return;
            }
            let is_asked = self.is_waited_for();
            if is_asked {
                right.not_before = self.clock.monotonic().saturating_add(ALONE_FOR);
            }
            idle = match self.is_used.swap(false, Ordering::Relaxed) {
                true => 0,
                false => idle + 1,
            };
            match &mut right.phase {
                // The turn is about to end, and gives the right back.
                Phase::TakenFromKept { is_asked: seen } if is_asked => *seen = true,
                Phase::Kept { .. } if is_asked || idle >= IDLE_LOOKS => {
                    return self.free(&mut right);
                }
                _ => {}
            }
            self.look();
        }
    }

    fn look(&self) {
        let now = micros(self.clock.monotonic());
        self.looked_us.store(now, Ordering::Relaxed);
    }

    /// Returns whether another process waits for the right: it holds `NEXT` meanwhile.
    fn is_waited_for(&self) -> bool {
        match self.next.try_lock_shared() {
            Ok(true) => {
                release(&*self.next);
                false
            }
            // Where it cannot be seen, nothing is kept.
            Ok(false) | Err(_) => true,
        }
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seat")
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

pub(super) fn release(file: &dyn DiskFile) {
    if let Err(error) = file.unlock() {
        tracing::warn!(%error, "the right to write is given back by closing its file");
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// How long another process waits until it is seen.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// After so many looks without an operation between them the right is given back.
const IDLE_LOOKS: u32 = 20;

/// A turn that begins within so long after the last one is kept: a process that writes now and then
/// starts no thread for it.
const AGAIN_WITHIN: Duration = Duration::from_millis(10);

/// For so long after another process was seen to write, nothing is kept.
const ALONE_FOR: Duration = Duration::from_secs(1);

/// A question relies on the right if the thread looked within so long.
const LOOKED_MAX_US: u64 = 10_000;

/// One in so many questions asks whether the right is free.
const QUESTIONS: u32 = 64;

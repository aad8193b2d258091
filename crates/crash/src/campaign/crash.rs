//! One crash: where the machine stops, what it leaves, and whether the store recovers from it.
//!
//! The store must open to a state that the log allows, go on writing, and open again.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::disk::disk_state::{DiskState, Mode};
use crate::disk::image::Image;
use crate::disk::op::Op;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::backups::BackupStates;
use crate::workload::oracle::Verdict;
use crate::workload::run::{Run, State};

/// The story of a machine until it stops: a log from an image on, and the states that the log
/// mentions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Story<'a> {
    pub(crate) seed: u64,
    pub(crate) start: &'a Image,
    pub(crate) log: &'a [Op],
    pub(crate) states: &'a [State],
    /// The states that are allowed while the log acknowledges nothing.
    pub(crate) at_first: &'a [usize],
    /// The states that the backup may be in while the log says nothing of it.
    pub(crate) backup_at_first: &'a BackupStates,
}

/// Where the machine stops, and what it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crash {
    /// How many operations of the log there were.
    pub(crate) at: usize,
    pub(crate) mode: Mode,
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at={} mode={}", self.at, self.mode)
    }
}

/// A change of an image before a store is opened on it: one of the seeded faults.
pub(crate) type Tamper<'a> = &'a (dyn Fn(&mut Image) + Sync);

impl Story<'_> {
    /// Returns the states that may be there after a crash, first the one that is acknowledged.
    fn allowed(&self, crash: Crash) -> Vec<usize> {
        let mut allowed = self.at_first.to_vec();
        for op in self.log.iter().take(crash.at) {
            match op {
                Op::Ack(state) => allowed = vec![*state],
                // Only the process died: what it was told is there.
                Op::AckUnsynced(state) if crash.mode == Mode::Killed => allowed = vec![*state],
                Op::Try(state) => allowed.push(*state),
                _ => {}
            }
        }
        allowed
    }

    /// Returns the states that the backup may be in after a crash.
    fn backup(&self, at: usize) -> BackupStates {
        let mut backup = self.backup_at_first.clone();
        for op in self.log.iter().take(at) {
            backup.follow(op);
        }
        backup
    }

    fn is_acknowledged(&self, at: usize) -> bool {
        let mut log = self.log.iter().take(at);
        log.any(|op| matches!(op, Op::Ack(_)))
    }

    /// Returns what a crash leaves; `disk_state` followed the log to there.
    pub(crate) fn image(&self, crash: Crash, disk_state: &DiskState) -> Image {
        let mode = Mode::EVERY.iter().position(|mode| *mode == crash.mode);
        let parts = [self.seed, 4, crash.at as u64, mode.unwrap_or(0) as u64];
        disk_state.crash(crash.mode, &mut Random::of(&parts))
    }

    /// Follows the log to a point.
    pub(crate) fn disk_state(&self, at: usize) -> DiskState {
        let mut disk_state = DiskState::new(self.start);
        for op in self.log.iter().take(at) {
            disk_state.follow(op);
        }
        disk_state
    }

    /// Opens a store on what a crash leaves and holds it to the states that may be there; then
    /// goes on writing, opens it again and holds it to that.
    ///
    /// With `second`, the recovery and what follows it crash too, at a point of their own.
    pub(crate) fn survive(
        &self,
        crash: Crash,
        disk_state: &DiskState,
        second: bool,
        tamper: Tamper<'_>,
    ) -> Verdict {
        let run = || self.recover(crash, disk_state, second, tamper);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(verdict) => verdict,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied());
                Err(format!("panic: {}", text.unwrap_or_default()))
            }
        }
    }

    fn recover(
        &self,
        crash: Crash,
        disk_state: &DiskState,
        second: bool,
        tamper: Tamper<'_>,
    ) -> Verdict {
        let is_killed = crash.mode == Mode::Killed;
        let mut image = Image::default();
        let disk = if is_killed {
            let before = self.log.get(..crash.at).unwrap_or(self.log);
            SimDisk::resume(self.start, before)
        } else {
            image = self.image(crash, disk_state);
            tamper(&mut image);
            SimDisk::new(&image)
        };
        let mut random = Random::of(&[self.seed, 5, crash.at as u64]);
        let allowed = self.allowed(crash);
        let mut states = self.states.to_vec();
        if !self.is_acknowledged(crash.at) && !self.start.files.contains_key("MANIFEST") {
            // A store that was not acknowledged may be created anew, with an id of its own.
            states.iter_mut().for_each(|state| state.head = None);
        }
        let mut run = Run::after(disk, self.seed, states, allowed.clone(), random.clone());
        let backup = self.backup(crash.at);
        run.backup = backup.clone();
        run.open()?;
        for _ in 0..STEPS_AFTER {
            run.step()?;
        }
        run.put()?;
        run.open()?;
        run.store = None;
        if !second {
            return Ok(());
        }
        let log = run.disk.log();
        let from = if is_killed { crash.at } else { 0 };
        let again = Crash {
            at: from + random.below(log.len() - from + 1),
            mode: random.pick(&Mode::EVERY).copied().unwrap_or(Mode::Torn),
        };
        let story = Story {
            start: if is_killed { self.start } else { &image },
            log: &log,
            states: &run.states,
            at_first: if is_killed { self.at_first } else { &allowed },
            backup_at_first: if is_killed {
                self.backup_at_first
            } else {
                &backup
            },
            ..*self
        };
        let disk_state = story.disk_state(again.at);
        let verdict = story.recover(again, &disk_state, false, tamper);
        verdict.map_err(|what| format!("crashed again at={} mode={}: {what}", again.at, again.mode))
    }
}

/// The change that no seeded fault makes: none.
pub(crate) fn untouched(_: &mut Image) {}

const STEPS_AFTER: usize = 2;

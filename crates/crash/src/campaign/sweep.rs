//! A sweep of failures: every operation of a workload fails in turn, in every way it can.
//!
//! After a failure nothing acknowledged may be missing, in the running store and after a crash.

use std::fmt;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::campaign::crash::{Crash, untouched};
use crate::campaign::crash_states::story;
use crate::disk::disk_state::Mode;
use crate::disk::fault::{Fault, How, Lasts, Side};
use crate::disk::image::Image;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::oracle::{Verdict, holds};
use crate::workload::run::Run;

/// Runs a workload once for each way in which each operation can fail.
///
/// ```
/// let report = grainstore_crash::Sweep { seed: 1, steps: 1, every: 16 }.run();
/// assert!(report.writes > 0 && report.failures.is_empty(), "{report}");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// The workload.
    pub seed: u64,
    /// How many things it does with its store.
    pub steps: usize,
    /// Only every so manyth operation fails: 1 for all.
    pub every: u64,
}

/// The result of a sweep.
#[derive(Debug, Clone, Default)]
pub struct SweepReport {
    /// Runs in which something that changes the disk failed.
    pub writes: u64,
    /// Runs in which there was no room for a while.
    pub full: u64,
    /// Runs in which something that reads failed.
    pub reads: u64,
    /// Crash states of these runs that a store was opened on.
    pub crashes: u64,
    /// The failures, each with the arguments that replay it.
    pub failures: Vec<String>,
}

impl Sweep {
    /// Runs it.
    pub fn run(&self) -> SweepReport {
        let mut report = SweepReport::default();
        let count = |side| self.count(side);
        for at in self.indexes(count(Side::Write)) {
            for (how, lasts, kind) in ways() {
                let side = Side::Write;
                let fault = Fault {
                    side,
                    at,
                    lasts,
                    how,
                    kind,
                };
                report.writes += 1;
                self.try_one(fault, &mut report);
            }
        }
        for at in self.indexes(count(Side::Growth)) {
            for how in [How::NotApplied, How::Half] {
                report.full += 1;
                let fault = Fault {
                    side: Side::Growth,
                    at,
                    lasts: Lasts::Operations(1 + at % 3),
                    how,
                    kind: ErrorKind::StorageFull,
                };
                self.try_one(fault, &mut report);
            }
        }
        for at in self.indexes(count(Side::Read)) {
            for lasts in [Lasts::Once, Lasts::ForEver] {
                report.reads += 1;
                let fault = Fault {
                    side: Side::Read,
                    at,
                    lasts,
                    how: How::NotApplied,
                    kind: ErrorKind::Other,
                };
                self.try_one(fault, &mut report);
            }
        }
        report
    }

    fn indexes(&self, count: u64) -> impl Iterator<Item = u64> + use<> {
        let every = usize::try_from(self.every.max(1)).unwrap_or(usize::MAX);
        (0..count).step_by(every)
    }

    /// Returns how many operations of a side the workload has when none fails.
    fn count(&self, side: Side) -> u64 {
        let mut run = Run::new(SimDisk::new(&Image::default()), self.seed);
        // Reads that only the oracle does are not the workload's.
        run.faulty = Some(Side::Read);
        drop(self.work(&mut run));
        run.disk.count(side)
    }

    fn try_one(&self, fault: Fault, report: &mut SweepReport) {
        let mut crashes = 0;
        let run = || self.fault(fault, &mut crashes);
        let verdict = catch_unwind(AssertUnwindSafe(run));
        report.crashes += crashes;
        if let Err(what) = verdict.unwrap_or_else(|_| Err("panic".into())) {
            let Self { seed, steps, .. } = self;
            report.failures.push(format!(
                "SIM seed={seed} steps={steps} fault={fault}: {what}"
            ));
        }
    }

    fn work(&self, run: &mut Run) -> Verdict {
        run.open()?;
        for _ in 0..self.steps {
            run.step()?;
        }
        Ok(())
    }

    /// Runs the workload on a disk that fails, heals the disk, and holds the store to what it said:
    /// before it is opened again, after, and after a crash.
    pub(crate) fn fault(&self, fault: Fault, crashes: &mut u64) -> Verdict {
        let disk = SimDisk::new(&Image::default());
        disk.fail(Some(fault));
        let mut run = Run::new(disk, self.seed);
        run.faulty = Some(fault.side);
        self.work(&mut run)?;
        let model = run.model();
        if let Some(store) = run.store.as_ref().filter(|_| fault.side != Side::Read) {
            holds(store, &model).map_err(|what| format!("reads do not go on: {what}"))?;
        }
        run.disk.fail(None);
        if fault.side == Side::Growth && run.store.is_some() {
            run.faulty = None;
            run.put()
                .map_err(|what| format!("there is room again: {what}"))?;
        }
        run.faulty = None;
        run.open().map_err(|what| format!("healed: {what}"))?;
        run.step()?;
        run.put()?;
        run.store = None;
        let log = run.disk.log();
        let start = Image::default();
        let story = story(self.seed, &start, &log, &run.states);
        let mut random = Random::of(&[self.seed, 7, fault.at]);
        for _ in 0..CRASHES {
            let at = random.below(log.len() + 1);
            let mode = random.pick(&Mode::EVERY).copied().unwrap_or(Mode::Torn);
            let crash = Crash { at, mode };
            *crashes += 1;
            let verdict = story.survive(crash, &story.disk_state(at), false, &untouched);
            verdict.map_err(|what| format!("then {crash}: {what}"))?;
        }
        Ok(())
    }
}

/// Every way in which something that changes the disk can fail.
pub(crate) fn ways() -> impl Iterator<Item = (How, Lasts, ErrorKind)> {
    let how = [How::NotApplied, How::Applied, How::Half].into_iter();
    how.flat_map(|how| {
        let lasts = [Lasts::Once, Lasts::ForEver].into_iter();
        lasts.flat_map(move |lasts| {
            [ErrorKind::Other, ErrorKind::StorageFull].map(|kind| (how, lasts, kind))
        })
    })
}

impl fmt::Display for SweepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} failed writes, {} full disks, {} failed reads; {} crash states after them",
            self.writes, self.full, self.reads, self.crashes
        )?;
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} failures", self.failures.len())
    }
}

const CRASHES: usize = 2;

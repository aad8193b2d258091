//! The campaign: crash states of stores with sealed persons, attacked before and after recovery.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::campaign::crash::{Crash, Story};
use crate::campaign::crash_states::{each_crash, story};
use crate::disk::disk_state::Mode;
use crate::disk::image::Image;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::oracle::Verdict;

use super::plant::Planted;
use super::recovery::allowed;
use super::workload::{Run, open, run};

/// A campaign against the erasure of persons from a store.
///
/// ```
/// let campaign = grainstore_crash::PersonErasure { states_max: 3, steps: 3, ..Default::default() };
/// let report = campaign.run();
/// assert!(report.failures.is_empty() && report.states > 0, "{report}");
/// ```
#[derive(Debug, Clone)]
pub struct PersonErasure {
    /// The first workload.
    pub seed: u64,
    /// How many things a workload does.
    pub steps: usize,
    /// No further crash after so many.
    pub states_max: u64,
    /// Of how many crash states of a workload one is visited.
    pub every: usize,
    /// A fault that the campaign must find.
    pub planted: Option<Planted>,
}

/// The result of a campaign.
#[derive(Debug, Clone, Default)]
pub struct PersonErasureReport {
    /// Workloads.
    pub workloads: u64,
    /// Crash states.
    pub states: u64,
    /// Of these, how many were crashed again while they recovered.
    pub doubles: u64,
    /// How often the files were attacked.
    pub attacks: u64,
    /// Backups of earlier that were opened beside the current vault.
    pub restores: u64,
    /// Files of earlier that were imported into what a crash left.
    pub imports: u64,
    /// Stores that were opened on a vault that had rotted.
    pub rotten: u64,
    /// Persons of whom a key or a word was found after their erasure was acknowledged.
    pub leaks: u64,
    /// The failures, leaks among them.
    pub failures: Vec<String>,
}

impl Default for PersonErasure {
    fn default() -> Self {
        Self {
            seed: 1,
            steps: 20,
            states_max: 100,
            every: 97,
            planted: None,
        }
    }
}

impl PersonErasure {
    /// Runs workloads and crashes them until there were enough states.
    pub fn run(&self) -> PersonErasureReport {
        let mut report = PersonErasureReport::default();
        let mut seed = self.seed;
        while report.states < self.states_max && report.failures.len() < self.failures_max() {
            report.workloads += 1;
            match run(seed, self.steps) {
                Ok(mut run) => {
                    if let Some(planted) = self.planted {
                        planted.apply(&mut run);
                    }
                    self.crash(&run, &mut report);
                }
                Err(what) => report.failures.push(format!("seed={seed}: {what}")),
            }
            seed += 1;
        }
        report
    }

    /// A planted fault is found once, but for the one of which a vault that is too old is the first sign.
    const fn failures_max(&self) -> usize {
        match self.planted {
            Some(Planted::RootKept | Planted::KeyFirst) => 1,
            Some(Planted::NoSwap) | None => FAILURES_MAX,
        }
    }

    fn crash(&self, run: &Run, report: &mut PersonErasureReport) {
        let start = Image::default();
        let story = story(run.seed, &start, &run.log, &[]);
        let mut nth = usize::try_from(run.seed).unwrap_or(0);
        each_crash(&story, &mut |crash, disk_state| {
            nth += 1;
            // The modes repeat every twelve states: the stride must not.
            if !nth.is_multiple_of(self.every) {
                return true;
            }
            report.states += 1;
            let visit = || match crash.mode {
                Mode::Killed => {
                    let before = run.log.get(..crash.at).unwrap_or(&run.log);
                    let disk = SimDisk::resume(&start, before);
                    Self::visit(&story, run, crash, disk, report)
                }
                _ => {
                    let image = story.image(crash, disk_state);
                    Self::visit(&story, run, crash, SimDisk::new(&image), report)
                }
            };
            let verdict = catch_unwind(AssertUnwindSafe(visit));
            let verdict = verdict.unwrap_or_else(|_| Err("panic".into()));
            if let Err(what) = verdict {
                report
                    .failures
                    .push(format!("seed={} {crash}: {what}", run.seed));
            }
            report.states < self.states_max && report.failures.len() < self.failures_max()
        });
    }

    fn visit(
        story: &Story<'_>,
        run: &Run,
        crash: Crash,
        mut disk: SimDisk,
        report: &mut PersonErasureReport,
    ) -> Verdict {
        let before = run.log.get(..crash.at).unwrap_or(&run.log);
        let allowed = allowed(before);
        let acknowledged = *allowed.first().unwrap_or(&0);
        // Before recovery: what was acknowledged is destroyed already.
        attack(run, acknowledged, &disk.image(), report)?;
        let mut random = Random::of(&[story.seed, 9, crash.at as u64]);
        if crash.mode != Mode::Killed && random.percent(30) {
            report.doubles += 1;
            let image = disk.image();
            drop(open(&disk, run.seed, 99));
            let log = disk.log();
            let again = Crash {
                at: random.below(log.len() + 1),
                ..crash
            };
            let second = Story {
                start: &image,
                log: &log,
                ..*story
            };
            let image = second.image(again, &second.disk_state(again.at));
            attack(run, acknowledged, &image, report)?;
            disk = SimDisk::new(&image);
        }
        let state = run.recover(&allowed, &disk)?;
        let image = disk.image();
        attack(run, state, &image, report)?;
        run.lacks_erased_words(state, &image)?;
        // One that is made after the crash knows of more epochs than the vault that the crash left.
        let backups = run.backups.iter();
        let backups: Vec<_> = backups.filter(|backup| backup.at <= crash.at).collect();
        if random.percent(50)
            && let Some(backup) = random.pick(&backups)
        {
            run.restore(backup, state, &image)?;
            report.restores += 1;
        }
        let exports = run.exports.iter();
        let exports: Vec<_> = exports.filter(|old| old.at <= crash.at).collect();
        if random.percent(50)
            && let Some(old) = random.pick(&exports)
        {
            run.import_old(old, state, &SimDisk::new(&image))?;
            report.imports += 1;
        }
        if random.percent(20) {
            run.rot(state, image, &mut random)?;
            report.rotten += 1;
        }
        Ok(())
    }
}

fn attack(run: &Run, state: usize, image: &Image, report: &mut PersonErasureReport) -> Verdict {
    report.attacks += 1;
    match run.attack(state, image)?.as_slice() {
        [] => Ok(()),
        leaked => {
            report.leaks += leaked.len() as u64;
            Err(format!("the attacker finds {leaked:?}"))
        }
    }
}

impl fmt::Display for PersonErasureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} crash states of {} workloads, {} crashed again, {} attacks, {} old backups restored, \
             {} older files imported, {} rotten vaults: {} keys or words of erased persons",
            self.states,
            self.workloads,
            self.doubles,
            self.attacks,
            self.restores,
            self.imports,
            self.rotten,
            self.leaks
        )?;
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} failures", self.failures.len())
    }
}

const FAILURES_MAX: usize = 10;

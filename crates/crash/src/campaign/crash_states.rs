//! A campaign of crashes: each workload is stopped after every operation, in every mode.
//!
//! Recovery is crashed too, at a point of its own. Failures name the arguments that replay them.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::campaign::crash::{Crash, Story, untouched};
use crate::disk::disk_state::Mode;
use crate::disk::image::Image;
use crate::disk::op::Op;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::backups::BackupStates;
use crate::workload::oracle::Verdict;
use crate::workload::run::{Run, State};

/// A campaign: which workloads to crash, and how often.
///
/// ```
/// use grainstore_crash::Campaign;
///
/// let campaign = Campaign { seeds: 1..2, steps: 2, second_percent: 10, ..Campaign::default() };
/// let report = campaign.run();
/// assert!(report.states > 0 && report.failures.is_empty(), "{report}");
/// ```
#[derive(Debug, Clone)]
pub struct Campaign {
    /// Each seed is a workload of its own, crashed after every operation.
    pub seeds: Range<u64>,
    /// How many things a workload does with its store.
    pub steps: usize,
    /// Of how many in a hundred crashes the recovery is crashed too.
    pub second_percent: usize,
    /// No further crash after so many.
    pub states_max: u64,
    /// How many threads.
    pub jobs: usize,
}

/// The result of a campaign.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Workloads.
    pub seeds: u64,
    /// Operations of the disk in their logs.
    pub operations: u64,
    /// Crash states a store was opened on.
    pub states: u64,
    /// Of these, how many were crashed again while they recovered or went on.
    pub doubles: u64,
    /// The failures, each with the arguments that replay it.
    pub failures: Vec<String>,
}

impl Default for Campaign {
    fn default() -> Self {
        Self {
            seeds: 1..u64::MAX,
            steps: 20,
            second_percent: 25,
            states_max: u64::MAX,
            jobs: 1,
        }
    }
}

impl Campaign {
    /// Runs the workloads and crashes them.
    pub fn run(&self) -> Report {
        let next = AtomicU64::new(self.seeds.start);
        let is_over = AtomicBool::new(false);
        let report = Mutex::new(Report::default());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if !self.seeds.contains(&seed) {
                            break;
                        }
                        let of_seed = self.seed(seed, &report);
                        let mut report = report.lock();
                        report.seeds += 1;
                        report.operations += of_seed;
                        let enough = report.states >= self.states_max;
                        if enough || report.failures.len() >= FAILURES_MAX {
                            is_over.store(true, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        report.into_inner()
    }

    /// Crashes one workload after every operation; returns how many there were.
    fn seed(&self, seed: u64, report: &Mutex<Report>) -> u64 {
        let (log, states) = match workload(seed, self.steps) {
            Ok(made) => made,
            Err(what) => {
                let failure = format!("SIM seed={seed} steps={}: {what}", self.steps);
                report.lock().failures.push(failure);
                return 0;
            }
        };
        let start = Image::default();
        let story = story(seed, &start, &log, &states);
        let operations = log.iter().filter(|op| !op.is_word()).count() as u64;
        each_crash(&story, &mut |crash, disk_state| {
            let second = self.is_second(seed, crash);
            let verdict = story.survive(crash, disk_state, second, &untouched);
            let mut report = report.lock();
            report.states += 1;
            report.doubles += u64::from(second);
            if let Err(what) = verdict {
                let steps = self.steps;
                let second = if second { "yes" } else { "no" };
                let failure =
                    format!("SIM seed={seed} steps={steps} {crash} second={second}: {what}");
                report.failures.push(failure);
            }
            report.states < self.states_max && report.failures.len() < FAILURES_MAX
        });
        operations
    }

    fn is_second(&self, seed: u64, crash: Crash) -> bool {
        let mut random = Random::of(&[seed, 6, crash.at as u64]);
        crash.mode == Mode::Killed || random.percent(self.second_percent)
    }
}

/// Replays one crash of a workload; returns what was in the log before it, and the verdict.
pub(crate) fn replay(
    seed: u64,
    steps: usize,
    crash: Crash,
    second: bool,
) -> Verdict<(Vec<Op>, Verdict)> {
    let (log, states) = workload(seed, steps)?;
    let start = Image::default();
    let story = story(seed, &start, &log, &states);
    let disk_state = story.disk_state(crash.at);
    let verdict = story.survive(crash, &disk_state, second, &untouched);
    let before = log.get(..crash.at).unwrap_or(&log).to_vec();
    Ok((before, verdict))
}

/// Tells the story of a workload on a disk that was empty.
pub(crate) fn story<'a>(
    seed: u64,
    start: &'a Image,
    log: &'a [Op],
    states: &'a [State],
) -> Story<'a> {
    Story {
        seed,
        start,
        log,
        states,
        at_first: &[0],
        backup_at_first: &NO_BACKUP,
    }
}

/// Visits every crash that can leave something of its own, until `visit` breaks off.
pub(crate) fn each_crash(
    story: &Story<'_>,
    visit: &mut dyn FnMut(Crash, &crate::disk::disk_state::DiskState) -> bool,
) {
    let mut disk_state = story.disk_state(0);
    let mut log = story.log.iter();
    for at in 0..=story.log.len() {
        let modes = if disk_state.is_settled() {
            &[Mode::Nothing][..]
        } else {
            &Mode::EVERY[..]
        };
        // That something is tried changes nothing yet.
        let last = at.checked_sub(1).and_then(|last| story.log.get(last));
        let is_try = matches!(last, Some(Op::Try(_) | Op::TryBackup(_)));
        for mode in modes {
            if !is_try && !visit(Crash { at, mode: *mode }, &disk_state) {
                return;
            }
        }
        if let Some(op) = log.next() {
            disk_state.follow(op);
        }
    }
}

/// Runs a workload on a sound disk; returns what happened on it, and the states it went through.
pub(crate) fn workload(seed: u64, steps: usize) -> Verdict<(Vec<Op>, Vec<State>)> {
    let run = worked(seed, steps, &|_| {})?;
    Ok((run.disk.log(), run.states))
}

/// Runs a workload that `prepare` may change, and closes the store.
pub(crate) fn worked(seed: u64, steps: usize, prepare: &dyn Fn(&mut Run)) -> Verdict<Run> {
    let mut run = Run::new(SimDisk::new(&Image::default()), seed);
    prepare(&mut run);
    run.open()?;
    for _ in 0..steps {
        run.step()?;
    }
    run.store = None;
    Ok(run)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} crash states, of which {} crashed again; {} workloads, {} disk operations",
            self.states, self.doubles, self.seeds, self.operations
        )?;
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} failures", self.failures.len())
    }
}

const FAILURES_MAX: usize = 10;
static NO_BACKUP: BackupStates = BackupStates::NONE;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_operations_each_time() {
        let run = |seed| {
            let (log, states) = workload(seed, 60).unwrap();
            (log.iter().map(told).collect::<Vec<_>>(), states.len())
        };
        for seed in 0..4 {
            let (first, again) = (run(seed), run(seed));
            let differs = first.0.iter().zip(&again.0).find(|(a, b)| a != b);
            assert_eq!(differs, None, "seed {seed}");
            assert_eq!((first.0.len(), first.1), (again.0.len(), again.1));
        }
        assert_ne!(run(1), run(2));
    }

    /// Returns an operation in words. The library behind the text view draws the names of its files, which
    /// others name: of those this returns the kind alone.
    fn told(op: &Op) -> String {
        let text = format!("{op:?}");
        let kind = text.split(' ').next().unwrap_or_default();
        match text.contains("\"text") {
            true => kind.to_owned(),
            false => text,
        }
    }
}

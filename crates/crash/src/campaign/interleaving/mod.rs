//! Several processes with one store on one simulated disk: their operations are interleaved by a
//! seed, and each is killed or stands still at any of them. Then the machine crashes, too.

mod history;
mod program;
mod schedule;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;

use self::schedule::{Ran, run};
use crate::disk::process_disk::SharedFault;

/// A campaign of schedules, each from its seed.
///
/// ```
/// use grainstore_crash::Interleaving;
///
/// let report = Interleaving { seeds: 0..2, ..Interleaving::default() }.run();
/// assert_eq!((report.schedules, report.failures.len()), (2, 0), "{report}");
/// ```
#[derive(Debug, Clone)]
pub struct Interleaving {
    /// Each seed is a schedule of its own.
    pub seeds: Range<u64>,
    /// How many schedules run at once.
    pub jobs: usize,
}

impl Default for Interleaving {
    fn default() -> Self {
        Self {
            seeds: 0..100,
            jobs: 2,
        }
    }
}

/// The result of a campaign of schedules.
#[derive(Debug, Clone, Default)]
pub struct InterleavingReport {
    /// Schedules.
    pub schedules: u64,
    /// Operations of the disk that changed something.
    pub operations: u64,
    /// Answers that were compared with the model.
    pub answers: u64,
    /// Processes that were killed.
    pub deaths: u64,
    /// Changes that gave up waiting for another process.
    pub refused: u64,
    /// Crashes of the machine after which the store was opened.
    pub crashes: u64,
    /// The failures, each with its seed.
    pub failures: Vec<String>,
}

impl Interleaving {
    /// Runs the schedules; ends early after several failures.
    pub fn run(&self) -> InterleavingReport {
        let next = AtomicU64::new(self.seeds.start);
        let report = Mutex::new(InterleavingReport::default());
        thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    while report.lock().failures.len() < FAILURES_MAX {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if !self.seeds.contains(&seed) {
                            break;
                        }
                        let ran = run(seed, None);
                        report.lock().add(seed, ran);
                    }
                });
            }
        });
        report.into_inner()
    }
}

impl InterleavingReport {
    fn add(&mut self, seed: u64, ran: Ran) {
        self.schedules += 1;
        self.operations += ran.operations;
        self.answers += ran.answers;
        self.deaths += ran.deaths;
        self.refused += ran.refused;
        self.crashes += ran.crashes;
        let failures = ran.failures.into_iter();
        let failures =
            failures.map(|what| format!("INTERLEAVING seeds={seed}..{}: {what}", seed + 1));
        self.failures.extend(failures);
    }
}

/// Plants each fault of a store that several processes have open, and returns its name, and the
/// number of schedules until it was found with the failure; `None` if it was not.
pub fn shared_faults(schedules_max: u64) -> Vec<(&'static str, Option<(u64, String)>)> {
    let found = |fault| {
        let mut seeds = 0..schedules_max;
        seeds.find_map(|seed| {
            let first = run(seed, Some(fault)).failures.into_iter().next();
            first.map(|what| (seed + 1, what))
        })
    };
    FAULTS.map(|(name, fault)| (name, found(fault))).into()
}

impl fmt::Display for InterleavingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} schedules: {} changes of the disk, {} answers, {} processes killed, {} changes that \
             gave up waiting, {} crashes of the machine",
            self.schedules, self.operations, self.answers, self.deaths, self.refused, self.crashes
        )?;
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} failures", self.failures.len())
    }
}

const FAULTS: [(&str, SharedFault); 4] = [
    (
        "the end is published before the sync",
        SharedFault::PublishedBeforeSync,
    ),
    ("no catching up before deciding", SharedFault::NoCatchUp),
    ("two keepers", SharedFault::TwoKeepers),
    ("a stale cache after an erasure", SharedFault::StaleCache),
];

const FAILURES_MAX: usize = 5;

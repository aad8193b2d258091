//! System calls that fail, or at which the command is killed: every n-th call of every command that
//! changes a store, by `strace -e inject`.
//!
//! After each point the store opens and checks, holds every acknowledged grain and no deleted one,
//! and the command succeeds when it is run again. A failure names its point, which replays it.

mod cases;
mod outcome;
mod points;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cases::{Case, Template};
use outcome::examine;
use points::{Point, chosen, points_of};

/// Points of a run in CI; `GRAINSTORE_POINTS` overrides it: `5000`, or `1200..5000` to go on where an
/// earlier run was stopped.
const POINTS: Range<usize> = 0..300;
/// A long run says how far it is after so many points.
const TOLD_EVERY: usize = 100;
const SEED: u64 = 15;
const JOBS: usize = 2;

#[test]
#[ignore = "needs strace"]
fn a_command_whose_system_calls_fail_loses_nothing_it_acknowledged() {
    let template = Template::new();
    let cases = Case::all(&template);
    let all: Vec<Vec<Point>> = cases
        .iter()
        .map(|case| points_of(&template, case))
        .collect();
    let total: usize = all.iter().map(Vec::len).sum();
    let range = range("GRAINSTORE_POINTS", POINTS);
    let chosen = chosen(all, range.end, SEED);
    let next = AtomicUsize::new(range.start);
    let tally = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    let Some((case, point)) = chosen.get(nth) else {
                        break;
                    };
                    let case = &cases[*case];
                    let outcome = examine(&template, case, point, nth.is_multiple_of(2));
                    let mut tally = tally.lock().unwrap();
                    tally.add(case, point, outcome);
                    if tally.points.is_multiple_of(TOLD_EVERY) {
                        println!("from {}: {tally}", range.start);
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    println!("{tally}; of {total} points");
    assert!(tally.failures.is_empty(), "{:#?}", tally.failures);
    assert_eq!(tally.points, chosen.len().saturating_sub(range.start));
}

/// The range in a variable of the environment, or what is usual.
#[expect(
    clippy::disallowed_methods,
    reason = "another length of a campaign is no reason to build it again"
)]
fn range(name: &str, usual: Range<usize>) -> Range<usize> {
    let number = |text: &str| text.parse().expect("a number");
    std::env::var(name).map_or(usual, |text| match text.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => 0..number(&text),
    })
}

/// The outcomes of the points.
#[derive(Default)]
struct Tally {
    points: usize,
    /// The command was killed, failed, or succeeded all the same.
    killed: usize,
    failed: usize,
    succeeded: usize,
    by_command: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, case: &Case, point: &Point, outcome: Result<Option<i32>, String>) {
        self.points += 1;
        *self.by_command.entry(case.name).or_default() += 1;
        match outcome {
            Ok(None) => self.killed += 1,
            Ok(Some(0)) => self.succeeded += 1,
            Ok(Some(_)) => self.failed += 1,
            Err(what) => {
                println!("{} {point}: {what}", case.name);
                self.failures.push(format!("{} {point}: {what}", case.name));
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            points,
            killed,
            failed,
            succeeded,
            ..
        } = self;
        write!(
            f,
            "{points} points: {killed} killed, {failed} failed, {succeeded} succeeded, {} faults ({})",
            self.failures.len(),
            self.by_command
                .iter()
                .map(|(name, count)| format!("{name} {count}"))
                .collect::<Vec<_>>()
                .join(", ")
        )
    }
}

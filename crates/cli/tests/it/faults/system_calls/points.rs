//! The points at which a command is disturbed: which system call, which of them, and how.
//!
//! The calls are counted on a run without disturbance. `strace` counts those of each thread.

use std::collections::BTreeMap;
use std::fmt;
use std::process::{Command, Output};

use super::cases::{Case, Template};
use super::outcome::run;

/// The system calls that change files, or say which.
const CALLS: &str = "openat,write,pwrite64,pwritev2,fsync,fdatasync,rename,renameat,renameat2,unlink,\
    unlinkat,ftruncate,mkdir,mkdirat,fallocate,linkat,flock";

/// Ways to disturb a call: `+` is this one and all after it.
const WAYS: [(&str, &str); 5] = [
    ("signal=KILL", ""),
    ("error=EIO", ""),
    ("error=ENOSPC", ""),
    ("error=EIO", "+"),
    ("error=ENOSPC", "+"),
];

/// One disturbance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Point {
    call: String,
    way: (&'static str, &'static str),
    nth: usize,
}

impl Point {
    /// Returns whether the command may be unable to write its error.
    pub(super) fn silences(&self) -> bool {
        self.call == "write"
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (way, on) = self.way;
        write!(f, "inject={}:{way}:when={}{on}", self.call, self.nth)
    }
}

/// Returns the command that runs another with its calls traced, or disturbed at a point.
pub(super) fn traced(binary: &str, point: Option<&Point>, log: &str) -> Command {
    // No point may make the command wait for ever.
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", "strace", "-f", "-qq", "-o", log]);
    match point {
        Some(point) => command.args([
            "-e",
            &format!("trace={}", point.call),
            "-e",
            &point.to_string(),
        ]),
        None => command.args(["-e", &format!("trace={CALLS}")]),
    };
    command.arg(binary);
    command
}

/// Returns every point of a command.
pub(super) fn points_of(template: &Template, case: &Case) -> Vec<Point> {
    let home = template.copy();
    let log = home.path("calls");
    let output: Output = run(&home, case, None, log.to_str().unwrap());
    assert!(output.status.success(), "{}: {output:?}", case.name);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        let mut words = line.split_whitespace();
        if let (Some(thread), Some(call)) = (words.next(), words.next())
            && let Some((call, _)) = call.split_once('(')
        {
            let key = (call.to_owned(), thread.to_owned());
            *counts.entry(key).or_default() += 1;
        }
    }
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for ((call, _), count) in counts {
        let most = most.entry(call).or_default();
        *most = count.max(*most);
    }
    let mut points = Vec::new();
    for (call, most) in most {
        for nth in 1..=most {
            points.extend(WAYS.map(|way| Point {
                call: call.clone(),
                way,
                nth,
            }));
        }
    }
    points
}

/// Chooses points as the seed says, the same number of each command as long as it has any; each with
/// the number of its command.
pub(super) fn chosen(mut all: Vec<Vec<Point>>, count: usize, seed: u64) -> Vec<(usize, Point)> {
    let mut state = seed;
    for points in &mut all {
        for last in (1..points.len()).rev() {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            let other = usize::try_from((state >> 33) % (last as u64 + 1)).unwrap();
            points.swap(last, other);
        }
    }
    let mut chosen = Vec::new();
    while chosen.len() < count && all.iter().any(|points| !points.is_empty()) {
        for (case, points) in all.iter_mut().enumerate() {
            chosen.extend(points.pop().map(|point| (case, point)));
        }
    }
    chosen.truncate(count);
    chosen
}

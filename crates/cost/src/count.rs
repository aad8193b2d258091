//! Counts instructions with valgrind's callgrind: of all threads, in processes of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Result;
use crate::fixture::Fixture;
use crate::operation::{Operation, Rounds};

/// Returns the instructions of one of each operation, as many operations at a time as there are
/// processors.
///
/// # Errors
/// An operation that fails, or valgrind missing.
pub fn count(operations: &[&Operation], folder: &Path) -> Result<Vec<u64>> {
    let next = AtomicUsize::new(0);
    let jobs = thread::available_parallelism()?.get().min(operations.len());
    let work = |job: usize| -> Result<Vec<(usize, u64)>> {
        // Stores are locked while they are open: every job has its own.
        let counter = Counter::create(folder.join(job.to_string()))?;
        let mut counted = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(operation) = operations.get(place) else {
                return Ok(counted);
            };
            counted.push((place, counter.count(operation)?));
        }
    };
    let mut counted = thread::scope(|scope| {
        let jobs: Vec<_> = (0..jobs)
            .map(|job| scope.spawn(move || work(job)))
            .collect();
        let mut counted = Vec::new();
        for job in jobs {
            counted.extend(job.join().map_err(|_| "a job panicked")??);
        }
        Result::Ok(counted)
    })?;
    counted.sort_unstable();
    Ok(counted.into_iter().map(|(_, count)| count).collect())
}

/// Works through the rounds of an operation: what a counted process does.
///
/// # Errors
/// Those of the operation.
pub fn work(operation: &Operation) -> Result<()> {
    (operation.run)(&Fixture::at(Path::new(".")), Rounds::default())
}

struct Counter {
    program: PathBuf,
    folder: PathBuf,
}

impl Counter {
    fn create(folder: PathBuf) -> Result<Self> {
        fs::create_dir(&folder)?;
        Fixture::create(&folder)?;
        Ok(Self {
            program: std::env::current_exe()?,
            folder,
        })
    }

    fn count(&self, operation: &Operation) -> Result<u64> {
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--quiet"])
            .arg("--callgrind-out-file=counts")
            .arg("--dump-before=*round_ends*")
            .arg(&self.program)
            .args([CHILD, operation.name])
            .current_dir(&self.folder)
            // The environment lies on the stack, and settles what it settles elsewhere.
            .env_clear()
            .env("RAYON_NUM_THREADS", "1")
            .stdin(Stdio::null());
        let output = command
            .output()
            .map_err(|error| format!("valgrind: {error}"))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{}: {told}", operation.name).into());
        }
        // The first is of what comes before the rounds, the second of the round that warms.
        let counts = fs::read_to_string(self.folder.join("counts.3"))?;
        let total = counts
            .lines()
            .find_map(|line| line.strip_prefix("totals: "));
        let total: u64 = total.ok_or("callgrind wrote no total")?.trim().parse()?;
        Ok(total / operation.per_round as u64)
    }
}

/// The argument that makes the program a process that is counted.
pub const CHILD: &str = "--counted";

//! One schedule: processes on one machine, interleaved by a seed; then the store is opened after
//! they have ended, and after crashes of the machine in the middle of it.

use std::sync::Arc;
use std::thread;

use grainstore::Maintenance;
use grainstore::Store;
use grainstore::ledger::{Disk, EntryId};
use parking_lot::Mutex;

use super::history::{History, told};
use super::program::{Counts, Program, World};
use crate::disk::disk_state::{DiskState, Mode};
use crate::disk::image::Image;
use crate::disk::machine::Machine;
use crate::disk::op::Op;
use crate::disk::process_disk::SharedFault;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::options::options;
use crate::workload::oracle::Verdict;

/// The outcome of one schedule.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) operations: u64,
    pub(super) answers: u64,
    pub(super) deaths: u64,
    pub(super) refused: u64,
    pub(super) crashes: u64,
    pub(super) failures: Vec<String>,
}

/// Runs the schedule of a seed.
pub(super) fn run(seed: u64, fault: Option<SharedFault>) -> Ran {
    let mut ran = Ran::default();
    if let Err(what) = run_into(&mut ran, seed, fault) {
        ran.failures.push(what);
    }
    ran
}

fn run_into(ran: &mut Ran, seed: u64, fault: Option<SharedFault>) -> Verdict {
    let mut random = Random::of(&[seed, 10]);
    let disk = SimDisk::new(&Image::default());
    let created = Store::open_on(Arc::new(disk.clone()), options(seed, 0));
    drop(created.map_err(|error| format!("does not open: {error}"))?);
    let created = disk.operations();
    let below: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut unsearched = options(seed, 1);
    unsearched.text = None;
    let reader = Store::open_on(Arc::clone(&below), unsearched.read_only());
    let reader = reader.map_err(|error| format!("the reader does not open: {error}"))?;
    let processes = 2 + random.below(3);
    let world = World {
        seed,
        disk,
        machine: Arc::new(Machine::new(seed, processes)),
        history: Mutex::new(History::new(&reader)),
        fault,
        has_text: random.percent(25),
        counts: Mutex::default(),
    };
    let has_reader = processes > 2 && random.percent(30);
    let verdicts = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for process in 0..processes {
            let (world, verdicts) = (&world, &verdicts);
            let only_reads = has_reader && process == processes - 1;
            scope.spawn(move || {
                world.machine.run(process, || {
                    let verdict = Program::new(world, process, only_reads).run(STEPS);
                    verdicts.lock().extend(verdict.err());
                });
            });
        }
    });
    let Counts {
        answers,
        deaths,
        refused,
    } = *world.counts.lock();
    (ran.answers, ran.deaths, ran.refused) = (answers, deaths, refused);
    ran.operations = world.disk.operations() as u64;
    ran.failures.extend(verdicts.into_inner());
    world.history.lock().look()?;
    if !ran.failures.is_empty() {
        return Ok(());
    }
    let len = world.history.lock().entries.len();
    let end = opens(&world, Arc::new(world.disk.clone()), len, 900);
    end.map_err(|what| format!("at the end: {what}"))?;
    if let Some(address) = world.history.lock().replaced_twice() {
        return Err(format!("{address} was replaced twice"));
    }
    crash(ran, &world, created, &mut random)
}

/// Crashes the machine at some operations after the first `created`.
fn crash(ran: &mut Ran, world: &World, created: usize, random: &mut Random) -> Verdict {
    let log = world.disk.log();
    let shown = world.history.lock().shown.clone();
    for nth in 0..CRASHES {
        let at = match random.percent(60) {
            true => random.pick(&shown).map(|(at, _)| *at),
            false => Some(created + random.below(log.len() - created + 1)),
        };
        let at = at.unwrap_or(created);
        let mode = random.pick(&Mode::EVERY).copied().unwrap_or(Mode::Nothing);
        let image = crashed(&log, at, mode, random);
        let must = shown.iter().filter(|(by, _)| *by <= at);
        let must = must.map(|(_, len)| *len).max().unwrap_or(0);
        let after: Arc<dyn Disk> = Arc::new(SimDisk::new(&image));
        opens(world, after, must, 901 + nth)
            .map_err(|what| format!("after a crash at {at} of {}, {mode}: {what}", log.len()))?;
        ran.crashes += 1;
    }
    Ok(())
}

fn crashed(log: &[Op], at: usize, mode: Mode, random: &mut Random) -> Image {
    let mut state = DiskState::new(&Image::default());
    log.iter().take(at).for_each(|op| state.follow(op));
    state.crash(mode, random)
}

/// Opens the store of a disk, and holds it to the first `must` entries of the history.
fn opens(world: &World, disk: Arc<dyn Disk>, must: usize, nth: u64) -> Verdict {
    let store = Store::open_on(disk, world.options(nth));
    let store = store.map_err(|error| format!("does not open: {}: {error}", error.code()))?;
    let maintenance = store.maintenance().map_err(|error| error.to_string())?;
    let found = maintenance.recovery_report();
    let mut rebuilt = found.index_rebuilt.iter().chain(&found.text_rebuilt);
    if let Some(reason) = rebuilt.next() {
        return Err(format!("a view was built anew: {reason}"));
    }
    let entries = told(&mut store.changes(EntryId::FIRST)).map_err(|error| error.to_string())?;
    if entries.len() < must {
        return Err(format!(
            "it has {} entries, and {must} were shown",
            entries.len()
        ));
    }
    // Recovery completes what was begun, with entries of its own.
    world.history.lock().compare(0, &entries, must)?;
    let report = store.maintenance().and_then(Maintenance::check);
    let report = report.map_err(|error| format!("check: {error}"))?;
    let mut findings = report.findings.iter();
    match findings.find(|finding| finding.id != "torn-tail") {
        Some(finding) => Err(format!("check finds {}: {}", finding.id, finding.message)),
        None => Ok(()),
    }
}

/// The steps of a process.
const STEPS: usize = 9;

/// The crashes of the machine in a schedule.
const CRASHES: u64 = 3;

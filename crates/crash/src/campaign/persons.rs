//! Crashes of the erasure of a person: after every operation of it, in every mode, the person is
//! there whole or gone from every file, and repeating the erasure ends it.

use std::ops::Range;
use std::sync::Arc;

use grainstore::store::{Authorization, ErasureScope, Person};
use grainstore::{Draft, Store};

use crate::campaign::crash_states::Report;
use crate::disk::disk_state::{DiskState, Mode};
use crate::disk::image::Image;
use crate::disk::op::Op;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::options::options;
use crate::workload::oracle::Verdict;

/// Erases a person from the store of each seed, and crashes after every operation of the erasure.
///
/// ```
/// let report = grainstore_crash::erase_persons(0..1);
/// assert!(report.states > 100 && report.failures.is_empty(), "{report}");
/// ```
pub fn erase_persons(seeds: Range<u64>) -> Report {
    let mut report = Report::default();
    for seed in seeds {
        report.seeds += 1;
        if let Err(what) = erase_one(seed, &mut report) {
            report.failures.push(format!("seed={seed}: {what}"));
        }
    }
    report
}

fn erase_one(seed: u64, report: &mut Report) -> Verdict {
    let start = Image::default();
    let disk = SimDisk::new(&start);
    let store = open(&disk, seed, 0)?;
    let mut last = None;
    for n in 0..GRAINS {
        let (user, word) = match n % 2 {
            0 => ("alice", ALICE),
            _ => ("bob", BOB),
        };
        let draft = Draft::event(format!("{word}{n}")).user(user);
        let draft = match last {
            // A version of the person's, and one of another's that is derived from it.
            Some(of) if n % 3 == 0 => draft.derived_from(of),
            _ => draft,
        };
        last = Some(store.put(draft).map_err(text)?);
    }
    let begun = disk.log().len();
    erase(&store)?;
    let acknowledged = disk.log().len();
    drop(store);
    let log = disk.log();
    let mut state = DiskState::new(&start);
    for at in 0..=log.len() {
        if at >= begun {
            for (number, mode) in (0_u64..).zip(Mode::EVERY) {
                let mut random = Random::of(&[seed, at as u64, number]);
                let image = match mode {
                    Mode::Killed => None,
                    _ => Some(state.crash(mode, &mut random)),
                };
                let after = match &image {
                    None => SimDisk::resume(&start, log.get(..at).unwrap_or(&log)),
                    Some(image) => SimDisk::new(image),
                };
                report.states += 1;
                let is_acknowledged = at >= acknowledged;
                let fault = |what| format!("at={at} mode={mode}: {what}");
                survive(&after, seed, is_acknowledged).map_err(fault)?;
                if let Some(image) = &image {
                    report.doubles += 1;
                    let again = crash_again(image, &after.log(), &mut random);
                    let survived = survive(&again, seed, is_acknowledged);
                    survived.map_err(|what| fault(format!("crashed again: {what}")))?;
                }
            }
        }
        if let Some(op) = log.get(at) {
            report.operations += u64::from(!matches!(op, Op::Try(_) | Op::Ack(_)));
            state.follow(op);
        }
    }
    Ok(())
}

/// Returns what a crash amid the recovery leaves.
fn crash_again(image: &Image, log: &[Op], random: &mut Random) -> SimDisk {
    let mut state = DiskState::new(image);
    for op in log.iter().take(random.below(log.len() + 1)) {
        state.follow(op);
    }
    let modes = Mode::EVERY.iter().filter(|mode| **mode != Mode::Killed);
    let modes: Vec<Mode> = modes.copied().collect();
    let mode = random.pick(&modes).copied().unwrap_or(Mode::Torn);
    SimDisk::new(&state.crash(mode, random))
}

fn survive(disk: &SimDisk, seed: u64, is_acknowledged: bool) -> Verdict {
    let store = open(disk, seed, 1)?;
    let left = count(&store, "alice")?;
    if left != 0 && (is_acknowledged || left != GRAINS / 2) {
        return Err(format!("{left} grains of the person are left"));
    }
    if left == 0 && holds(disk, ALICE) {
        return Err("a file holds what was erased".into());
    }
    erase(&store)?;
    if count(&store, "alice")? != 0 || holds(disk, ALICE) {
        return Err("a repeated erasure leaves something".into());
    }
    if count(&store, "bob")? != GRAINS / 2 || !holds(disk, BOB) {
        return Err("another person has lost something".into());
    }
    let maintenance = store.maintenance().map_err(text)?;
    let findings = maintenance.check().map_err(text)?.findings;
    match findings.first() {
        Some(finding) => Err(format!("{finding:?}")),
        None => Ok(()),
    }
}

fn open(disk: &SimDisk, seed: u64, nth: u64) -> Result<Store, String> {
    Store::open_on(Arc::new(disk.clone()), options(seed, nth)).map_err(text)
}

fn erase(store: &Store) -> Verdict {
    let asked = Authorization {
        reason: "request 17",
        authority: "the DPO",
    };
    let admin = store.admin().map_err(text)?;
    let erased = admin.erase_person(&Person::new("alice"), ErasureScope::default(), asked);
    erased.map(drop).map_err(text)
}

fn count(store: &Store, person: &str) -> Result<usize, String> {
    let admin = store.admin().map_err(text)?;
    let report = admin.person_report(&Person::new(person)).map_err(text)?;
    Ok(report.about.len())
}

fn holds(disk: &SimDisk, word: &str) -> bool {
    let files = disk.image().files;
    let mut files = files.values();
    files.any(|bytes| {
        bytes
            .windows(word.len())
            .any(|part| part == word.as_bytes())
    })
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`map_err` hands the error over"
)]
fn text(error: grainstore::Error) -> String {
    error.to_string()
}

const GRAINS: usize = 12;
const ALICE: &str = "swordfish";
const BOB: &str = "marmalade";

//! A backup that is interrupted: a crash after each of its operations, in every mode, and a failure
//! of each of them, in every way.
//!
//! The copy that was there before has several segments, one of which grows; meanwhile an entry was
//! erased in a segment that stays, and one in the segment that grows. Whatever happens, the copy
//! opens and is the earlier backup or the new one.

use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;

use grainstore::ledger::{Binding, EntryId, Error, Kind, Ledger, NewEntry, SEGMENT_BYTES, StoreId};

use crate::campaign::sweep::ways;
use crate::disk::disk_state::{DiskState, Mode};
use crate::disk::fault::{Fault, How, Lasts, Side};
use crate::disk::image::Image;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;

/// The result of [`backups`].
#[derive(Debug, Clone, Default)]
pub struct BackupsReport {
    /// Crash states that were opened.
    pub states: u64,
    /// Failures of an operation of the copy.
    pub faults: u64,
    /// The copies that are neither the earlier backup nor the new one.
    pub failures: Vec<String>,
}

/// Interrupts a backup after, and at, each of its operations.
///
/// # Panics
/// If the ledger cannot be written where nothing fails.
#[must_use]
pub fn backups() -> BackupsReport {
    let mut report = BackupsReport::default();
    let scene = Scene::new().expect("nothing fails");
    scene.crash(&mut report);
    scene.fail(&mut report);
    report
}

/// A ledger, and the backup of an earlier moment of it.
struct Scene {
    ledger: Ledger,
    disk: SimDisk,
    earlier: Image,
}

impl Scene {
    fn new() -> Result<Self, Error> {
        let disk = SimDisk::new(&Image::default());
        let segment_bytes = 900;
        let ledger = Ledger::create(Arc::new(disk.clone()), STORE, segment_bytes)?;
        let target = SimDisk::new(&Image::default());
        for n in 0..EARLIER {
            append(&ledger, Kind::Grain, &body(n))?;
        }
        ledger.copy_to(&target)?;
        for n in EARLIER..LATER {
            append(&ledger, Kind::Grain, &body(n))?;
        }
        let rows = ERASED.map(EntryId::new);
        append(
            &ledger,
            Kind::Erasing,
            &ERASED.map(u64::to_be_bytes).concat(),
        )?;
        ledger.redact(&rows)?;
        Ok(Self {
            ledger,
            disk,
            earlier: target.image(),
        })
    }

    fn crash(&self, report: &mut BackupsReport) {
        let target = SimDisk::new(&self.earlier);
        if let Err(error) = self.ledger.copy_to(&target) {
            report
                .failures
                .push(format!("where nothing fails: {error}"));
            return;
        }
        let log = target.log();
        let mut state = DiskState::new(&self.earlier);
        for at in 0..=log.len() {
            let (modes, seeds) = match state.is_settled() {
                true => (1, 1),
                false => (Mode::EVERY.len(), SEEDS),
            };
            for mode in Mode::EVERY.into_iter().take(modes) {
                for seed in 0..seeds {
                    let mut random = Random::of(&[seed, at as u64]);
                    let image = state.crash(mode, &mut random);
                    report.states += 1;
                    let verdict = self.is_a_backup(&image);
                    let verdict = verdict.and_then(|()| self.completes(&image));
                    if let Err(what) = verdict {
                        report
                            .failures
                            .push(format!("crash at {at}, {mode}: {what}"));
                    }
                }
            }
            if let Some(op) = log.get(at) {
                state.follow(op);
            }
        }
    }

    fn fail(&self, report: &mut BackupsReport) {
        let healthy = SimDisk::new(&self.earlier);
        healthy.fail(None);
        self.disk.fail(None);
        drop(self.ledger.copy_to(&healthy));
        let mut faults = Vec::new();
        for at in 0..healthy.count(Side::Write) {
            let of = |(how, lasts, kind)| (Side::Write, at, lasts, how, kind);
            faults.extend(ways().map(of));
        }
        for at in 0..healthy.count(Side::Growth) {
            let full = |how| {
                (
                    Side::Growth,
                    at,
                    Lasts::ForEver,
                    how,
                    ErrorKind::StorageFull,
                )
            };
            faults.extend([How::NotApplied, How::Half].map(full));
        }
        for (of_source, count) in [
            (false, healthy.count(Side::Read)),
            (true, self.disk.count(Side::Read)),
        ] {
            for at in 0..count {
                for lasts in [Lasts::Once, Lasts::ForEver] {
                    let fault = (Side::Read, at, lasts, How::NotApplied, ErrorKind::Other);
                    self.try_one(fault, of_source, report);
                }
            }
        }
        for fault in faults {
            self.try_one(fault, false, report);
        }
    }

    fn try_one(
        &self,
        (side, at, lasts, how, kind): (Side, u64, Lasts, How, ErrorKind),
        of_source: bool,
        report: &mut BackupsReport,
    ) {
        let fault = Fault {
            side,
            at,
            lasts,
            how,
            kind,
        };
        let target = SimDisk::new(&self.earlier);
        let failing = if of_source { &self.disk } else { &target };
        failing.fail(Some(fault));
        let copied = self.ledger.copy_to(&target);
        failing.fail(None);
        report.faults += 1;
        let image = target.image();
        let verdict = self.is_a_backup(&image).and_then(|()| {
            if copied.is_ok() && self.entries(&image)? != self.ledger.len() {
                return Err("it is reported as done and is not".into());
            }
            self.completes(&image)
        });
        if let Err(what) = verdict {
            let whose = if of_source { "source" } else { "copy" };
            report.failures.push(format!("{whose}: {fault}: {what}"));
        }
    }

    /// Opens a copy, and holds what it has to what was written.
    fn entries(&self, image: &Image) -> Result<u64, String> {
        let disk = Arc::new(SimDisk::new(image));
        let segment_bytes = SEGMENT_BYTES;
        let opened = Ledger::open(disk, STORE, segment_bytes, 0, None, listed);
        let (copy, torn) = opened.map_err(|error| format!("it does not open: {error}"))?;
        if torn.is_some() {
            return Err("its end is torn".into());
        }
        let is_new = copy.len() == self.ledger.len();
        for n in 0..copy.len().min(LATER) {
            match copy.read(EntryId::new(n)) {
                Ok(entry) if *entry.body == *body(n) && !(is_new && ERASED.contains(&n)) => {}
                Err(Error::Erased { .. }) if is_new && ERASED.contains(&n) => {}
                Ok(_) => return Err(format!("entry {n} is not what it was")),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(copy.len())
    }

    fn is_a_backup(&self, image: &Image) -> Result<(), String> {
        let entries = self.entries(image)?;
        match entries == EARLIER || entries == self.ledger.len() {
            true => Ok(()),
            false => Err(format!("it has {entries} entries")),
        }
    }

    /// The next backup completes it.
    fn completes(&self, image: &Image) -> Result<(), String> {
        let disk = SimDisk::new(image);
        let copied = self.ledger.copy_to(&disk);
        copied.map_err(|error| format!("the next one fails: {error}"))?;
        let image = disk.image();
        match self.entries(&image)? == self.ledger.len() {
            true if image.files.keys().all(|name| name.ends_with(".seg")) => Ok(()),
            true => Err(format!("it leaves {:?}", image.files.keys())),
            false => Err("the next one does not complete it".into()),
        }
    }
}

fn append(ledger: &Ledger, kind: Kind, body: &[u8]) -> Result<(), Error> {
    let salt = [body.last().copied().unwrap_or_default(); 16];
    let entry = NewEntry {
        kind,
        actor: None,
        body,
        binding: Binding::of(salt, body),
    };
    ledger.append(1, &[entry]).map(drop)
}

fn body(n: u64) -> Vec<u8> {
    format!("the body of entry {n}, and some more bytes").into_bytes()
}

fn listed(body: &[u8]) -> Vec<EntryId> {
    let (rows, _) = body.as_chunks();
    rows.iter()
        .map(|row| EntryId::new(u64::from_be_bytes(*row)))
        .collect()
}

impl fmt::Display for BackupsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} crash states and {} failed operations of a backup",
            self.states, self.faults
        )?;
        for failure in self.failures.iter().take(20) {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} failures", self.failures.len())
    }
}

const STORE: StoreId = StoreId::new([7; 16]);
/// Entries at the earlier backup, and grains at the new one.
const EARLIER: u64 = 10;
const LATER: u64 = 22;
/// One in a segment that is whole in the earlier backup, one in the segment that grows.
const ERASED: [u64; 2] = [2, EARLIER - 1];
const SEEDS: u64 = 2;

//! Recover: one byte of a store is flipped, or a file cut, and the store is recovered from it.
//!
//! All grains but the one whose own entry was hit must come out, none wrong and none erased, with
//! their statuses unless a record was hit; what is lost must be named with the bytes that were hit;
//! and the new store must be sound.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use grainstore::grain::Status;
use grainstore::ledger::MemoryDisk;
use grainstore::store::{Authorization, Options, Recovered, Severity};
use grainstore::{ContentAddress, Draft, Store};

use crate::disk::image::{Image, is_segment};
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::options::options;
use crate::workload::oracle::Verdict;

/// The outcome of recovering from damage, one piece at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recoveries {
    /// The number of bytes that were flipped, one at a time.
    pub flips: u64,
    /// The number of files that were cut, one at a time.
    pub cuts: u64,
    /// The number of grains in the store.
    pub grains: u64,
    /// The number of grains that did not come out, over all.
    pub lost: u64,
    /// Grains that should have come out, wrong ones, and parts that are not named.
    pub failures: Vec<String>,
}

/// Makes a store of `grains` grains, flips `flips` of its bytes and cuts its files at `cuts` places, one
/// at a time, over all files, and recovers it each time.
///
/// # Errors
/// An error of the store while it was sound.
pub fn recoveries(seed: u64, grains: u64, flips: u64, cuts: u64) -> Verdict<Recoveries> {
    let sound = Sound::make(seed, grains).map_err(|error| error.to_string())?;
    let mut report = Recoveries {
        grains: sound.status.len() as u64,
        ..Recoveries::default()
    };
    // Without damage everything comes out.
    let whole = sound.recovered(&sound.image, &Damage::none())?;
    if whole != 0 {
        return Err(format!("{whole} grains of a sound store did not come out"));
    }
    let mut random = Random::of(&[seed, 21]);
    let files: Vec<(&String, u64)> = sound
        .image
        .files
        .iter()
        .map(|(name, bytes)| (name, bytes.len() as u64))
        .filter(|(_, len)| *len > 0)
        .collect();
    for nth in 0..flips + cuts {
        // Every file as often as another, and the ledger for the rest: most of the bytes are there.
        let is_ledger = !nth.is_multiple_of(4);
        let some: Vec<_> = files
            .iter()
            .filter(|(name, _)| !is_ledger || is_segment(name))
            .collect();
        let Some((name, len)) = random.pick(&some) else {
            continue;
        };
        let at = random.next() % len;
        let mut image = sound.image.clone();
        let bytes = image.files.get_mut(*name);
        let place = usize::try_from(at).unwrap_or_default();
        let is_cut = nth >= flips;
        if let Some(bytes) = bytes {
            if is_cut {
                bytes.truncate(place);
            } else if let Some(byte) = bytes.get_mut(place) {
                *byte ^= u8::try_from(random.next() % 255).unwrap_or_default() + 1;
            }
        }
        let damage = Damage {
            file: (*name).clone(),
            at,
            is_cut,
        };
        *(if is_cut {
            &mut report.cuts
        } else {
            &mut report.flips
        }) += 1;
        let outcome = catch_unwind(AssertUnwindSafe(|| sound.recovered(&image, &damage)));
        match outcome.unwrap_or_else(|_| Err("panic".into())) {
            Ok(lost) => report.lost += lost,
            Err(what) => report.failures.push(format!("{damage}: {what}")),
        }
    }
    Ok(report)
}

/// The damage that was done to one file.
struct Damage {
    file: String,
    at: u64,
    is_cut: bool,
}

impl Damage {
    const fn none() -> Self {
        Self {
            file: String::new(),
            at: 0,
            is_cut: false,
        }
    }

    /// Returns whether it hits some bytes of a file.
    fn hits(&self, file: &str, bytes: &std::ops::Range<u64>) -> bool {
        self.file == file
            && match self.is_cut {
                true => bytes.end > self.at,
                false => bytes.contains(&self.at),
            }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_cut { "cut" } else { "flip" };
        write!(f, "{what} file={} at={}", self.file, self.at)
    }
}

/// A sound store, and all that it says.
struct Sound {
    image: Image,
    /// Where each entry lies: the file, and the bytes in it.
    entries: Vec<(String, std::ops::Range<u64>)>,
    /// The entry of each grain, with its blob and its status.
    status: BTreeMap<ContentAddress, (Vec<u8>, Status)>,
    erased: BTreeSet<ContentAddress>,
    seed: u64,
}

impl Sound {
    fn make(seed: u64, grains: u64) -> Result<Self, grainstore::Error> {
        let disk = SimDisk::new(&Image::default());
        let store = Store::open_on(Arc::new(disk.clone()), few_files(seed, 1))?;
        let mut addresses = Vec::new();
        let draft = |n: u64| {
            let text = format!("entry {n} of {seed} {}", "tea ".repeat((n % 23) as usize));
            Draft::event(text).user(format!("user-{}", n % 7))
        };
        let agent = store.as_actor(
            &"did:web:agent.example"
                .parse()
                .map_err(grainstore::Error::from)?,
        );
        let asked = Authorization {
            reason: "a campaign",
            authority: "did:web:example.org",
        };
        let mut n = 0;
        while n < grains {
            match n % 40 {
                // A batch in one frame, and the single puts of most programs.
                0 => {
                    let stored = store.put_batch((n..n + 8).map(draft))?;
                    addresses.extend(stored.iter().map(|put| put.address));
                    n += 8;
                    continue;
                }
                11 => addresses.push(agent.put(draft(n))?),
                19 => {
                    if let Some(old) = addresses.get(addresses.len() / 2) {
                        let new = draft(n).derived_from(*old);
                        // One under a hold stays.
                        addresses.extend(store.supersede(&old.clone(), new, None).ok());
                    }
                }
                29 => {
                    addresses.push(store.put(draft(n))?);
                    if let Some(held) = addresses.last() {
                        store.admin()?.place_hold(held, asked)?;
                    }
                }
                _ => addresses.push(store.put(draft(n))?),
            }
            n += 1;
        }
        let mut erased = BTreeSet::new();
        for address in addresses.iter().skip(3).step_by(97) {
            if store.admin()?.delete(address, asked).is_ok() {
                erased.insert(*address);
            }
        }
        store.maintenance()?.sync()?;
        let mut status = BTreeMap::new();
        for address in addresses.iter().filter(|address| !erased.contains(address)) {
            if let Some(grain) = store.get(address)? {
                let found = (grain.blob().to_vec(), store.status(address)?);
                status.insert(*address, found);
            }
        }
        drop(store);
        let image = disk.image();
        Ok(Self {
            entries: entries(&image),
            image,
            status,
            erased,
            seed,
        })
    }

    /// Recovers a damaged store, and returns the number of grains that did not come out.
    fn recovered(&self, image: &Image, damage: &Damage) -> Verdict<u64> {
        let told = |error: grainstore::Error| format!("{}: {error}", error.code());
        let from = Arc::new(SimDisk::new(image));
        let to = Arc::new(MemoryDisk::default());
        let recovered = grainstore::recovery::recover_on(from, to, few_files(self.seed, 2));
        let (store, recovered) = recovered.map_err(&told)?;
        let hit: BTreeSet<usize> = (0..self.entries.len())
            .filter(|row| {
                let (file, bytes) = &self.entries[*row];
                damage.hits(file, bytes)
            })
            .collect();
        // Where the entry that lists them is lost, blank entries count as lost, too.
        let may_be_lost = match hit.is_empty() {
            true => 0,
            false => (hit.len() + self.erased.len()) as u64,
        };
        if recovered.lost_entries() > may_be_lost {
            return Err(format!(
                "{} entries are lost, {} were hit: {:?}",
                recovered.lost_entries(),
                hit.len(),
                recovered.lost
            ));
        }
        let mut lost = 0;
        for (address, (blob, status)) in &self.status {
            match store.get(address).map_err(&told)? {
                None => lost += 1,
                Some(grain) if grain.blob() != blob.as_slice() => {
                    return Err(format!("{address} is another grain"));
                }
                Some(_) => {
                    let found = store.status(address).map_err(&told)?;
                    if found != *status && hit.is_empty() {
                        return Err(format!("{address} is {found:?}, not {status:?}"));
                    }
                }
            }
        }
        if lost > hit.len() as u64 {
            return Err(format!("{lost} grains are lost, {} were hit", hit.len()));
        }
        if recovered.grains + lost != self.status.len() as u64 {
            return Err(format!("{} grains came out", recovered.grains));
        }
        for address in &self.erased {
            if store.exists(address).map_err(&told)? {
                return Err(format!("{address} was erased, and is back"));
            }
        }
        self.is_told(&recovered, damage)?;
        let maintenance = store.maintenance().map_err(&told)?;
        let report = maintenance.check().map_err(&told)?;
        let mut findings = report.findings.iter();
        match findings.find(|finding| finding.severity == Severity::Damage) {
            Some(finding) => Err(format!(
                "the new store: {}: {}",
                finding.id, finding.message
            )),
            None => Ok(lost),
        }
    }

    /// Holds the report to the damage: what was hit in the ledger is named.
    fn is_told(&self, recovered: &Recovered, damage: &Damage) -> Verdict {
        let bytes = self.image.files.get(&damage.file);
        let len = bytes.map_or(0, Vec::len) as u64;
        if !is_segment(&damage.file) || (damage.is_cut && damage.at == len) {
            return Ok(());
        }
        let mut lost = recovered.lost.iter();
        let is_named = lost.any(|lost| {
            let is_in_header = self.is_in_header(damage) && lost.bytes.start <= damage.at;
            lost.file == damage.file && (lost.bytes.contains(&damage.at) || is_in_header)
        });
        // A cut between two frames leaves nothing behind it, and END then says what is missing.
        if is_named || damage.is_cut || self.is_erased(damage) {
            return Ok(());
        }
        Err(format!("nothing names it: {:?}", recovered.lost))
    }

    /// Returns whether the damage is in the header of an entry, which the header of the frame proves:
    /// that frame is named.
    fn is_in_header(&self, damage: &Damage) -> bool {
        let mut hit = self.entries.iter();
        let hit = hit.find(|(file, bytes)| damage.hits(file, bytes));
        hit.is_some_and(|(_, bytes)| damage.at < bytes.start + 64)
    }

    /// Returns whether the damage is in the blank bytes of an erased entry, which say nothing.
    fn is_erased(&self, damage: &Damage) -> bool {
        let mut hit = self.entries.iter();
        let hit = hit.find(|(file, bytes)| damage.hits(file, bytes));
        hit.is_some_and(|(file, bytes)| {
            let range = usize::try_from(bytes.start + 64).unwrap_or_default()
                ..usize::try_from(bytes.end).unwrap_or_default();
            let content = self.image.files.get(file).and_then(|all| all.get(range));
            damage.at >= bytes.start + 64
                && content.is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0))
        })
    }
}

/// Returns where each entry lies (docs/format.md, "Ledger").
fn entries(image: &Image) -> Vec<(String, std::ops::Range<u64>)> {
    let mut entries = Vec::new();
    let segments = image.files.iter().filter(|(name, _)| is_segment(name));
    for (name, bytes) in segments {
        let number = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map_or(0, u32::from_be_bytes) as usize
        };
        let mut at = 32;
        while at < bytes.len() {
            let count = number(at + 4);
            at += 32;
            for _ in 0..count {
                let end = at + 80 + number(at + 24);
                entries.push((name.clone(), at as u64..end as u64));
                at = end;
            }
        }
    }
    entries
}

/// The options of the campaign: several segments, and nothing derived that recovering does not read.
fn few_files(seed: u64, nth: u64) -> Options {
    Options {
        segment_bytes: 16 << 10,
        text: None,
        ..options(seed, nth)
    }
}

impl fmt::Display for Recoveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in self.failures.iter().take(10) {
            writeln!(f, "RECOVER {failure}")?;
        }
        write!(
            f,
            "{} flipped bytes and {} cuts of a store of {} grains: {} grains lost with their own bytes, \
             {} failures",
            self.flips,
            self.cuts,
            self.grains,
            self.lost,
            self.failures.len()
        )
    }
}

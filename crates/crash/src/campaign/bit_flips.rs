//! Bit flips: every bit of a small store is flipped, one at a time, and the store is opened and
//! checked.
//!
//! A flip must be refused at opening, reported by `check`, or repaired by building a derived file
//! anew; else the store must answer as before, and the bit is listed as unreferenced.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use grainstore::{ErrorCode, Store};

use crate::campaign::crash_states::worked;
use crate::disk::image::{Image, folder_of};
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::model::Model;
use crate::workload::options::options;
use crate::workload::oracle::{Verdict, agrees, finds};

/// The outcome of the flips in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileBitFlips {
    /// The number of bits that were flipped, one at a time.
    pub bits: u64,
    /// Opening fails with an error of damage.
    pub refused: u64,
    /// The store opens, and `check` reports the damage.
    pub reported: u64,
    /// Opening detected the damage and built a derived file anew.
    pub rebuilt: u64,
    /// The bits that nothing reads: the store answers as before.
    pub unreferenced: Vec<u64>,
    /// Wrong answers that nothing reported.
    pub failures: Vec<String>,
}

/// The outcome of the flips in a store, by file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BitFlips {
    /// The files.
    pub files: BTreeMap<String, FileBitFlips>,
}

/// Makes a small store in an empty folder, and flips one in `every` of its bits, one at a time.
///
/// # Errors
/// An error of the file system, or of the store while it was sound.
pub fn bit_flips(folder: &Path, seed: u64, every: u64) -> Result<BitFlips, String> {
    let run = worked(seed, STEPS, &|_| {})?;
    let model = run.model();
    let folder = folder.join("small.grains");
    write(&folder, &run.disk.image().without_backup()).map_err(|error| error.to_string())?;
    let store = Store::open(&folder, options(seed, 1)).map_err(|error| error.to_string())?;
    store
        .maintenance()
        .and_then(grainstore::Maintenance::flush_text)
        .map_err(|error| error.to_string())?;
    agrees(&store, &model)?;
    drop(store);
    let sound = read(&folder).map_err(|error| error.to_string())?;
    let mut random = Random::of(&[seed, 10]);
    let mut flips = BitFlips::default();
    for (name, bytes) in &sound.files {
        let of_file = flips.files.entry(name.clone()).or_default();
        for bit in 0..bytes.len() as u64 * 8 {
            if every > 1 && !random.next().is_multiple_of(every) {
                continue;
            }
            let mut image = sound.clone();
            flip(&mut image, name, bit);
            let place = (folder_of(name) == TEXT).then_some(&*folder);
            let outcome = if place.is_some() {
                write(&folder, &image).map_err(|error| error.to_string())?;
                catch_unwind(AssertUnwindSafe(|| judge(place, &image, seed, &model)))
            } else {
                image.files.retain(|name, _| folder_of(name) != TEXT);
                catch_unwind(AssertUnwindSafe(|| judge(None, &image, seed, &model)))
            };
            of_file.bits += 1;
            match outcome.unwrap_or_else(|_| Err("panic".into())) {
                Ok(Outcome::Refused) => of_file.refused += 1,
                Ok(Outcome::Reported) => of_file.reported += 1,
                Ok(Outcome::Rebuilt) => of_file.rebuilt += 1,
                Ok(Outcome::Unreferenced) => of_file.unreferenced.push(bit),
                Err(what) => of_file.failures.push(format!("bit {bit}: {what}")),
            }
        }
    }
    Ok(flips)
}

enum Outcome {
    Refused,
    Reported,
    Rebuilt,
    Unreferenced,
}

/// Opens the store in a folder, or on a simulated disk.
fn judge(folder: Option<&Path>, image: &Image, seed: u64, model: &Model) -> Verdict<Outcome> {
    let options = options(seed, 2);
    let store = match folder {
        Some(folder) => Store::open(folder, options),
        None => Store::open_on(Arc::new(SimDisk::new(image)), options),
    };
    let store = match store {
        Ok(store) => store,
        Err(error) if DAMAGE.contains(&error.code()) => return Ok(Outcome::Refused),
        Err(error) => return Err(format!("does not open: {}: {error}", error.code())),
    };
    let maintenance = store.maintenance().map_err(|error| error.to_string())?;
    let report = maintenance.check().map_err(|error| error.to_string())?;
    if !report.findings.is_empty() {
        return Ok(Outcome::Reported);
    }
    agrees(&store, model)?;
    finds(&store, model)?;
    let opened = maintenance.recovery_report();
    let is_mended = opened.manifest_repaired.is_some();
    if is_mended || opened.index_rebuilt.is_some() || opened.text_rebuilt.is_some() {
        return Ok(Outcome::Rebuilt);
    }
    Ok(Outcome::Unreferenced)
}

fn flip(image: &mut Image, name: &str, bit: u64) {
    let at = usize::try_from(bit / 8).unwrap_or(usize::MAX);
    let byte = image
        .files
        .get_mut(name)
        .and_then(|bytes| bytes.get_mut(at));
    if let Some(byte) = byte {
        *byte ^= 1 << (bit % 8);
    }
}

/// Makes a folder hold an image and nothing else.
pub(super) fn write(folder: &Path, image: &Image) -> io::Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    for inner in &image.folders {
        std::fs::create_dir_all(folder.join(inner))?;
    }
    for (name, bytes) in &image.files {
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

/// Reads a folder and the folders in it.
pub(super) fn read(folder: &Path) -> io::Result<Image> {
    let mut image = Image::default();
    let mut pending = vec![String::new()];
    while let Some(inner) = pending.pop() {
        for item in std::fs::read_dir(folder.join(&inner))? {
            let item = item?;
            let name = item.file_name().to_string_lossy().into_owned();
            let name = if inner.is_empty() {
                name
            } else {
                format!("{inner}/{name}")
            };
            if item.file_type()?.is_dir() {
                image.folders.insert(name.clone());
                pending.push(name);
            } else {
                image.files.insert(name, std::fs::read(item.path())?);
            }
        }
    }
    Ok(image)
}

impl FileBitFlips {
    /// Returns the bytes that nothing reads, as ranges of their first and last.
    pub fn unreferenced_bytes(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for byte in self.unreferenced.iter().map(|bit| bit / 8) {
            match ranges.last_mut() {
                Some((_, last)) if byte <= *last + 1 => *last = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        ranges
    }
}

impl fmt::Display for BitFlips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut total = [0; 5];
        for (name, of) in &self.files {
            let silent = of.unreferenced.len() as u64;
            writeln!(
                f,
                "{name}: {} bits: {} refused, {} reported, {} rebuilt, {silent} unreferenced",
                of.bits, of.refused, of.reported, of.rebuilt
            )?;
            let ranges = of.unreferenced_bytes();
            if !ranges.is_empty() {
                let ranges: Vec<_> = ranges.iter().map(|(a, b)| format!("{a}-{b}")).collect();
                writeln!(f, "    unreferenced bytes: {}", ranges.join(" "))?;
            }
            for failure in of.failures.iter().take(5) {
                writeln!(f, "    FLIP seed=1 file={name} {failure}")?;
            }
            let counts = [
                of.bits,
                of.refused,
                of.reported + of.rebuilt,
                silent,
                of.failures.len() as u64,
            ];
            total
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        }
        let [bits, refused, reported, silent, failures] = total;
        write!(
            f,
            "{bits} bits: {refused} refused, {reported} reported, {silent} unreferenced, \
             {failures} failures"
        )
    }
}

const TEXT: &str = "text";
const DAMAGE: [ErrorCode; 3] = [
    ErrorCode::StorageDamaged,
    ErrorCode::StoreVersion,
    ErrorCode::NotAStore,
];
const STEPS: usize = 6;

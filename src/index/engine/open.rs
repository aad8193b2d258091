//! Opening an index: loads the version that `CURRENT` names, or starts an empty one.
//!
//! An index in doubt is deleted, not repaired. Files that no version names are deleted too.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::ledger::{Disk, EntryLocation, LedgerPosition, StoreId};

use super::current::{self, CurrentFile};
use super::shared::{Engine, Maintenance};
use crate::index::key::encoding::{Key, Single};
use crate::index::run::{self, FOLDER, OpenFault, Run, Stream};
use crate::index::{Addresses, Error, Family, IndexOptions, TermKey};
use crate::process::map_in_parallel;

/// The result of opening an index.
#[derive(Debug, Default)]
pub struct IndexRecovery {
    /// The position in the ledger up to which the index covers everything.
    pub position: Option<LedgerPosition>,
    /// The locations of the entries before [`position`](Self::position); empty without a position.
    pub locations: Vec<EntryLocation>,
    /// The location of the last entry in a run, if it lies behind the position: the ledger must have
    /// that entry there, or the index is of another.
    pub last: Option<EntryLocation>,
    /// The reason why the index has to be built anew.
    pub rebuilt: Option<String>,
}

/// The reason why the files of an index are not used.
struct Refusal(String);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        })
    }
}

/// Opens the version on disk, or an empty index in its place. Files that cannot be read lead to a
/// rebuild as damaged ones do: they are derived, and must not keep a store from opening.
pub(in crate::index) fn open(
    disk: &Arc<dyn Disk>,
    store_id: StoreId,
    terms: TermKey,
    options: IndexOptions,
) -> (Engine, IndexRecovery) {
    let found = make_folder(&**disk).and_then(|()| numbers(&**disk));
    let last = found.as_ref().ok().and_then(|found| found.iter().max());
    // Numbers of removed files are not reused: a crash can undo a removal, and the old file must
    // not take the place of a new one.
    let next = last.map_or(1, |number| number.saturating_add(1));
    let engine = Engine::new(Arc::clone(disk), store_id, terms, options, next);
    let loaded = found.map_err(Refusal::from).and_then(|found| {
        let opened = load(&engine)?;
        Ok((found, opened))
    });
    match loaded {
        Ok((found, opened)) => {
            remove_unnamed(&engine, found);
            (engine, opened)
        }
        Err(Refusal(reason)) => {
            tracing::warn!(%reason, "the index is built anew from the ledger");
            engine.update(|version| *version = super::version::Version::default());
            if let Some(map) = &engine.map {
                map.clear();
            }
            let mut maintenance = engine.maintenance.lock();
            maintenance.is_detached = true;
            if let Err(error) = attach(&engine, &mut maintenance) {
                tracing::warn!(%error, "the index stays in memory");
            }
            drop(maintenance);
            let opened = IndexRecovery {
                rebuilt: Some(reason),
                ..IndexRecovery::default()
            };
            (engine, opened)
        }
    }
}

/// Removes the files of an earlier index, if that failed before. Nothing is written before, since
/// the next opening would take those files for the index.
///
/// # Errors
/// `ERR_STORAGE_IO`.
pub(super) fn attach(engine: &Engine, maintenance: &mut Maintenance) -> Result<(), Error> {
    if !maintenance.is_detached {
        return Ok(());
    }
    make_folder(&*engine.disk)?;
    let last = numbers(&*engine.disk)?.into_iter().max();
    let next = last.map_or(1, |number| number.saturating_add(1));
    maintenance.next = maintenance.next.max(next);
    remove_all(&*engine.disk)?;
    maintenance.is_detached = false;
    Ok(())
}

/// Removes the files that the version does not name. One that stays only wastes space.
fn remove_unnamed(engine: &Engine, found: Vec<u64>) {
    let disk = &*engine.disk;
    let named = engine.version();
    let is_named = |number: &u64| named.runs.iter().any(|run| run.number == *number);
    let unnamed: Vec<u64> = found
        .into_iter()
        .filter(|number| !is_named(number))
        .collect();
    // A process that was killed may have renamed CURRENT without a sync of its folder. A power cut
    // would then restore the previous version, which names the files removed here.
    if !unnamed.is_empty()
        && let Err(error) = disk.sync_folder(FOLDER)
    {
        tracing::warn!(%error, "files of the index that are not used stay");
        return;
    }
    for number in unnamed {
        forget(disk, &run::name_of(number));
    }
    forget(disk, current::TEMPORARY);
}

fn make_folder(disk: &dyn Disk) -> Result<(), Error> {
    match disk.list(FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = disk.create_folder(FOLDER);
            made.map_err(Error::io("create", FOLDER))?;
            disk.sync_folder("").map_err(Error::io("sync", FOLDER))
        }
        listed => listed.map(drop).map_err(Error::io("list", FOLDER)),
    }
}

/// Removes the version, then its files.
fn remove_all(disk: &dyn Disk) -> Result<(), Error> {
    match disk.remove(current::NAME) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io("remove", current::NAME)(error));
        }
        _ => {}
    }
    disk.sync_folder(FOLDER)
        .map_err(Error::io("sync", FOLDER))?;
    for number in numbers(disk)? {
        forget(disk, &run::name_of(number));
    }
    Ok(())
}

/// Removes a file that no version names. One that cannot be removed only wastes space.
fn forget(disk: &dyn Disk, name: &str) {
    match disk.remove(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, name, "a file of the index that is not used stays");
        }
        _ => {}
    }
}

fn numbers(disk: &dyn Disk) -> Result<Vec<u64>, Error> {
    let names = disk.list(FOLDER).map_err(Error::io("list", FOLDER))?;
    Ok(names
        .iter()
        .filter_map(|name| run::number_of(name))
        .collect())
}

fn load(engine: &Engine) -> Result<IndexRecovery, Refusal> {
    let version = CurrentFile::read(&*engine.disk, &engine.store_id);
    let version = version.map_err(Error::io("read", current::NAME))?;
    let version = version.map_err(|reason| Refusal(reason.into()))?;
    let Some(version) = version else {
        return Ok(IndexRecovery::default());
    };
    let mut runs = Vec::with_capacity(version.runs.len());
    let mut end = 0;
    for named in &version.runs {
        let doubt = |reason| Refusal(format!("{} {reason}", run::name_of(named.number)));
        let opened = Run::open(&engine.disk, &engine.store_id, named.number);
        let mut run = opened.map_err(|fault| match fault {
            OpenFault::Damaged(reason) => doubt(reason),
            OpenFault::Io(_) => fault.into_error(named.number).into(),
        })?;
        if run.check != named.check || run.rows.start != end {
            return Err(doubt("is not the one that CURRENT names"));
        }
        end = run.rows.end;
        if engine.options.addresses == Addresses::Filters {
            run.load_filter()?;
        }
        runs.push(Arc::new(run));
    }
    if end != version.watermark {
        return Err(Refusal("CURRENT does not fit its runs".into()));
    }
    let opened = read(engine, &runs)?;
    engine.update(|version| {
        version.runs = runs;
        version.watermark = end;
    });
    Ok(opened)
}

/// A part of the reading of all runs.
enum Part {
    Locations,
    /// The addresses with these first bytes.
    Addresses(RangeInclusive<u64>),
}

/// Reads what is kept in memory of the runs: the address map is filled, the locations are returned. Of
/// many entries threads share the work.
fn read(engine: &Engine, runs: &[Arc<Run>]) -> Result<IndexRecovery, Error> {
    let entries = runs.last().map_or(0, |run| run.rows.end);
    let is_shared = entries >= SHARED_MIN && engine.options.background;
    let mut parts = vec![Part::Locations];
    if engine.map.is_some() {
        let bytes = if is_shared { SHARE_BYTES } else { BYTES };
        let starts = (0..BYTES).step_by(usize::try_from(bytes).unwrap_or(usize::MAX));
        parts.extend(starts.map(|first| Part::Addresses(first..=first + bytes - 1)));
    }
    let read = |part: &Part| match part {
        Part::Locations => opened(runs).map(Some),
        Part::Addresses(bytes) => map_addresses(engine, runs, bytes).map(|()| None),
    };
    let parts = match is_shared {
        true => map_in_parallel(&parts, read),
        false => parts.iter().map(read).collect(),
    };
    let mut opened = IndexRecovery::default();
    for part in parts {
        opened = part?.unwrap_or(opened);
    }
    Ok(opened)
}

/// Returns the last position of the runs, and the locations of the entries before it.
fn opened(runs: &[Arc<Run>]) -> Result<IndexRecovery, Error> {
    let mut opened = IndexRecovery::default();
    let positioned = runs.iter().rposition(|run| run.position.is_some());
    for run in runs.iter().take(positioned.map_or(0, |at| at + 1)) {
        opened.position = run.position;
        // A vector that doubles would leave up to half of its room empty.
        opened.locations.reserve_exact(run.locations_max());
        run.locations(&mut |locations| {
            opened.locations.extend_from_slice(locations);
            Ok(())
        })?;
    }
    if let Some(run) = runs.last().filter(|run| run.position.is_none()) {
        run.locations(&mut |locations| {
            opened.last = locations.last().copied().or(opened.last);
            Ok(())
        })?;
    }
    Ok(opened)
}

/// Adds the addresses with some first bytes to the address map, those of one byte after the other.
fn map_addresses(
    engine: &Engine,
    runs: &[Arc<Run>],
    bytes: &RangeInclusive<u64>,
) -> Result<(), Error> {
    let low = Single::new([bytes.start() << 56, 0], 0);
    let mut streams = Vec::with_capacity(runs.len());
    for run in runs {
        let mut stream = Stream::from(Arc::clone(run), Family::Address, low);
        let mut head = stream.next()?;
        while head.is_some_and(|key| key < low) {
            head = stream.next()?;
        }
        streams.push((head, stream));
    }
    let mut grains = Vec::new();
    for byte in bytes.clone() {
        grains.clear();
        for (head, stream) in &mut streams {
            while let Some(key) = *head {
                let [prefix, ..] = key.parts();
                if prefix >> 56 != byte {
                    break;
                }
                grains.push((prefix & engine.prefix_mask(), key.row()));
                *head = stream.next()?;
            }
        }
        if let Some(map) = &engine.map {
            map.insert_all(&grains);
        }
    }
    Ok(())
}

/// The number of values of a byte, and of those that one part has.
const BYTES: u64 = 256;
const SHARE_BYTES: u64 = 16;

/// With so many entries reading takes longer than starting threads.
const SHARED_MIN: u64 = 100_000;

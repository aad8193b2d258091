use std::io;
use std::sync::Arc;

use crate::ledger::{Disk, EntryPlace, Mark, StoreId};

use super::current::{self, Version};
use super::shared::Engine;
use crate::index::key::encoding::{Key, Single};
use crate::index::run::{self, FOLDER, Fault, Run, Stream};
use crate::index::{Addresses, Error, Family, Options, TermKey};

/// What opening an index found.
#[derive(Debug, Default)]
pub struct Opened {
    /// A moment of the ledger up to which the index covers everything.
    pub mark: Option<Mark>,
    /// Where the entries before [`mark`](Self::mark) lie in the ledger; none without a mark.
    pub places: Vec<EntryPlace>,
    /// Why the index has to be built anew.
    pub rebuilt: Option<String>,
}

/// Why what is on disk is not used.
enum Refusal {
    Doubt(String),
    Error(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Damaged { .. } => Self::Doubt(error.to_string()),
            other => Self::Error(other),
        }
    }
}

/// Opens the version there is, or an empty index in its place.
pub(in crate::index) fn open(
    disk: &Arc<dyn Disk>,
    store_id: StoreId,
    terms: TermKey,
    options: Options,
) -> Result<(Engine, Opened), Error> {
    make_folder(&**disk)?;
    // Numbers of files that are removed below are not used again either: a removal that a crash
    // undoes must not put an old file in the place of a new one.
    let found = numbers(&**disk)?;
    let next = found
        .iter()
        .max()
        .map_or(1, |number| number.saturating_add(1));
    let engine = Engine::new(Arc::clone(disk), store_id, terms, options, next);
    let opened = match load(&engine) {
        Ok(opened) => opened,
        Err(Refusal::Error(error)) => return Err(error),
        Err(Refusal::Doubt(reason)) => {
            tracing::warn!(%reason, "the index is built anew from the ledger");
            engine.update(|state| *state = super::version::State::default());
            if let Some(map) = &engine.map {
                map.clear();
            }
            remove_all(&**disk)?;
            Opened {
                rebuilt: Some(reason),
                ..Opened::default()
            }
        }
    };
    let named = engine.state();
    let is_named = |number: &u64| named.runs.iter().any(|run| run.number == *number);
    let unnamed: Vec<u64> = found
        .into_iter()
        .filter(|number| !is_named(number))
        .collect();
    if !unnamed.is_empty() {
        // A process that was killed may have renamed CURRENT and not synced its folder: a power cut
        // would bring the version before back, which names what is removed here.
        let synced = disk.sync_folder(FOLDER);
        synced.map_err(Error::io("sync", FOLDER))?;
    }
    for number in unnamed {
        forget(&**disk, &run::name_of(number));
    }
    forget(&**disk, current::TEMPORARY);
    Ok((engine, opened))
}

fn make_folder(disk: &dyn Disk) -> Result<(), Error> {
    match disk.list(FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = disk.create_folder(FOLDER);
            made.map_err(Error::io("create", FOLDER))?;
            disk.sync_folder("").map_err(Error::io("sync", FOLDER))
        }
        _ => Ok(()),
    }
}

/// Removes the version, then its files.
pub(super) fn remove_all(disk: &dyn Disk) -> Result<(), Error> {
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

/// Removes a file that nothing names. One that stays only takes room.
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

fn load(engine: &Engine) -> Result<Opened, Refusal> {
    let version = Version::read(&*engine.disk, &engine.store_id);
    let version = version.map_err(Error::io("read", current::NAME))?;
    let version = version.map_err(|reason| Refusal::Doubt(reason.into()))?;
    let Some(version) = version else {
        return Ok(Opened::default());
    };
    let mut runs = Vec::with_capacity(version.runs.len());
    let mut end = 0;
    for named in &version.runs {
        let doubt = |reason| Refusal::Doubt(format!("{} {reason}", run::name_of(named.number)));
        let opened = Run::open(&engine.disk, &engine.store_id, named.number);
        let mut run = opened.map_err(|fault| match fault {
            Fault::Doubt(reason) => doubt(reason),
            Fault::Io(_) => Refusal::Error(fault.into_error(named.number)),
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
        return Err(Refusal::Doubt("CURRENT does not fit its runs".into()));
    }
    let opened = opened(&runs)?;
    for run in &runs {
        learn(engine, run)?;
    }
    engine.update(|state| {
        state.runs = runs;
        state.watermark = end;
    });
    Ok(opened)
}

/// Returns the last mark, and the places of the entries before it.
fn opened(runs: &[Arc<Run>]) -> Result<Opened, Error> {
    let mut opened = Opened::default();
    let marked = runs.iter().rposition(|run| run.mark.is_some());
    for run in runs.iter().take(marked.map_or(0, |at| at + 1)) {
        opened.mark = run.mark;
        run.places(&mut |places| {
            opened.places.extend_from_slice(places);
            Ok(())
        })?;
    }
    Ok(opened)
}

/// Fills the address map.
fn learn(engine: &Engine, run: &Arc<Run>) -> Result<(), Error> {
    if engine.map.is_none() {
        return Ok(());
    }
    let mut addresses = Stream::<Single>::new(Arc::clone(run), Family::Address);
    while let Some(key) = addresses.next()? {
        let [prefix, ..] = key.parts();
        engine.learn(prefix, key.row());
    }
    Ok(())
}

//! Opening the files of a store: those of a crash are set aside, and all derived data is brought to the
//! end of the ledger.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::index::{Index, RetrievalCounters};
use crate::ledger::{
    self, Ballast, Disk, EntryId, EntryLocation, ErasureDecoder, Ledger, Lock, OverlayDisk,
    RecoveryHint, StoreId, TornTail,
};
use crate::process::{Mutex, RwLock};
use crate::store::engine::folder::{
    BALLAST, LOCK, derived_files, no_manifest, remove_text, this_process,
};
use crate::store::engine::instance::{Engine, Reader};
use crate::store::engine::processes::{Peers, Turns};
use crate::store::engine::recovery::RecoveryReport;
use crate::store::engine::text::TextView;
use crate::store::records::{Manifest, erased_rows};
use crate::store::view::{Core, CoreFiles};
use crate::store::{Create, Error, Options};

/// Opens the store on a disk as its keeper, or beside the process that keeps it. As the keeper it
/// leaves what a crash interrupted to the caller.
///
/// # Errors
/// As [`Store::open`](crate::Store::open).
pub(crate) fn join(
    disk: Arc<dyn Disk>,
    path: &Path,
    options: Options,
    is_repair: bool,
) -> Result<Engine, Error> {
    let mut waited = Duration::ZERO;
    loop {
        let found = Manifest::read(&*disk, path)?;
        match (&found, options.create) {
            (Some(_), Create::New) => {
                return Err(Error::Exists {
                    path: path.to_owned(),
                });
            }
            (None, Create::Never | Create::ReadOnly) => return Err(no_manifest(path)),
            _ => {}
        }
        match (Lock::take(&*disk, LOCK, &this_process()), found) {
            (Ok(lock), _) => return keep(disk, path, options, is_repair, lock),
            (Err(ledger::Error::Locked { .. }), Some(manifest)) if !is_repair => {
                return beside(&disk, &manifest, &options);
            }
            // Another process creates the store, or has it open while this one would repair it.
            (Err(ledger::Error::Locked { .. }), _) if waited < options.lock_wait => {
                options.clock.pause(LOCK_POLL);
                waited = waited.saturating_add(LOCK_POLL);
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
}

/// Opens the store on a disk for reading.
///
/// # Errors
/// As [`Store::open`](crate::Store::open).
pub(crate) fn open_to_read(
    below: &Arc<dyn Disk>,
    path: &Path,
    options: Options,
) -> Result<Engine, Error> {
    let manifest = Manifest::read(&**below, path)?.ok_or_else(|| no_manifest(path))?;
    let options = Options {
        accesses: None,
        ..options
    };
    follow(below, || {
        let disk: Arc<dyn Disk> = Arc::new(OverlayDisk::new(Arc::clone(below)));
        let peers = Peers::of_reader(Arc::clone(below));
        follow_once(&disk, &disk, &manifest, &options, peers)
    })
}

/// Opens a store that another process keeps, for reading and writing.
fn beside(disk: &Arc<dyn Disk>, manifest: &Manifest, options: &Options) -> Result<Engine, Error> {
    let options = Options {
        accesses: None,
        ..options.clone()
    };
    let engine = follow(disk, || {
        let derived: Arc<dyn Disk> = Arc::new(OverlayDisk::new(Arc::clone(disk)));
        let turns = Turns::open(disk, &options)?;
        let peers = Peers::of_writer(Arc::clone(disk), turns, false, &options)?;
        follow_once(disk, &derived, manifest, &options, peers)
    })?;
    engine.measure_clock();
    Ok(engine)
}

/// Opens the store as its keeper. Erasures that a crash interrupted are hidden, and begun again by the
/// caller.
fn keep(
    disk: Arc<dyn Disk>,
    path: &Path,
    options: Options,
    is_repair: bool,
    lock: Lock,
) -> Result<Engine, Error> {
    let turns = Turns::open(&disk, &options)?;
    let found = Manifest::read(&*disk, path)?;
    let mut recovery = RecoveryReport {
        created: found.is_none(),
        ..RecoveryReport::default()
    };
    let may_write = turns.alone(options.lock_wait)?;
    let (manifest, index, ledger) = match found {
        Some(manifest) => {
            let (index, ledger) = open_files(&disk, &manifest, &options, is_repair, &mut recovery)?;
            (manifest, index, ledger)
        }
        None => create_files(&disk, &options, &mut recovery)?,
    };
    let ledger = Arc::new(ledger);
    let text = TextView::open(&disk, &ledger, &options, &mut recovery);
    let staleness = options.accesses;
    let count =
        |staleness| RetrievalCounters::open(&disk, manifest.store_id, staleness, ledger.len());
    let retrievals = staleness.map(count).transpose()?;
    let ballast = Ballast::new(BALLAST, options.ballast_bytes);
    if let Err(error) = ballast.restore(&*disk) {
        tracing::warn!(%error, "no room is kept for erasing on a full disk");
    }
    let peers = Peers::of_writer(Arc::clone(&disk), turns, true, &options)?;
    let manifest_file = Manifest::open(&*disk)?;
    let core = Core::new(CoreFiles {
        options,
        manifest,
        disk,
        ledger,
        ballast,
        is_writer: peers.writes(),
    });
    let reader = Reader {
        manifest_file,
        index: RwLock::new(Arc::new(index)),
        retrievals,
        text,
        recovery,
        peers: Arc::new(peers),
        lock: Mutex::new(Some(lock)),
        names: Mutex::default(),
    };
    let engine = Engine::new(core, reader);
    let flushed = EntryId::new(engine.index().flushed());
    engine.catch_up()?;
    engine.ledger().end_turn();
    drop(may_write);
    engine.measure_clock();
    // Before another process can keep this one from completing them.
    engine.hide_begun()?;
    if engine.peers().shared.is_some() {
        // Another machine may have completed them while this one was closed.
        engine.hide_completed(flushed)?;
    }
    Ok(engine)
}

/// Opens index and ledger of a store that exists.
fn open_files(
    disk: &Arc<dyn Disk>,
    manifest: &Manifest,
    options: &Options,
    is_repair: bool,
    recovery: &mut RecoveryReport,
) -> Result<(Index, Ledger), Error> {
    manifest.settle(&**disk)?;
    match manifest.mend(&**disk) {
        Ok(fault) => recovery.manifest_repaired = fault,
        // One that can be read is enough.
        Err(error) => tracing::warn!(%error, "MANIFEST has no second copy"),
    }
    let (index, mut known) = open_index(disk, manifest, options, recovery)?;
    // An index that is deleted next is asked only for the number of entries, not for their
    // locations.
    if is_repair {
        known = Known::default();
    }
    let open = Ledger::open_past_damaged_grains;
    let ledger = open_ledger(open, disk, manifest, &index, known, options, recovery)?;
    if is_repair {
        forget_derived(&**disk, &index, recovery)?;
    }
    Ok((index, ledger))
}

/// Creates the files of a new store.
fn create_files(
    disk: &Arc<dyn Disk>,
    options: &Options,
    recovery: &mut RecoveryReport,
) -> Result<(Manifest, Index, Ledger), Error> {
    let manifest = Manifest::new(&*options.random, options.clock.now())?;
    let segment_bytes = options.segment_bytes;
    let ledger = Ledger::create(Arc::clone(disk), manifest.store_id, segment_bytes)?;
    manifest.write(&**disk)?;
    let (index, _) = open_index(disk, &manifest, options, recovery)?;
    Ok((manifest, index, ledger))
}

/// The part of the ledger that the index has seen durable.
#[derive(Default)]
struct Known {
    hint: Option<RecoveryHint>,
    /// Of the last entry in the index, if the hint ends before.
    last: Option<EntryLocation>,
}

fn open_index(
    disk: &Arc<dyn Disk>,
    manifest: &Manifest,
    options: &Options,
    recovery: &mut RecoveryReport,
) -> Result<(Index, Known), Error> {
    let (index, found) = Index::open(
        disk,
        manifest.store_id,
        manifest.term_key(),
        options.index.clone(),
    );
    recovery.index_rebuilt = found.rebuilt;
    let mut known = Known {
        hint: None,
        last: found.last,
    };
    if let Some(position) = found.position {
        let mut erased = index.snapshot().erased_entries()?;
        erased.sort_unstable();
        known.hint = Some(RecoveryHint {
            position,
            locations: found.locations,
            erased,
        });
    }
    Ok((index, known))
}

/// Opens the ledger from where the index has seen it durable. An index that does not fit a ledger
/// which is sound from its first byte, and as long, is of another history of it, and removed.
fn open_ledger(
    open: OpenLedger,
    disk: &Arc<dyn Disk>,
    manifest: &Manifest,
    index: &Index,
    known: Known,
    options: &Options,
    recovery: &mut RecoveryReport,
) -> Result<Ledger, Error> {
    let flushed = index.flushed();
    let open = |hint| {
        let segment_bytes = options.segment_bytes;
        let disk = Arc::clone(disk);
        open(
            disk,
            manifest.store_id,
            segment_bytes,
            flushed,
            hint,
            erased_rows,
        )
    };
    let has_hint = known.hint.is_some();
    let (opened, mut is_foreign) = match open(known.hint) {
        Err(error @ ledger::Error::Damaged { .. }) if has_hint => {
            (open(None).map_err(|_| error)?, true)
        }
        opened => (opened?, false),
    };
    let (ledger, torn) = opened;
    recovery.torn = torn;
    if let (Some(last), Some(row)) = (known.last, flushed.checked_sub(1)) {
        is_foreign |= ledger.entry_locations(&(EntryId::new(row)..EntryId::new(flushed))) != [last];
    }
    if is_foreign {
        index.reset()?;
        let reason = "it is of another history of the ledger";
        recovery.index_rebuilt = Some(reason.to_owned());
    }
    Ok(ledger)
}

/// [`Ledger::open`], or one that does not write.
type OpenLedger = fn(
    Arc<dyn Disk>,
    StoreId,
    u64,
    u64,
    Option<RecoveryHint>,
    ErasureDecoder,
) -> Result<(Ledger, Option<TornTail>), ledger::Error>;

/// Opens a store that another process keeps, with the derived files on a disk of their own.
fn follow_once(
    disk: &Arc<dyn Disk>,
    derived: &Arc<dyn Disk>,
    manifest: &Manifest,
    options: &Options,
    peers: Peers,
) -> Result<Engine, Error> {
    let mut recovery = RecoveryReport::default();
    let (index, known) = open_index(derived, manifest, options, &mut recovery)?;
    let open = Ledger::open_to_follow;
    let mut ledger = open_ledger(open, disk, manifest, &index, known, options, &mut recovery)?;
    if peers.writes() {
        ledger = ledger.taking_turns()?;
    }
    let ledger = Arc::new(ledger);
    let ballast_bytes = match peers.writes() {
        true => options.ballast_bytes,
        false => 0,
    };
    let reader = Reader {
        manifest_file: Manifest::open(&**disk)?,
        text: TextView::open(derived, &ledger, options, &mut recovery),
        index: RwLock::new(Arc::new(index)),
        retrievals: None,
        recovery,
        lock: Mutex::new(None),
        names: Mutex::default(),
        peers: Arc::new(peers),
    };
    let core = Core::new(CoreFiles {
        options: options.clone(),
        manifest: manifest.clone(),
        disk: Arc::clone(disk),
        ledger,
        ballast: Ballast::new(BALLAST, ballast_bytes),
        is_writer: reader.peers.writes(),
    });
    let mut engine = Engine::new(core, reader);
    let flushed = EntryId::new(engine.index().flushed());
    engine.catch_up()?;
    engine.hide_begun()?;
    if engine.hide_completed(flushed)?.is_some() {
        engine.reload()?;
    }
    // The keeper completes it, if this process cannot wait for one.
    let is_waiting = !engine.peers().writes() && !engine.state().erasures().open().is_empty();
    engine.report_opening(is_waiting.then(|| "the store was opened for reading".to_owned()));
    Ok(engine)
}

/// Deletes the derived files. The ledger is open already: its length was checked against the index.
fn forget_derived(
    disk: &dyn Disk,
    index: &Index,
    recovery: &mut RecoveryReport,
) -> Result<(), Error> {
    index.reset()?;
    remove_text(disk)?;
    let asked = || "a repair was asked for".to_owned();
    recovery.index_rebuilt.get_or_insert_with(asked);
    recovery.text_rebuilt.get_or_insert_with(asked);
    Ok(())
}

/// Opens a store again if its derived files were replaced meanwhile, so that what the first attempt
/// read may be neither the old ones nor the new.
fn follow(
    below: &Arc<dyn Disk>,
    open: impl Fn() -> Result<Engine, Error>,
) -> Result<Engine, Error> {
    let mut attempts = ATTEMPTS;
    loop {
        let before = derived_files(&**below);
        let engine = open();
        attempts -= 1;
        let is_doubtful = engine.as_ref().map_or(true, |engine| {
            let found = engine.recovery();
            found.index_rebuilt.is_some() || found.text_rebuilt.is_some()
        });
        // The keeper may have replaced files between the reading of their list and of them.
        if !is_doubtful || attempts == 0 || derived_files(&**below) == before {
            return engine;
        }
    }
}

/// How long opening sleeps between two attempts to take the lock of the keeper.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// How often a store is opened for reading while its files are being replaced.
const ATTEMPTS: usize = 5;

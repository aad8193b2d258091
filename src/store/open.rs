use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, RwLock};

use crate::grain::Time;
use crate::index::{Index, RetrievalCounters, Snapshot};
use crate::ledger::{Ballast, Disk, FileDisk, Ledger, Lock, MemoryDisk, RecoveryHint, TornTail};
use crate::policy::{Regimes, Trusts};
use crate::text::{self, Text};

use super::ancestry::Ancestry;
use super::caller::Actors;
use super::commit::{Queue, Writer};
use super::embedding::Vectors;
use super::expiry::Deadlines;
use super::manifest::{self, Manifest};
use super::review::Unreviewed;
use super::standing::Standing;
use super::{Create, Error, Options, accesses, entry, repair, text_view};

/// A store of grains. Cheap to clone, and usable from any thread.
///
/// ```
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::belief("user", "prefers", "dark mode").confidence(0.9))?;
/// let grain = store.get(&address)?.expect("it was just put");
/// assert_eq!(grain.text("object"), Some("dark mode"));
/// # Ok::<(), grainstore::store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) options: Options,
    pub(super) manifest: Manifest,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) ledger: Ledger,
    pub(super) index: Index,
    /// None for a store that does not count retrievals.
    pub(super) accesses: Option<RetrievalCounters>,
    /// None for a store opened without its text view.
    pub(super) text: Option<Text>,
    /// Held by whoever changes something, from the decision to the acknowledgement.
    ///
    /// Free to whoever's turn it is: nobody waits here.
    pub(super) writer: Mutex<Writer>,
    pub(super) turns: Queue,
    pub(super) vectors: Vectors,
    /// Read at every change, and changed while the writer is held.
    pub(super) standing: RwLock<Standing>,
    pub(super) ancestry: Ancestry,
    /// Whether anything was ever deleted, so that puts need to ask whether it was this.
    pub(super) has_tombstones: AtomicBool,
    /// Whether anything was ever delegated, so that puts need to ask whether their authors may.
    pub(super) has_delegations: AtomicBool,
    /// Whether a regime wants reads on record, so that reads need to ask whether of this grain.
    pub(super) records_reads: AtomicBool,
    pub(super) actors: Actors,
    /// What the store was told to hold to.
    pub(super) regimes: RwLock<Regimes>,
    pub(super) unreviewed: Unreviewed,
    pub(super) deadlines: Mutex<Deadlines>,
    /// Whom the operator trusts: the fold of the trust entries.
    pub(super) trusts: RwLock<Trusts>,
    pub(super) ballast: Ballast,
    pub(super) opened: Opened,
    pub(super) lock: Lock,
}

/// What was found when a store was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// Whether the store was created.
    pub created: bool,
    /// What a crash left behind the last acknowledged frame, set aside.
    pub torn: Option<TornTail>,
    /// Why the index had to be built anew.
    pub index_rebuilt: Option<String>,
    /// Why the text view had to be built anew.
    pub text_rebuilt: Option<String>,
}

impl Store {
    /// Opens the store in a directory, and creates it if [`Options::create`] allows.
    ///
    /// # Errors
    /// `ERR_NOT_A_STORE`, `ERR_STORE_EXISTS`, `ERR_STORE_VERSION`, `ERR_STORE_LOCKED` while
    /// another process has it open, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Self::open_folder(path.as_ref(), options, false)
    }

    pub(super) fn open_folder(
        path: &Path,
        options: Options,
        is_repair: bool,
    ) -> Result<Self, Error> {
        prepare_folder(path, options.create)?;
        let disk = Arc::new(FileDisk::new(path));
        let text = text::Place::Folder(path.join("text"));
        Self::join(disk, &text, path, options, is_repair)
    }

    /// Opens the store on a disk of the caller's, and creates it if [`Options::create`] allows.
    ///
    /// The text view is in memory and fed from the ledger at every open.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use grainstore::ledger::MemoryDisk;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let disk = MemoryDisk::default();
    /// let open = || Store::open_on(Arc::new(disk.clone()), Options::default());
    /// let address = open()?.put(Draft::event("hello"))?;
    /// assert!(open()?.exists(&address)?);
    /// # Ok::<(), grainstore::store::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_on(disk: Arc<dyn Disk>, options: Options) -> Result<Self, Error> {
        let path = Path::new("memory");
        Self::join(disk, &text::Place::Memory, path, options, false)
    }

    /// Creates a store in memory, which is gone when its last handle is.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub fn in_memory(options: Options) -> Result<Self, Error> {
        let options = Options {
            ballast_bytes: 0,
            ..options
        };
        Self::open_on(Arc::new(MemoryDisk::default()), options)
    }

    fn join(
        disk: Arc<dyn Disk>,
        place: &text::Place,
        path: &Path,
        options: Options,
        is_repair: bool,
    ) -> Result<Self, Error> {
        let found = Manifest::read(&*disk, path)?;
        match (&found, options.create) {
            (Some(_), Create::New) => {
                return Err(Error::Exists {
                    path: path.to_owned(),
                });
            }
            (None, Create::Never) => return Err(no_manifest(path)),
            _ => {}
        }
        let lock = Lock::take(&*disk, LOCK, &this_process())?;
        let mut opened = Opened {
            created: found.is_none(),
            ..Opened::default()
        };
        let (manifest, index, ledger) = match found {
            Some(manifest) => {
                manifest.settle(&*disk)?;
                let (index, known) = open_index(&disk, &manifest, &options, &mut opened)?;
                // What is to be deleted is not asked where the entries are, only how many.
                let known = known.filter(|_| !is_repair);
                let ledger = open_ledger(&disk, &manifest, &index, known, &options, &mut opened)?;
                if is_repair {
                    repair::forget_derived(&index, place, &mut opened)?;
                }
                (manifest, index, ledger)
            }
            None => {
                let manifest = Manifest::new(&*options.random, options.clock.now())?;
                let ledger = options.ledger.clone();
                let ledger = Ledger::create(Arc::clone(&disk), manifest.store_id, ledger)?;
                manifest.write(&*disk)?;
                let (index, _) = open_index(&disk, &manifest, &options, &mut opened)?;
                (manifest, index, ledger)
            }
        };
        let text = text_view::open(place, ledger.len(), options.text, &mut opened)?;
        let accesses = accesses::open(&disk, &manifest, options.accesses, ledger.len())?;
        let ballast = Ballast::new(BALLAST, options.ballast_bytes);
        if let Err(error) = ballast.restore(&*disk) {
            tracing::warn!(%error, "no room is kept for erasing on a full disk");
        }
        let inner = Inner {
            options,
            manifest,
            disk,
            ledger,
            index,
            accesses,
            text,
            writer: Mutex::new(Writer::new()),
            turns: Queue::default(),
            vectors: Vectors::default(),
            standing: RwLock::default(),
            ancestry: Ancestry::default(),
            has_tombstones: AtomicBool::new(false),
            has_delegations: AtomicBool::new(false),
            records_reads: AtomicBool::new(false),
            actors: Actors::default(),
            regimes: RwLock::default(),
            unreviewed: Unreviewed::default(),
            deadlines: Mutex::default(),
            trusts: RwLock::default(),
            ballast,
            opened,
            lock,
        };
        inner.recover()?;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Returns what was found when the store was opened.
    pub fn opened(&self) -> &Opened {
        &self.inner.opened
    }

    /// Returns a view of the index as it is now: rows of the ledger, and nothing of what is in
    /// them.
    ///
    /// ```
    /// use grainstore::index::Pattern;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark mode").confidence(0.9))?;
    /// let pattern = Pattern { subject: Some("user"), ..Pattern::default() };
    /// assert_eq!(store.index_snapshot().triples(&pattern).rows()?.len(), 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    pub fn index_snapshot(&self) -> Snapshot {
        self.inner.index.snapshot()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.inner.index.snapshot()
    }
}

impl Inner {
    /// Brings the index, the writer and the text view to where the ledger is.
    fn recover(&self) -> Result<(), Error> {
        self.replay()?;
        self.ancestry.recover(&self.index.snapshot())?;
        self.recover_trust()?;
        if let Some(last) = self.ledger.len().checked_sub(1) {
            let last = Time::from_ms(self.ledger.read(last)?.header.time_ms);
            let mut writer = self.writer.lock();
            writer.last = last;
            writer.floor = self.floor(last)?;
        }
        self.load_standing()?;
        self.catch_up_text()?;
        self.learn_delegations()?;
        self.learn_regimes()?;
        self.resume_erasures()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.ledger.sync() {
            tracing::warn!(%error, "closing without knowing that the last writes are durable");
        }
        self.close_text();
        self.close_accesses();
        let active = self.index.active_entries();
        if active.end - active.start >= WORTH_A_RUN {
            self.freeze();
        }
    }
}

fn open_index(
    disk: &Arc<dyn Disk>,
    manifest: &Manifest,
    options: &Options,
    opened: &mut Opened,
) -> Result<(Index, Option<RecoveryHint>), Error> {
    let (index, found) = Index::open(
        disk,
        manifest.store_id,
        manifest.term_key(),
        options.index.clone(),
    )?;
    opened.index_rebuilt = found.rebuilt;
    let Some(position) = found.position else {
        return Ok((index, None));
    };
    let mut erased = index.snapshot().erased_entries()?;
    erased.sort_unstable();
    let known = RecoveryHint {
        position,
        locations: found.locations,
        erased,
    };
    Ok((index, Some(known)))
}

fn open_ledger(
    disk: &Arc<dyn Disk>,
    manifest: &Manifest,
    index: &Index,
    known: Option<RecoveryHint>,
    options: &Options,
    opened: &mut Opened,
) -> Result<Ledger, Error> {
    let (ledger, torn) = Ledger::open(
        Arc::clone(disk),
        manifest.store_id,
        options.ledger.clone(),
        index.flushed(),
        known,
        entry::erased_rows,
    )?;
    opened.torn = torn;
    Ok(ledger)
}

/// Makes sure there is a folder to look into, and none of somebody else's.
pub(super) fn prepare_folder(path: &Path, create: Create) -> Result<(), Error> {
    let not_a_store = |reason: String| Error::NotAStore {
        path: path.to_owned(),
        reason,
    };
    let failed = |error: std::io::Error| not_a_store(error.to_string());
    match path.metadata() {
        Ok(found) if !found.is_dir() => Err(not_a_store("it is a file".into())),
        Ok(_) if path.join(manifest::NAME).exists() => Ok(()),
        Ok(_) if create == Create::Never => Err(no_manifest(path)),
        Ok(_) => {
            // What a crash inside an earlier creation left may be there, and nothing else.
            for item in path.read_dir().map_err(failed)? {
                let name = item.map_err(failed)?.file_name();
                let ours = [
                    "ledger",
                    "index",
                    "text",
                    LOCK,
                    BALLAST,
                    manifest::TEMPORARY,
                ];
                if !ours.iter().any(|known| name == *known) {
                    let name = PathBuf::from(name);
                    return Err(not_a_store(format!(
                        "it holds {} and no MANIFEST",
                        name.display()
                    )));
                }
            }
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if create == Create::Never {
                return Err(not_a_store("it does not exist".into()));
            }
            create_private(path).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Creates the folder of a store, and makes its name durable: what it remembers is nobody else's
/// to read.
pub(super) fn create_private(path: &Path) -> std::io::Result<()> {
    let missing = path.ancestors().take_while(|path| !path.exists());
    let parents: Vec<_> = missing.filter_map(Path::parent).collect();
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    for parent in parents {
        // The parent of a plain name is the empty path.
        let here = Path::new(".");
        let parent = if parent.as_os_str().is_empty() {
            here
        } else {
            parent
        };
        FileDisk::new(parent).sync_folder("")?;
    }
    Ok(())
}

/// Returns what tells a second writer who the first one is.
pub(super) fn this_process() -> String {
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(Path::file_stem);
    let name = name.map_or("unknown".into(), |name| name.to_string_lossy());
    format!("process {} ({name})", std::process::id())
}

pub(super) fn no_manifest(path: &Path) -> Error {
    Error::NotAStore {
        path: path.to_owned(),
        reason: "it has no MANIFEST".into(),
    }
}

pub(super) const LOCK: &str = "LOCK";
const BALLAST: &str = "ballast";

/// Entries that are quicker written to a run now than applied at every open.
const WORTH_A_RUN: u64 = 4_096;

//! The options of an open store: creation, limits, durability, the derived views, and the clock,
//! randomness and resolver that it is given.
//!
//! They are not stored: each opening has its own. Settings that belong to a store, such as regimes,
//! are entries of its ledger.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::codec::Profile;
use crate::crypto::{Offline, OsRandom, Random, Resolver};
use crate::grain::Time;
use crate::index::IndexOptions;
use crate::ledger::SEGMENT_BYTES;

use super::embedder::Embedder;

/// The options of an open store.
///
/// ```
/// use grainstore::store::{Create, Options};
///
/// let options = Options {
///     create: Create::Never,
///     ..Options::default()
/// };
/// assert_eq!(options.create, Create::Never);
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether a store may be created, or changed.
    pub create: Create,
    /// The limits that apply to new grains (OMS 18).
    pub profile: Profile,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub random: Arc<dyn Random>,
    /// The resolver of keys of signers whose DID does not contain the key; by default it finds
    /// none.
    pub resolver: Arc<dyn Resolver>,
    /// Whether the signature of an `authorized` DID that is not the author's replaces a grain of mode
    /// `locked` (rulings I6, P19); an ownership grain also that of its author, the operator who
    /// corrects it (OMS 12.5.3). Off by default: a locked grain stays as it is (OMS 23.2).
    pub authorized_may_amend_locked: bool,
    /// The source of the master key, which opens the keys of sealed persons. It is asked each time the
    /// key is needed, and the key is wiped after use; without a source every sealed person is locked.
    #[cfg(feature = "sealing")]
    pub master_key: Option<Arc<crate::crypto::KeySource>>,
    /// How long the keys of an unlocked person stay in memory; they are wiped when keys are next used
    /// after that. `None`, the default: until the person is locked or the store is closed.
    #[cfg(feature = "sealing")]
    pub unlock_ttl: Option<Duration>,
    /// How long after the deletion of a grain of a sealed person their key is to be renewed, so that
    /// nothing opens what a disk keeps of it; 24 hours by default. From then on unlocking the person
    /// renews it.
    #[cfg(feature = "sealing")]
    pub rekey_within: Duration,
    /// The place of the vault's root if it is not `vault/root` in the directory of the store: a KMS, a
    /// keychain, a file elsewhere.
    #[cfg(feature = "sealing")]
    pub shred_root: Option<Arc<dyn crate::vault::ShredRoot>>,
    /// The note that the ledger must begin with: a store that was rolled back, cut short or rewritten
    /// since does not open. Every header is read. `None`, the default, opens it unanchored: nothing
    /// inside a store can tell.
    pub since: Option<crate::crypto::Note>,
    /// When notes of the ledger are signed, and where they go; `None`, the default: on demand alone.
    #[cfg(feature = "signatures")]
    pub notes: Option<crate::store::NoteSchedule>,
    /// The guarantee of an acknowledgement.
    pub durability: Durability,
    /// How long a change waits for other processes that write, and opening for one that creates the
    /// store, before it is `ERR_STORE_LOCKED`; 5 seconds by default. In a directory it is 0.1 seconds at
    /// least, in which a process that keeps the right to write gives it back.
    pub lock_wait: Duration,
    /// The size of the emergency free-space file, in bytes: it is deleted on a full disk, so that
    /// erasing and closing can still write.
    pub ballast_bytes: u64,
    /// The folder in whose files without names a store of [`Store::in_memory`](crate::Store::in_memory)
    /// keeps its bytes, for more grains than the memory holds: they are gone with the store, and with
    /// the process, however it ends. `None`, the default: in memory.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let scratch = Some(folder.path().to_owned());
    /// let store = Store::in_memory(Options { scratch, ..Options::default() })?;
    /// let address = store.put(Draft::event("hello"))?;
    /// assert!(store.get(&address)?.is_some());
    /// assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub scratch: Option<PathBuf>,
    /// The sequence that this store shares with those on other machines. The directory is then a cache
    /// of it: a change is decided on the head of the sequence and is durable there before it is
    /// acknowledged, and what others wrote is read from it. `None`, the default: the directory is the
    /// store.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use grainstore::{Draft, Options, Store};
    /// use grainstore_shared::MemorySequence;
    ///
    /// let sequence = MemorySequence::default();
    /// let open = |cache| {
    ///     let shared = Some(Arc::new(sequence.clone()) as _);
    ///     Store::open(cache, Options { shared, ..Options::default() })
    /// };
    /// let (here, there) = (tempfile::tempdir()?, tempfile::tempdir()?);
    /// let address = open(here.path())?.put(Draft::event("hello"))?;
    /// assert!(open(there.path())?.exists(&address)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub shared: Option<Arc<dyn grainstore_shared::Sequence>>,
    /// Whether a cache opens although its sequence does not answer: it answers from what it has, and
    /// refuses changes. Off by default: opening is `ERR_UNREACHABLE`.
    pub stale_ok: bool,
    /// The size at which a segment of the ledger is closed, in bytes, at most 4 GiB; by default 256 MiB.
    /// A ledger reads the same under any size.
    pub segment_bytes: u64,
    /// The options of the index.
    pub index: IndexOptions,
    /// The longest time that a count of retrievals is in memory only (OMS 22.10); `None`, the
    /// default, counts nothing. See [`Maintenance::accesses`](crate::Maintenance::accesses).
    pub accesses: Option<Duration>,
    /// The models that embed what is stored, each for itself; the first embeds the questions of
    /// searches and recalls too, which then rank by words and meaning
    /// ([`Ranking::meaning`](crate::text::Ranking::meaning)). None, the default: by words alone.
    pub embedders: Vec<Arc<dyn Embedder>>,
    /// The time after which a search or a recall ends with what it has found, which is marked as
    /// partial; 2 seconds by default.
    pub search_deadline: Duration,
    /// The options of the text view; `None` opens the store without it, and searching is an error.
    /// The next open with it feeds the rows that it missed.
    #[cfg(feature = "text")]
    pub text: Option<crate::text::TextOptions>,
}

impl Options {
    /// Returns the options to open a store for reading alone ([`Create::ReadOnly`]).
    #[must_use]
    pub fn read_only(self) -> Self {
        Self {
            create: Create::ReadOnly,
            ..self
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: Create::IfMissing,
            profile: Profile::Extended,
            clock: Arc::new(SystemClock),
            random: Arc::new(OsRandom),
            resolver: Arc::new(Offline),
            authorized_may_amend_locked: false,
            #[cfg(feature = "sealing")]
            master_key: None,
            #[cfg(feature = "sealing")]
            unlock_ttl: None,
            #[cfg(feature = "sealing")]
            rekey_within: Duration::from_secs(24 * 3_600),
            #[cfg(feature = "sealing")]
            shred_root: None,
            since: None,
            #[cfg(feature = "signatures")]
            notes: None,
            durability: Durability::Sync,
            lock_wait: Duration::from_secs(5),
            ballast_bytes: 4 << 20,
            scratch: None,
            shared: None,
            stale_ok: false,
            segment_bytes: SEGMENT_BYTES,
            index: IndexOptions::default(),
            accesses: None,
            embedders: Vec::new(),
            search_deadline: Duration::from_secs(2),
            #[cfg(feature = "text")]
            text: Some(crate::text::TextOptions::default()),
        }
    }
}

/// Whether opening may create a store, or change one at all.
///
/// ```
/// use grainstore::store::Create;
/// use grainstore::{Draft, Options, Store};
///
/// let home = tempfile::tempdir()?;
/// let new = Options { create: Create::New, ..Options::default() };
/// let writer = Store::open(home.path(), new)?;
/// let reader = Store::open(home.path(), Options::default().read_only())?;
/// let address = writer.put(Draft::event("hello"))?;
/// assert!(reader.get(&address)?.is_some());
/// let refused = reader.put(Draft::event("a note")).unwrap_err();
/// assert_eq!(refused.code(), "ERR_STORAGE_READ_ONLY");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// Create a store if there is none.
    IfMissing,
    /// Refuse to create one.
    Never,
    /// Create one; refuse an existing one.
    New,
    /// Refuse to create one, and to change it, beside a process that writes it or not. Nothing in the
    /// directory is changed and no lock is taken, so it may be one that can only be read; what has to
    /// be built anew is built in memory. Refused are also reads that a regime wants recorded.
    ReadOnly,
}

impl Create {
    /// Returns whether a store is created if there is none.
    pub(crate) const fn creates(self) -> bool {
        matches!(self, Self::IfMissing | Self::New)
    }
}

/// The guarantee of an acknowledgement.
///
/// ```
/// use std::time::Duration;
/// use grainstore::store::{Durability, Options};
///
/// assert_eq!(Options::default().durability, Durability::Sync);
/// let patient = Durability::Group(Duration::from_millis(2));
/// # drop(patient);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// An acknowledged write is on disk. Puts that arrive while the disk is busy share the next
    /// sync.
    #[default]
    Sync,
    /// The same, and a put waits up to this long for others to share its sync: slower for one,
    /// cheaper for many.
    Group(Duration),
    /// An acknowledged write is written, and may be lost if the machine fails (not if the process
    /// does) before the next sync: at [`Maintenance::sync`](crate::Maintenance::sync), on closing, and
    /// every few megabytes. Only the newest writes are lost, in whole batches.
    Relaxed,
}

/// A source of the time; an argument, so that every test is repeatable.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time now.
    fn now(&self) -> Time;

    /// Returns a time that never goes back and that cannot be set, from any beginning: for how long
    /// something took, and how far [`now`](Self::now) may have gone since (ruling I21). By default
    /// the machine's; a simulated clock that goes faster gives its own.
    #[expect(
        clippy::disallowed_types,
        reason = "the one place where the time that passes enters"
    )]
    fn monotonic(&self) -> Duration {
        use std::time::Instant;
        static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGINNING.elapsed()
    }

    /// Returns the identity of the beginning that [`monotonic`](Self::monotonic) counts from, if
    /// other processes count from it too: the start of the machine. By default `None`: its readings
    /// are compared within one opening of a store only.
    fn boot(&self) -> Option<[u8; 16]> {
        None
    }

    /// Waits for another process, for about this long: by default the thread sleeps. A simulated
    /// clock lets the other process go on instead.
    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where time enters; everywhere else it is an argument"
    )]
    fn now(&self) -> Time {
        let now = std::time::SystemTime::now();
        let ms = match now.duration_since(std::time::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()),
            Err(before) => i64::try_from(before.duration().as_millis()).map(|ms| -ms),
        };
        Time::from_ms(ms.unwrap_or(i64::MAX))
    }

    /// Counts while the machine sleeps: a clock that is right after a night is not suspected.
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    fn monotonic(&self) -> Duration {
        use rustix::time::{ClockId, clock_gettime};
        #[cfg(target_vendor = "apple")]
        let now = clock_gettime(ClockId::Monotonic);
        #[cfg(not(target_vendor = "apple"))]
        let now = clock_gettime(ClockId::Boottime);
        Duration::try_from(now).unwrap_or_default()
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn boot(&self) -> Option<[u8; 16]> {
        static BOOT: LazyLock<Option<[u8; 16]>> = LazyLock::new(|| {
            let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
            let digits = id.trim().replace('-', "");
            let id = data_encoding::HEXLOWER.decode(digits.as_bytes()).ok()?;
            id.try_into().ok()
        });
        *BOOT
    }
}

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::codec::Profile;
use crate::crypto::{Offline, OsRandom, Random, Resolver};
use crate::grain::Time;
use crate::index::IndexOptions;
use crate::ledger::LedgerOptions;

/// How a store is opened.
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
    /// Whether a store may be created.
    pub create: Create,
    /// The limits new grains are held to (OMS 18).
    pub profile: Profile,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where randomness comes from.
    pub random: Arc<dyn Random>,
    /// Who finds the keys of signers whose DID does not hold its own; nobody, by default.
    pub resolver: Arc<dyn Resolver>,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// The room kept for erasing and closing on a full disk, in bytes.
    pub ballast_bytes: u64,
    /// How the ledger is written.
    pub ledger: LedgerOptions,
    /// How the index works and what it may use.
    pub index: IndexOptions,
    /// Whether retrievals of grains are counted (OMS 22.10), and for how long a count may be in
    /// memory only; none, the default, counts nothing. See
    /// [`Store::accesses`](crate::store::Maintenance::accesses).
    pub accesses: Option<Duration>,
    /// What the text view may use; none opens the store without it, and searching is an error.
    /// The next open with it feeds it what it missed.
    #[cfg(feature = "text")]
    pub text: Option<crate::text::TextOptions>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: Create::IfMissing,
            profile: Profile::Extended,
            clock: Arc::new(SystemClock),
            random: Arc::new(OsRandom),
            resolver: Arc::new(Offline),
            durability: Durability::Sync,
            ballast_bytes: 4 << 20,
            ledger: LedgerOptions::default(),
            index: IndexOptions::default(),
            accesses: None,
            #[cfg(feature = "text")]
            text: Some(crate::text::TextOptions::default()),
        }
    }
}

/// What to do where there is no store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// Create one; open one that is there.
    IfMissing,
    /// Refuse.
    Never,
    /// Create one; refuse one that is there.
    New,
}

/// What an acknowledgement promises.
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
    /// What is acknowledged is on disk. Puts that come while the disk is busy share the next sync.
    #[default]
    Sync,
    /// The same, and a put waits up to this long for others to share its sync with: slower for
    /// one, cheaper for many.
    Group(Duration),
    /// What is acknowledged is written, and may be lost if the machine fails (not if the process
    /// does) before the next sync: at [`Store::sync`](crate::store::Store::sync), on closing, and every
    /// few megabytes. What is lost is the newest, whole batches at a time.
    Relaxed,
}

/// Tells the time; an argument, so that every test is repeatable.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time now.
    fn now(&self) -> Time;
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
}

use std::fmt;
use std::sync::Arc;

use crate::codec::Profile;
use crate::crypto::{OsRandom, Random};
use crate::grain::Time;
use crate::index;
use crate::ledger;
use crate::text;

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
    /// How the ledger is written.
    pub ledger: ledger::Options,
    /// How the index works and what it may use.
    pub index: index::Options,
    /// What the text view may use.
    pub text: text::Options,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: Create::IfMissing,
            profile: Profile::Extended,
            clock: Arc::new(SystemClock),
            random: Arc::new(OsRandom),
            ledger: ledger::Options::default(),
            index: index::Options::default(),
            text: text::Options::default(),
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

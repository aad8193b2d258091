//! The grains that a writer reads, more than once and a few at a time.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::policy::RecordedAuthorization;
use crate::process::map_in_parallel;

use super::export::Entry;
use super::{Error, StoredVector};

/// The grains to be written, in the order of the file.
///
/// A writer reads them once to learn what belongs together, and again to write: no writer holds
/// them all.
///
/// ```
/// use grainstore::grain::{Draft, Status, Time};
/// use grainstore::interchange::{Entries, Entry};
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let entries: Vec<Entry> = vec![(grain.clone(), Status::default())];
/// assert_eq!(entries.count(), 1);
/// assert_eq!(entries.read(0).unwrap().unwrap().0, grain);
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
pub trait Entries: Sync {
    /// Why a grain cannot be read.
    type Error: From<Error> + Send;

    /// Returns how many there are.
    fn count(&self) -> u32;

    /// Reads one; `None` for one that was erased since they were counted.
    ///
    /// # Errors
    /// Those of where they are stored.
    fn read(&self, number: u32) -> Result<Option<Entry>, Self::Error>;

    /// Returns the number of an address.
    ///
    /// # Errors
    /// As [`Entries::read`].
    fn find(&self, address: &ContentAddress) -> Result<Option<u32>, Self::Error>;

    /// Returns whether what was learned from reading every grain once still holds. If not, grains
    /// read as `None` now that could be read before, and they are to be read once more.
    ///
    /// # Errors
    /// As [`Entries::read`].
    fn is_settled(&self) -> Result<bool, Self::Error> {
        Ok(true)
    }

    /// Returns the name of the person with a user id: the id itself, or the first in order of all that
    /// are said to be the same person.
    ///
    /// # Errors
    /// As [`Entries::read`].
    fn person(&self, user: &str) -> Result<String, Self::Error> {
        Ok(user.to_owned())
    }

    /// Returns the legal holds on one, for a writer that writes them; those of which no writer asks are
    /// lost.
    fn holds(&self, _of: &ContentAddress) -> Vec<RecordedAuthorization> {
        Vec::new()
    }

    /// Reads the newest vector of one, if it has any and the export is to have it.
    ///
    /// # Errors
    /// As [`Entries::read`].
    fn vector(&self, _number: u32) -> Result<Option<StoredVector>, Self::Error> {
        Ok(None)
    }
}

impl Entries for [Entry] {
    type Error = Error;

    fn count(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    fn read(&self, number: u32) -> Result<Option<Entry>, Error> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        Ok(self.get(at).cloned())
    }

    fn find(&self, address: &ContentAddress) -> Result<Option<u32>, Error> {
        let at = self
            .iter()
            .position(|(grain, _)| grain.address() == *address);
        Ok(at.and_then(|at| u32::try_from(at).ok()))
    }
}

impl Entries for Vec<Entry> {
    type Error = Error;

    fn count(&self) -> u32 {
        self.as_slice().count()
    }

    fn read(&self, number: u32) -> Result<Option<Entry>, Error> {
        self.as_slice().read(number)
    }

    fn find(&self, address: &ContentAddress) -> Result<Option<u32>, Error> {
        self.as_slice().find(address)
    }
}

/// Reads the grains to learn what belongs together: twice if the first reading does not hold.
pub(crate) fn surveyed<E: Entries + ?Sized, T>(
    entries: &E,
    survey: impl Fn() -> Result<T, E::Error>,
) -> Result<T, E::Error> {
    let first = survey()?;
    if entries.is_settled()? {
        return Ok(first);
    }
    drop(first);
    survey()
}

/// Reads some of the grains: `make` is called on several threads, `take` with the results in order.
pub(crate) fn each<E: Entries + ?Sized, T: Send>(
    entries: &E,
    numbers: impl IntoIterator<Item = u32>,
    make: impl Fn(u32, Entry) -> Result<T, E::Error> + Sync,
    mut take: impl FnMut(T) -> Result<(), E::Error>,
) -> Result<(), E::Error> {
    let mut numbers = numbers.into_iter();
    let read = |number: u32| match entries.read(number)? {
        Some(entry) => make(number, entry).map(Some),
        None => Ok(None),
    };
    loop {
        let window: Vec<u32> = numbers.by_ref().take(WINDOW_COUNT).collect();
        if window.is_empty() {
            return Ok(());
        }
        let taken = AtomicUsize::new(0);
        let made = |number: &u32| {
            // The rest of a window of large grains is read one by one.
            if taken.load(Ordering::Relaxed) > WINDOW_LEN_MAX {
                return Ok(None);
            }
            let Some(entry) = entries.read(*number)? else {
                return Ok(Some(None));
            };
            taken.fetch_add(entry.0.blob().len(), Ordering::Relaxed);
            make(*number, entry).map(|made| Some(Some(made)))
        };
        for (number, made) in window.iter().zip(map_in_parallel(&window, made)) {
            let made = match made? {
                Some(made) => made,
                None => read(*number)?,
            };
            if let Some(made) = made {
                take(made)?;
            }
        }
    }
}

/// The number of grains that are read at once, and their most bytes.
const WINDOW_COUNT: usize = 512;
const WINDOW_LEN_MAX: usize = 1024 * 1024;

/// The numbers of grains by the hashes of their names.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pairs: Vec<([u8; 32], u32)>,
}

impl Numbers {
    pub(crate) fn add(&mut self, hash: ContentAddress, number: u32) {
        self.pairs.push((*hash.as_bytes(), number));
    }

    /// Sorts them; called before the first is asked for.
    pub(crate) fn sort(&mut self) {
        self.pairs.sort_unstable();
    }

    /// Returns the first number of a hash.
    pub(crate) fn get(&self, hash: &ContentAddress) -> Option<u32> {
        let hash = hash.as_bytes();
        let at = self.pairs.partition_point(|(known, _)| known < hash);
        let (known, number) = self.pairs.get(at)?;
        (known == hash).then_some(*number)
    }

    /// Returns the first number of a name.
    pub(crate) fn named(&self, name: &str) -> Option<u32> {
        self.get(&ContentAddress::of(name.as_bytes()))
    }
}

/// The time of the newest grain.
#[derive(Debug, Default)]
pub(crate) struct Newest(Option<Time>);

impl Newest {
    pub(crate) fn add(&mut self, time: Time) {
        self.0 = self.0.max(Some(time));
    }

    /// Returns the time of an export: the given one, or that of the newest grain.
    pub(crate) fn or(&self, given: Option<Time>) -> Time {
        given.or(self.0).unwrap_or_default()
    }
}

//! `Store::changes`: the entries of the ledger in their order, for programs that follow a store:
//! replicas, caches, user interfaces.
//!
//! The feed has no state of its own: the number of the next entry is all that a caller keeps.

use std::time::Duration;

use crate::grain::Time;
use crate::ledger::EntryId;
use crate::store::read::{change_at, entry_at, read_recorder, unless_erased};
use crate::store::{Access, Change, Changed};

use super::plan::{conditions_of, rows};
use super::visible::narrow;
use super::{Error, Filter};

/// The acknowledged entries of a store from one on, oldest first: see [`Store::changes`](crate::Store::changes).
///
/// It ends where the store ends, and goes on after that when there is more.
///
/// ```
/// use std::time::Duration;
/// use grainstore::ledger::EntryId;
/// use grainstore::store::Changed;
/// use grainstore::{Draft, Filter, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::belief("user", "prefers", "tea").confidence(0.9))?;
/// let mut changes = store.changes(EntryId::FIRST).matching(Filter::new().subject("user"));
/// for change in &mut changes {
///     let Changed::Stored(version) = change?.what else { continue };
///     assert_eq!(version.grain.text("object"), Some("tea"));
/// }
/// assert!(!changes.wait(Duration::ZERO));
/// store.put(Draft::event("of nobody"))?;
/// assert!(changes.wait(Duration::ZERO));
/// assert!(changes.next().is_none());
/// assert_eq!(changes.position(), EntryId::new(2));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the feed is read by iterating"]
pub struct Changes {
    store: Access,
    next: EntryId,
    filter: Option<Filter>,
}

/// See [`Store::changes`](crate::Store::changes).
pub(crate) fn changes(store: &Access, from: EntryId) -> Changes {
    Changes {
        store: store.clone(),
        next: from,
        filter: None,
    }
}

impl Changes {
    /// Keeps only grains that were stored and that a query with this filter would return now.
    pub fn matching(self, filter: Filter) -> Self {
        Self {
            filter: Some(filter),
            ..self
        }
    }

    /// Leaves out what was written before a time.
    ///
    /// ```
    /// use grainstore::ledger::EntryId;
    /// use grainstore::{Draft, Options, Store, Time};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("hello"))?;
    /// assert_eq!(store.changes(EntryId::FIRST).since(Time::from_ms(0))?.count(), 1);
    /// let later = Time::from_ms(i64::MAX);
    /// assert_eq!(store.changes(EntryId::FIRST).since(later)?.count(), 0);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn since(self, time: Time) -> Result<Self, Error> {
        let next = self.next.max(entry_at(&self.store, time)?);
        Ok(Self { next, ..self })
    }

    /// Returns the number of the next entry: a feed from there goes on where this one is.
    pub const fn position(&self) -> EntryId {
        self.next
    }

    /// Returns the number of the entry that the store acknowledges next: a feed from there shows what
    /// is new from now on.
    pub fn end(&self) -> EntryId {
        EntryId::new(self.store.snapshot().watermark())
    }

    /// Looks at up to `entries` entries and returns those that the caller sees, so that a step takes a
    /// bounded time however few they are. Iterating looks for the next one instead, at any distance.
    ///
    /// ```
    /// use grainstore::ledger::EntryId;
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// for text in ["of mira", "of bob", "of mira again"] {
    ///     store.put(Draft::event(text).user(text.split(' ').nth(1).unwrap_or_default()))?;
    /// }
    /// let mut changes = store.changes(EntryId::FIRST).matching(Filter::new().user("bob"));
    /// assert_eq!(changes.step(1).count(), 0);
    /// assert_eq!(changes.step(1).count(), 1);
    /// assert_eq!(changes.position(), EntryId::new(2));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// Dropped half-way, the step ends there, and the next one goes on behind it.
    pub fn step(&mut self, entries: u64) -> impl Iterator<Item = Result<Change, Error>> + '_ {
        let end = self.next.get().saturating_add(entries);
        let end = EntryId::new(end.min(self.end().get()));
        std::iter::from_fn(move || self.next_before(end))
    }

    /// Waits up to `timeout` until there is an entry at [`position`](Self::position), whether the
    /// handle sees it or not, and returns whether there is one.
    pub fn wait(&self, timeout: Duration) -> bool {
        let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
        loop {
            if self.next.get() < self.store.snapshot().watermark() {
                return true;
            }
            let rest = timeout.saturating_sub(waited);
            if rest.is_zero() {
                return false;
            }
            self.store.pause(pause.min(rest));
            waited = waited.saturating_add(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn next_before(&mut self, end: EntryId) -> Option<Result<Change, Error>> {
        while self.next < end {
            let row = self.next;
            self.next = row.next();
            if let Some(change) = self.change(row).transpose() {
                return Some(change);
            }
        }
        None
    }

    /// Returns the change of the entry `row`, unless the caller does not see it or did not ask for it.
    fn change(&self, row: EntryId) -> Result<Option<Change>, Error> {
        // A grain lives on when its status entry is erased with its successor.
        unless_erased(|| self.change_once(row))
    }

    fn change_once(&self, row: EntryId) -> Result<Option<Change>, Error> {
        let snapshot = self.store.snapshot();
        let Some(change) = change_at(&self.store, &snapshot, row)? else {
            return Ok(None);
        };
        if let Some(filter) = &self.filter {
            let Changed::Stored(version) = &change.what else {
                return Ok(None);
            };
            let filter = match self.store.capability() {
                Some(capability) => narrow(capability, filter),
                None => Some(filter.clone()),
            };
            let Some(filter) = filter else {
                return Ok(None);
            };
            let filter = filter.among([version.grain.address()]);
            let is_found = rows(&self.store, &snapshot, &filter)?.contains(row);
            // The index holds hashes of terms.
            let mut conditions = conditions_of(&self.store, &snapshot, &filter)?.into_iter();
            if !is_found || !conditions.all(|condition| condition.holds(version)) {
                return Ok(None);
            }
        }
        if let Changed::Stored(version) = &change.what {
            let read = std::iter::once(&version.grain);
            read_recorder(&self.store, "changes").all(read)?;
        }
        Ok(Some(change))
    }
}

impl Iterator for Changes {
    /// After an error the feed goes on behind the entry that it is about.
    type Item = Result<Change, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let end = self.end();
            if self.next >= end {
                return None;
            }
            if let Some(change) = self.next_before(end) {
                return Some(change);
            }
        }
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// How late news of another process may be for a caller who has waited for long.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

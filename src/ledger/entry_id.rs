//! The identifier of an entry: its sequence number in the ledger.
//!
//! The one type for it in all rooms. A number of entries (a length, a watermark) stays a plain `u64`.

use std::fmt;
use std::ops::Range;

/// The sequence number of a ledger entry, counted from 0 without gaps.
///
/// Index, text view and vectors call it a row: a row is the entry that holds a grain, or an entry
/// about one, so both names are of this type. A ledger of `len` entries ends before
/// `EntryId::new(len)`.
///
/// ```
/// use grainstore::ledger::EntryId;
///
/// let id = EntryId::new(7);
/// assert_eq!((id.get(), id.next().before()), (7, Some(id)));
/// assert_eq!(EntryId::FIRST.before(), None);
/// assert!(EntryId::all(&(id..id.next())).eq([id]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct EntryId(u64);

impl EntryId {
    /// The first entry of a ledger.
    pub const FIRST: Self = Self(0);

    /// Wraps a sequence number.
    pub const fn new(sequence: u64) -> Self {
        Self(sequence)
    }

    /// Returns the sequence number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the entry after this one; the highest number has none and returns itself.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the entry before this one; `None` for the first.
    pub const fn before(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(before) => Some(Self(before)),
            None => None,
        }
    }

    /// Returns the entries of a range, lowest first.
    pub fn all(range: &Range<Self>) -> impl DoubleEndedIterator<Item = Self> + use<> {
        (range.start.0..range.end.0).map(Self)
    }
}

impl From<u64> for EntryId {
    fn from(sequence: u64) -> Self {
        Self(sequence)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

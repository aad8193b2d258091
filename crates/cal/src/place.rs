//! Where something stands in a statement.

use serde::{Deserialize, Serialize};

/// A range of bytes of a statement. Two statements that differ only in places are equal, so a
/// place equals every other.
///
/// ```
/// use grainstore_cal::parse;
///
/// assert_eq!(parse("RECALL   beliefs"), parse("RECALL beliefs"));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct At {
    /// The first byte.
    pub start: usize,
    /// The byte after the last; 0 for what was not read from text.
    pub end: usize,
}

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl At {
    /// Returns the range from here to the end of another.
    pub(crate) fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end.max(self.end),
        }
    }

    /// Returns the line and the column, both from 1, in characters.
    pub(crate) fn line_and_column(self, source: &str) -> (usize, usize) {
        let before = source.get(..self.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or_default();
        (line, last.chars().count() + 1)
    }
}

/// A part of a statement with its place.
///
/// ```
/// use grainstore_cal::Placed;
///
/// assert_eq!(Placed::from(1).it, 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Placed<T> {
    /// The place.
    #[serde(skip)]
    pub at: At,
    /// The part.
    pub it: T,
}

impl<T> From<T> for Placed<T> {
    fn from(it: T) -> Self {
        Self {
            at: At::default(),
            it,
        }
    }
}

impl<T> Placed<T> {
    pub(crate) const fn new(at: At, it: T) -> Self {
        Self { at, it }
    }
}

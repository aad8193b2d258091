//! A disk that fails.

use std::io::ErrorKind;

/// Which operations fail, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) side: Side,
    /// The first operation of its side that fails, counted from 0.
    pub(crate) at: u64,
    pub(crate) lasts: Lasts,
    pub(crate) how: How,
    pub(crate) kind: ErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Everything that changes something.
    Write,
    /// What needs room: creations, and writes that make a file longer.
    Growth,
    Read,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    Once,
    ForEver,
    /// For so many operations of its side.
    Operations(u64),
}

/// What a failing operation does before it reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    NotApplied,
    Applied,
    Half,
}

impl Fault {
    /// Returns whether the operation with this number fails.
    pub(crate) fn fires(&self, nth: u64) -> bool {
        match self.lasts {
            Lasts::Once => nth == self.at,
            Lasts::ForEver => nth >= self.at,
            Lasts::Operations(count) => (self.at..self.at.saturating_add(count)).contains(&nth),
        }
    }
}

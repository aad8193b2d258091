//! The history of a schedule: the entries of the ledger in their order, as they were published, and
//! how many of them were shown or acknowledged by which operation of the disk.
//!
//! A plain fold over the entries says what each answer may be.

use grainstore::ledger::EntryId;
use grainstore::query::Changes;
use grainstore::store::Changed;
use grainstore::{ContentAddress, Error, Store};

/// An entry, as a change feed tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    Stored {
        address: ContentAddress,
        /// The grain that it replaces.
        replaces: Option<ContentAddress>,
    },
    Status(ContentAddress),
    Erasing(Vec<usize>),
    Erased,
    Other,
}

/// The history, written down by a reader that takes no part in the schedule.
#[derive(Debug)]
pub(super) struct History {
    feed: Changes,
    pub(super) entries: Vec<Told>,
    /// After this many operations of the disk, so many entries had been shown or acknowledged.
    pub(super) shown: Vec<(usize, usize)>,
}

/// The grains at one moment, in the order in which they were stored.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Model {
    /// Those that were not replaced.
    pub(super) current: Vec<ContentAddress>,
    pub(super) all: Vec<ContentAddress>,
}

impl History {
    pub(super) fn new(reader: &Store) -> Self {
        Self {
            feed: reader.changes(EntryId::FIRST),
            entries: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Writes down what was published since, and returns the number of entries.
    pub(super) fn look(&mut self) -> Result<usize, String> {
        let news = told(&mut self.feed).map_err(|error| format!("the reader: {error}"))?;
        self.entries.extend(news);
        Ok(self.entries.len())
    }

    /// Returns the number of the entry that stored a grain.
    pub(super) fn entry_of(&self, address: &ContentAddress) -> Option<usize> {
        let mut entries = self.entries.iter();
        entries.position(|entry| matches!(entry, Told::Stored { address: of, .. } if of == address))
    }

    /// Returns the model after the first `len` entries.
    pub(super) fn model(&self, len: usize) -> Model {
        let mut model = Model::default();
        let mut ended = Vec::new();
        for entry in self.entries.iter().take(len) {
            match entry {
                Told::Stored { address, .. } => model.all.push(*address),
                Told::Status(of) => ended.push(*of),
                Told::Erasing(rows) => {
                    let gone = self.stored_at(rows);
                    model.all.retain(|address| !gone.contains(address));
                }
                Told::Erased | Told::Other => {}
            }
        }
        model.current.clone_from(&model.all);
        model.current.retain(|address| !ended.contains(address));
        model
    }

    /// Returns the grains that the first `len` entries erase.
    pub(super) fn erased(&self, len: usize) -> Vec<ContentAddress> {
        let entries = self.entries.iter().take(len);
        let erased = entries.flat_map(|entry| self.stored_at(&entry.erases()));
        erased.collect()
    }

    fn stored_at(&self, rows: &[usize]) -> Vec<ContentAddress> {
        let entries = rows.iter().filter_map(|row| self.entries.get(*row));
        let stored = entries.filter_map(|entry| match entry {
            Told::Stored { address, .. } => Some(*address),
            _ => None,
        });
        stored.collect()
    }

    /// Returns the present model.
    pub(super) fn now(&self) -> Model {
        self.model(self.entries.len())
    }

    /// Holds the first `len` of what a feed told from entry `from` on to the history. An erasure behind
    /// them may have been begun by a process that died, and completed by the recovery.
    pub(super) fn compare(&self, from: usize, told: &[Told], len: usize) -> Result<(), String> {
        let erased: Vec<usize> = self.entries.iter().flat_map(Told::erases).collect();
        let erased_there: Vec<usize> = told.iter().flat_map(Told::erases).collect();
        for (row, found) in (from..).zip(told.iter().take(len)) {
            let Some(known) = self.entries.get(row) else {
                break;
            };
            let may_be_gone = erased.contains(&row) || erased_there.contains(&row);
            let is_same = known == found
                || (may_be_gone && (*found == Told::Erased || *known == Told::Erased));
            if !is_same {
                return Err(format!("entry {row} is {found:?}, and was {known:?}"));
            }
        }
        Ok(())
    }

    /// Returns a grain that was replaced twice.
    pub(super) fn replaced_twice(&self) -> Option<ContentAddress> {
        let replaced = |entry: &Told| match entry {
            Told::Stored { replaces, .. } => *replaces,
            _ => None,
        };
        let mut seen = Vec::new();
        self.entries.iter().filter_map(replaced).find(|of| {
            let is_there = seen.contains(of);
            seen.push(*of);
            is_there
        })
    }
}

impl Told {
    fn erases(&self) -> Vec<usize> {
        match self {
            Self::Erasing(rows) => rows.clone(),
            _ => Vec::new(),
        }
    }

    fn of(what: Changed) -> Self {
        match what {
            Changed::Stored(version) => Self::Stored {
                address: version.grain.address(),
                replaces: version.grain.derived_from().next(),
            },
            Changed::Status(of) => Self::Status(of),
            Changed::Erasing(rows) => {
                let rows = rows.iter().map(|row| usize::try_from(row.get()));
                Self::Erasing(rows.flatten().collect())
            }
            Changed::Erased => Self::Erased,
            _ => Self::Other,
        }
    }
}

/// Returns what a feed tells, up to its end.
pub(super) fn told(feed: &mut Changes) -> Result<Vec<Told>, Error> {
    feed.map(|change| Ok(Told::of(change?.what))).collect()
}

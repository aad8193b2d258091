//! The items that a file had before, by their ids: which come again, and the grains of turns that later
//! ones answer.
//!
//! The first reading of a file keeps all of them, since any may be named at its end. It notes which items
//! came again and which turns were named long after they were said; a reading after it, beside which a store
//! grows, keeps these and the newest alone.

use std::collections::HashMap;
use std::hash::Hash;

use crate::codec::ContentAddress;
use crate::interchange::model::compact_table::CompactTable;

/// The notes of the first reading of a file for those after it.
#[derive(Default)]
pub(super) struct Notes {
    /// The numbers of the items whose id came before, in their order.
    again: Vec<u64>,
    /// The turns that were named long after they were said.
    late: CompactTable<()>,
}

/// The items of one reading of a file.
pub(super) struct Known<'a> {
    reading: Reading<'a>,
    /// The number of the next item.
    number: u64,
    /// The grains of the newest turns, of those before them, and of the others that are kept.
    newest: HashMap<u64, ContentAddress>,
    before: HashMap<u64, ContentAddress>,
    older: CompactTable<ContentAddress>,
}

enum Reading<'a> {
    First {
        ids: CompactTable<()>,
        notes: Notes,
    },
    Later {
        notes: &'a Notes,
        /// How many of the items that come again were met.
        met: usize,
    },
}

impl<'a> Known<'a> {
    /// Begins the first reading, or with the notes of the first a later one.
    pub(super) fn new(notes: Option<&'a Notes>) -> Self {
        let reading = match notes {
            Some(notes) => Reading::Later { notes, met: 0 },
            None => Reading::First {
                ids: CompactTable::new(),
                notes: Notes::default(),
            },
        };
        Self {
            reading,
            number: 0,
            newest: HashMap::new(),
            before: HashMap::new(),
            older: CompactTable::new(),
        }
    }

    /// Returns the notes of a first reading.
    pub(super) fn into_notes(self) -> Notes {
        match self.reading {
            Reading::First { notes, .. } => notes,
            Reading::Later { .. } => Notes::default(),
        }
    }

    /// Takes the next item; returns whether its id is new.
    pub(super) fn is_new(&mut self, id: impl Hash) -> bool {
        let number = self.number;
        self.number = number.saturating_add(1);
        match &mut self.reading {
            Reading::First { ids, notes } => {
                let is_new = ids.add(ids.key(id));
                if !is_new {
                    notes.again.push(number);
                }
                is_new
            }
            Reading::Later { notes, met } => {
                let is_again = notes.again.get(*met) == Some(&number);
                *met = met.saturating_add(usize::from(is_again));
                !is_again
            }
        }
    }

    /// Returns the grain of a turn.
    pub(super) fn grain_of(&mut self, turn: impl Hash) -> Option<ContentAddress> {
        let key = self.key(turn);
        if let Some(grain) = self.newest.get(&key).or_else(|| self.before.get(&key)) {
            return Some(*grain);
        }
        let grain = *self.older.get(key)?;
        if let Reading::First { notes, .. } = &mut self.reading {
            notes.late.add(key);
        }
        Some(grain)
    }

    /// Notes the grain of a turn.
    pub(super) fn insert(&mut self, turn: impl Hash, grain: ContentAddress) {
        let key = self.key(turn);
        self.newest.insert(key, grain);
        if self.newest.len() < NEWEST_MAX {
            return;
        }
        let newest = std::mem::take(&mut self.newest);
        for (key, grain) in std::mem::replace(&mut self.before, newest) {
            let is_kept = match &self.reading {
                Reading::First { .. } => true,
                Reading::Later { notes, .. } => notes.late.get(key).is_some(),
            };
            match self.older.get_mut(key) {
                Some(known) => *known = grain,
                None if is_kept => self.older.insert(key, grain),
                None => {}
            }
        }
    }

    /// Returns the key of a turn, the same in all readings of a file.
    fn key(&self, turn: impl Hash) -> u64 {
        match &self.reading {
            Reading::First { notes, .. } => notes.late.key(turn),
            Reading::Later { notes, .. } => notes.late.key(turn),
        }
    }
}

/// More than the turns between a question and most of its answers.
const NEWEST_MAX: usize = if cfg!(test) { 4 } else { 16_384 };

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u64) -> ContentAddress {
        ContentAddress::of(&number.to_be_bytes())
    }

    /// The findings of a reading of items: of each whether its id is new, and the turn that it names.
    fn read(known: &mut Known<'_>, items: &[(u64, u64)]) -> Vec<(bool, Option<ContentAddress>)> {
        let mut found = Vec::new();
        for (id, names) in items {
            let named = known.grain_of(names);
            let is_new = known.is_new(id);
            if is_new {
                known.insert(id, address(*id));
            }
            found.push((is_new, named));
        }
        found
    }

    proptest::proptest! {
        #[test]
        fn a_later_reading_finds_what_the_first_found(
            items in proptest::collection::vec((0_u64..40, 0_u64..40), 0..120),
        ) {
            let mut first = Known::new(None);
            let expected = read(&mut first, &items);
            let notes = first.into_notes();
            let mut later = Known::new(Some(&notes));
            proptest::prop_assert_eq!(read(&mut later, &items), expected);
        }
    }

    #[test]
    fn a_later_reading_keeps_the_turns_that_are_named_late_and_the_newest() {
        // Each names the one before it, and the last one the first.
        let mut items: Vec<(u64, u64)> = (1..100).map(|id| (id, id - 1)).collect();
        items.push((100, 1));
        let mut first = Known::new(None);
        let found = read(&mut first, &items);
        assert_eq!(found.last(), Some(&(true, Some(address(1)))));
        let notes = first.into_notes();
        let mut later = Known::new(Some(&notes));
        assert_eq!(read(&mut later, &items), found);
        let kept = (0_u64..100).filter(|id| later.older.get(later.key(id)).is_some());
        assert_eq!(kept.collect::<Vec<_>>(), [1]);
        assert!(later.newest.len() + later.before.len() <= 2 * NEWEST_MAX);
    }
}

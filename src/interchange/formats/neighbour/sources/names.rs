//! The names that a file gives to ids, which its other elements use.

use std::hash::Hash;

use crate::interchange::model::compact_table::CompactTable;

/// Names by their ids.
#[derive(Default)]
pub(super) struct Names {
    /// One after the other.
    text: String,
    places: CompactTable<(usize, usize)>,
}

impl Names {
    /// Adds a name, unless the id has one or there are too many: an id without a name stands for itself.
    pub(super) fn add(&mut self, id: impl Hash, name: &str) {
        let start = self.text.len();
        let end = start.saturating_add(name.len());
        let key = self.places.key(id);
        if end <= NAMES_LEN_MAX && self.places.get(key).is_none() {
            self.text.push_str(name);
            self.places.insert(key, (start, end));
        }
    }

    pub(super) fn get(&self, id: impl Hash) -> Option<&str> {
        let (start, end) = *self.places.get(self.places.key(id))?;
        self.text.get(start..end)
    }
}

/// The names of about a million ids.
const NAMES_LEN_MAX: usize = 32 * 1024 * 1024;

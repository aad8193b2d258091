//! The count of values that a conversion could not carry.

use std::collections::{BTreeMap, BTreeSet};

/// The values that a conversion could not carry, counted by field.
///
/// ```
/// use grainstore::interchange::Loss;
///
/// let mut loss = Loss::default();
/// loss.count("lifecycle");
/// loss.count("lifecycle");
/// assert_eq!(loss.iter().collect::<Vec<_>>(), [("lifecycle", 2)]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loss {
    fields: BTreeMap<String, u64>,
    damaged: BTreeSet<u64>,
}

impl Loss {
    /// Counts one value of a field that was not normalize_text.
    pub fn count(&mut self, field: &str) {
        let slot = self.fields.entry(field.to_owned()).or_default();
        *slot = slot.saturating_add(1);
    }

    /// Adds the losses of another conversion.
    pub fn merge(&mut self, other: &Self) {
        for (field, count) in &other.fields {
            let slot = self.fields.entry(field.clone()).or_default();
            *slot = slot.saturating_add(*count);
        }
        self.damaged.extend(&other.damaged);
    }

    /// Returns the fields with their counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.fields
            .iter()
            .map(|(field, count)| (field.as_str(), *count))
    }

    /// Returns whether everything was normalize_text.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.damaged.is_empty()
    }

    /// Adds a ledger entry whose grain is left out because its bytes are damaged.
    pub(crate) fn add_damaged(&mut self, entry: u64) {
        self.damaged.insert(entry);
    }

    /// Returns the ledger entries whose grains are left out because their bytes are damaged.
    pub fn damaged(&self) -> impl Iterator<Item = u64> {
        self.damaged.iter().copied()
    }
}

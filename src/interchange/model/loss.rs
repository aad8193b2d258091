//! The count of values that a conversion could not carry.

use std::collections::{BTreeMap, BTreeSet};

use super::diagnostics::DIAGNOSTICS_MAX;

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
    /// Counts one value of a field that was not carried.
    pub fn count(&mut self, field: &str) {
        self.add(field, 1);
    }

    /// Adds the losses of another conversion.
    pub fn merge(&mut self, other: &Self) {
        for (field, count) in &other.fields {
            self.add(field, *count);
        }
        self.damaged.extend(&other.damaged);
    }

    fn add(&mut self, field: &str, count: u64) {
        let is_full = self.fields.len() >= DIAGNOSTICS_MAX && !self.fields.contains_key(field);
        let name = if is_full { OTHERS } else { field };
        let slot = self.fields.entry(name.to_owned()).or_default();
        *slot = slot.saturating_add(count);
    }

    /// Returns the fields with their counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.fields
            .iter()
            .map(|(field, count)| (field.as_str(), *count))
    }

    /// Returns whether everything was carried.
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

/// Counts the fields past the limit: a file may have a name of its own for every value.
const OTHERS: &str = "other fields";

//! The count of values that a conversion could not carry.

use std::collections::BTreeMap;

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
pub struct Loss(BTreeMap<String, u64>);

impl Loss {
    /// Counts one value of a field that was not normalize_text.
    pub fn count(&mut self, field: &str) {
        self.add(field, 1);
    }

    /// Adds the losses of another conversion.
    pub fn merge(&mut self, other: &Self) {
        for (field, count) in &other.0 {
            self.add(field, *count);
        }
    }

    fn add(&mut self, field: &str, count: u64) {
        let is_full = self.0.len() >= DIAGNOSTICS_MAX && !self.0.contains_key(field);
        let name = if is_full { OTHERS } else { field };
        let slot = self.0.entry(name.to_owned()).or_default();
        *slot = slot.saturating_add(count);
    }

    /// Returns the fields with their counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(field, count)| (field.as_str(), *count))
    }

    /// Returns whether everything was normalize_text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Counts the fields past the limit: a file may have a name of its own for every value.
const OTHERS: &str = "other fields";

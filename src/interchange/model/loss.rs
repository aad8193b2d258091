//! The count of values that a conversion could not carry.

use std::collections::BTreeMap;

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
        let slot = self.0.entry(field.to_owned()).or_default();
        *slot = slot.saturating_add(1);
    }

    /// Adds the losses of another conversion.
    pub fn merge(&mut self, other: &Self) {
        for (field, count) in &other.0 {
            let slot = self.0.entry(field.clone()).or_default();
            *slot = slot.saturating_add(*count);
        }
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

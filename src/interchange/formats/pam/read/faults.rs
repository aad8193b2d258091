//! The violations of a store, grouped: they are reported in the order of the groups.

use super::super::code;
use super::super::names::ARRAYS;
use super::super::types::object::fault;
use super::validated::Validated;
use crate::interchange::Diagnostics;

/// The violations of a store.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) wide: Diagnostics,
    pub(crate) head: Diagnostics,
    pub(crate) records: [OfRecords; 3],
    /// Missing members and duplicate ids.
    pub(crate) ids: Diagnostics,
    pub(crate) integrity: Diagnostics,
    /// References between records. They are reported only if every record is valid: an invalid one
    /// would make each reference to it a second violation.
    pub(crate) references: Diagnostics,
    /// Violations that no grain depends on: of the schema, and of other rules.
    pub(crate) schema: Diagnostics,
    pub(crate) rules: Diagnostics,
    /// The same between records.
    pub(crate) between: Diagnostics,
    /// Advice, which is never an error.
    pub(crate) advice: Diagnostics,
}

/// The violations of the records of one array.
#[derive(Default)]
pub(crate) struct OfRecords {
    pub(crate) read: Diagnostics,
    schema: Diagnostics,
    rules: Diagnostics,
}

impl Faults {
    /// Returns whether every record is valid by itself, and the whole is.
    pub(crate) fn is_sound(&self) -> bool {
        let whole = [&self.wide, &self.head, &self.ids, &self.integrity];
        let records = self.records.iter().map(|it| &it.read);
        whole.into_iter().chain(records).all(Diagnostics::is_empty)
    }

    /// Adds the violations of a record; returns the valid one.
    pub(crate) fn keep<T>(&mut self, seen: Validated<T>, array: usize) -> Option<T> {
        self.wide.extend(seen.wide);
        let of = self.records.get_mut(array)?;
        of.schema.append(seen.schema);
        of.rules.append(seen.rules);
        of.read.keep(seen.read)
    }

    pub(crate) fn add_duplicate(&mut self, array: usize, number: u64) {
        let name = ARRAYS.get(array).unwrap_or(&"");
        let at = format!("/{name}/{number}/id");
        self.ids
            .push(fault(code::DUPLICATE_ID, at, "another one has this id"));
    }

    /// Takes the errors of single records, and the violations that need not refuse the store.
    pub(crate) fn split(&mut self) -> (Diagnostics, Diagnostics) {
        let take = std::mem::take;
        let (mut faults, mut non_fatal) = (take(&mut self.wide), take(&mut self.schema));
        faults.append(take(&mut self.head));
        let mut rules = take(&mut self.rules);
        for of in &mut self.records {
            faults.append(take(&mut of.read));
            non_fatal.append(take(&mut of.schema));
            rules.append(take(&mut of.rules));
        }
        faults.append(take(&mut self.ids));
        faults.append(take(&mut self.integrity));
        non_fatal.append(rules);
        (faults, non_fatal)
    }
}

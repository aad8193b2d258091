//! The violations of a store, grouped: they are reported in the order of the groups.

use std::collections::HashSet;

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
    /// The numbers of the records of each array that are invalid by themselves, and not read.
    pub(crate) excluded: [HashSet<u64>; 3],
    /// Violations of the file as a whole, after which none of its records is read.
    of_file: bool,
}

/// The violations of the records of one array.
#[derive(Default)]
pub(crate) struct OfRecords {
    pub(crate) read: Diagnostics,
    schema: Diagnostics,
    rules: Diagnostics,
}

impl Faults {
    /// Returns whether the file as a whole is valid, so that its valid records can be read.
    pub(crate) fn is_readable(&self) -> bool {
        !self.of_file && self.head.is_empty() && self.integrity.is_empty()
    }

    /// Returns whether every record is valid by itself, and the whole is.
    pub(crate) fn is_sound(&self) -> bool {
        self.is_readable() && self.excluded.iter().all(HashSet::is_empty)
    }

    /// Notes a violation of the file as a whole, which is already listed.
    pub(crate) const fn refuse_file(&mut self) {
        self.of_file = true;
    }

    /// Adds the violations of a record; returns the valid one.
    pub(crate) fn keep<T>(&mut self, seen: Validated<T>, array: usize, number: u64) -> Option<T> {
        let is_wide = !seen.wide.is_empty();
        self.wide.extend(seen.wide);
        let of = self.records.get_mut(array)?;
        of.schema.append(seen.schema);
        of.rules.append(seen.rules);
        let read = of.read.keep(seen.read).filter(|_| !is_wide);
        if read.is_none() {
            self.exclude(array, number);
        }
        read
    }

    pub(crate) fn exclude(&mut self, array: usize, number: u64) {
        if let Some(excluded) = self.excluded.get_mut(array) {
            excluded.insert(number);
        }
    }

    pub(crate) fn add_duplicate(&mut self, array: usize, number: u64) {
        self.exclude(array, number);
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

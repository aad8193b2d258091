use super::super::types::object::fault;
use super::super::{ARRAYS, code};
use super::validated::Validated;
use crate::interchange::Diagnostics;

/// What is wrong, by what it is wrong with: it is told in this order.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) wide: Diagnostics,
    pub(crate) head: Diagnostics,
    pub(crate) records: [OfRecords; 3],
    /// What is missing, or comes twice.
    pub(crate) ids: Diagnostics,
    pub(crate) integrity: Diagnostics,
    /// What records say about each other. It is only told where every record could be read: an
    /// unreadable one would make each reference to it a second fault.
    pub(crate) references: Diagnostics,
    /// What breaks a rule that no grain depends on.
    pub(crate) schema: Diagnostics,
    pub(crate) rules: Diagnostics,
    /// Such a rule between records.
    pub(crate) between: Diagnostics,
    /// What is advice.
    pub(crate) advice: Diagnostics,
}

/// What is wrong with the records of one array.
#[derive(Default)]
pub(crate) struct OfRecords {
    pub(crate) read: Diagnostics,
    schema: Diagnostics,
    rules: Diagnostics,
}

impl Faults {
    /// Returns whether nothing is wrong with any record by itself, or with the whole.
    pub(crate) fn is_sound(&self) -> bool {
        let whole = [&self.wide, &self.head, &self.ids, &self.integrity];
        let records = self.records.iter().map(|it| &it.read);
        whole.into_iter().chain(records).all(Diagnostics::is_empty)
    }

    /// Keeps what a record of an array says.
    pub(crate) fn keep<T>(&mut self, seen: Validated<T>, array: usize) -> Option<T> {
        self.wide.extend(seen.wide);
        let of = self.records.get_mut(array)?;
        of.schema.extend(seen.schema);
        of.rules.extend(seen.rules);
        of.read.keep(seen.read)
    }

    pub(crate) fn twice(&mut self, array: usize, number: u64) {
        let name = ARRAYS.get(array).unwrap_or(&"");
        let at = format!("/{name}/{number}/id");
        self.ids
            .push(fault(code::DUPLICATE_ID, at, "another one has this id"));
    }

    /// Takes out what is wrong with single records, and what is non_fatal about them.
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

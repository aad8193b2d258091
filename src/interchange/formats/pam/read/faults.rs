use super::super::types::object::fault;
use super::super::{ARRAYS, code};
use super::told::Diagnostics;
use super::validated::Validated;

/// What is wrong, by what it is wrong with: it is told in this order.
#[derive(Default)]
pub(in crate::interchange) struct Faults {
    pub(in crate::interchange) wide: Diagnostics,
    pub(in crate::interchange) head: Diagnostics,
    pub(in crate::interchange) records: [OfRecords; 3],
    /// What is missing, or comes twice.
    pub(in crate::interchange) ids: Diagnostics,
    pub(in crate::interchange) integrity: Diagnostics,
    /// What records say about each other. It is only told where every record could be read: an
    /// unreadable one would make each reference to it a second fault.
    pub(in crate::interchange) references: Diagnostics,
    /// What breaks a rule that no grain depends on.
    pub(in crate::interchange) schema: Diagnostics,
    pub(in crate::interchange) rules: Diagnostics,
    /// Such a rule between records.
    pub(in crate::interchange) between: Diagnostics,
    /// What is advice.
    pub(in crate::interchange) advice: Diagnostics,
}

/// What is wrong with the records of one array.
#[derive(Default)]
pub(in crate::interchange) struct OfRecords {
    pub(in crate::interchange) read: Diagnostics,
    schema: Diagnostics,
    rules: Diagnostics,
}

impl Faults {
    /// Returns whether nothing is wrong with any record by itself, or with the whole.
    pub(in crate::interchange) fn is_sound(&self) -> bool {
        let whole = [&self.wide, &self.head, &self.ids, &self.integrity];
        let records = self.records.iter().map(|it| &it.read);
        whole.into_iter().chain(records).all(Diagnostics::is_empty)
    }

    /// Keeps what a record of an array says.
    pub(in crate::interchange) fn keep<T>(
        &mut self,
        seen: Validated<T>,
        array: usize,
    ) -> Option<T> {
        self.wide.extend(seen.wide);
        let of = self.records.get_mut(array)?;
        of.schema.extend(seen.schema);
        of.rules.extend(seen.rules);
        of.read.keep(seen.read)
    }

    pub(in crate::interchange) fn twice(&mut self, array: usize, number: u64) {
        let name = ARRAYS.get(array).unwrap_or(&"");
        let at = format!("/{name}/{number}/id");
        self.ids
            .push(fault(code::DUPLICATE_ID, at, "another one has this id"));
    }

    /// Takes out what is wrong with single records, and what is non_fatal about them.
    pub(in crate::interchange) fn split(&mut self) -> (Diagnostics, Diagnostics) {
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

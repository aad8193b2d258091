//! Diagnostics of a file: the first of them, and a count of the rest.

use crate::interchange::{Error, Place};

/// A finding: its place, and what a reader should know.
pub(crate) type Finding = (Place, String);

/// A bounded list: the first diagnostics, and the number of those that are not listed.
#[derive(Debug)]
pub(crate) struct Diagnostics<T = Error> {
    pub(crate) list: Vec<T>,
    pub(crate) more: u64,
}

impl<T> Default for Diagnostics<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            more: 0,
        }
    }
}

impl<T> Diagnostics<T> {
    pub(crate) fn push(&mut self, one: T) {
        if self.list.len() < DIAGNOSTICS_MAX {
            self.list.push(one);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Adds another list, with the number of those that it does not list.
    pub(crate) fn append(&mut self, other: Self) {
        self.more = self.more.saturating_add(other.more);
        self.extend(other.list);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl Diagnostics<Finding> {
    pub(crate) fn note(&mut self, place: Place, message: impl Into<String>) {
        self.push((place, message.into()));
    }
}

impl Diagnostics {
    /// Returns the value of a result; its error is added to the list.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }
}

impl<T> Extend<T> for Diagnostics<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, all: I) {
        all.into_iter().for_each(|one| self.push(one));
    }
}

impl From<Diagnostics<Finding>> for Vec<Finding> {
    fn from(mut findings: Diagnostics<Finding>) -> Self {
        if findings.more > 0 {
            let message = format!("and {} more that are not listed", findings.more);
            findings.list.push((Place::File, message));
        }
        findings.list
    }
}

impl From<Diagnostics> for Vec<Finding> {
    fn from(errors: Diagnostics) -> Self {
        let list = errors.list.iter().map(Error::to_finding).collect();
        let more = errors.more;
        Diagnostics { list, more }.into()
    }
}

/// A list of all of them could be larger than the file.
pub(crate) const DIAGNOSTICS_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_counted() {
        let mut findings = Diagnostics::default();
        for line in 0..10_003 {
            findings.note(Place::Line(line), "odd");
        }
        let listed: Vec<_> = findings.into();
        assert_eq!(listed.len(), 10_001);
        let (_, last) = listed.last().unwrap();
        assert_eq!(last, "and 3 more that are not listed");
    }
}

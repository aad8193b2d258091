use crate::interchange::{DIAGNOSTICS_MAX, Error};

/// What is wrong with a file: the first of it, and how much more there is.
#[derive(Debug, Default)]
pub(in crate::interchange) struct Diagnostics {
    pub(in crate::interchange) list: Vec<Error>,
    pub(in crate::interchange) more: u64,
}

impl Diagnostics {
    pub(in crate::interchange) fn push(&mut self, error: Error) {
        if self.list.len() < DIAGNOSTICS_MAX {
            self.list.push(error);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Adds what else is told, with what it does not list.
    pub(in crate::interchange) fn append(&mut self, other: Self) {
        self.more = self.more.saturating_add(other.more);
        self.extend(other.list);
    }

    pub(in crate::interchange) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Keeps what is right.
    pub(in crate::interchange) fn keep<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }
}

impl Extend<Error> for Diagnostics {
    fn extend<T: IntoIterator<Item = Error>>(&mut self, errors: T) {
        errors.into_iter().for_each(|error| self.push(error));
    }
}

//! The problems that the rules find, and how hard a rule is for a grain from elsewhere.

use std::borrow::Cow;

use crate::grain::Error;

/// Where a grain comes from, which decides what is an error and what is a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Written here: every rule for writers holds.
    Local,
    /// Written elsewhere: bytes are kept, and what only binds their writer becomes a warning.
    Foreign,
}

/// A problem of a valid grain that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The field concerned.
    pub field: String,
    /// The problem.
    pub message: Cow<'static, str>,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

pub(super) struct Findings {
    pub(super) origin: Origin,
    pub(super) warnings: Vec<Warning>,
}

impl Findings {
    pub(super) fn warn(&mut self, field: &str, message: impl Into<Cow<'static, str>>) {
        self.warnings.push(Warning {
            field: field.to_owned(),
            message: message.into(),
        });
    }

    /// A rule that binds writers only: an error here, a warning on what others wrote.
    pub(super) fn writer_rule(&mut self, error: Error) -> Result<(), Error> {
        if self.origin == Origin::Local {
            return Err(error);
        }
        match error {
            Error::Forbidden { field, reason } => self.warn(&field, reason),
            Error::NotListed { field, .. } => self.warn(&field, "value is not of the closed list"),
            Error::Missing { field, .. } => self.warn(field, "required and missing"),
            Error::WrongKind { field, .. } => self.warn(&field, "value is of another kind"),
            Error::Empty { field } => self.warn(&field, "empty"),
            Error::Range { field, .. } => self.warn(&field, "value is out of range"),
            error => return Err(error),
        }
        Ok(())
    }
}

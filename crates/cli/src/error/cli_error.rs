//! The error of a command: translated from the errors of the library and of the system.
//!
//! Codes are the library's, so that a program can tell errors apart; hints are in `hint`.

use grainstore::{CodeDomain, ErrorCode};
use std::error::Error;
use std::path::Path;
use std::{fmt, io};

use grainstore::{codec, crypto, grain, interchange, policy};
use interchange::Place;
use serde_json::{Value, json};

use super::exit::Exit;
use super::hint::hint;

/// An error as it is shown to the user: a code for programs, a message and a place for people.
#[derive(Debug, Clone)]
pub(crate) struct CliError {
    code: ErrorCode,
    message: String,
    place: Option<String>,
    hint: Option<&'static str>,
}

impl CliError {
    /// Returns an error of the command itself.
    pub(crate) fn new(code: ErrorCode, message: impl fmt::Display) -> Self {
        Self {
            code,
            message: message.to_string(),
            place: None,
            hint: hint(code),
        }
    }

    /// Returns the error of the library or of the system, with its code and its causes.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        if let Some(error) = error.downcast_ref::<Self>() {
            return error.clone();
        }
        if let Some(error) = interchange_error(error) {
            return Self::of_interchange(error);
        }
        let told = Self::new(code_of(error), without_own_line(&with_causes(error)));
        let system = error.downcast_ref::<io::Error>();
        match system.is_some_and(|error| error.kind() == io::ErrorKind::StorageFull) {
            true => told.advising("the disk that the output goes to is full: free some room there, or write elsewhere"),
            false => told,
        }
    }

    fn of_interchange(error: &interchange::Error) -> Self {
        let message = match error {
            interchange::Error::Grain { source, .. } => source.to_string(),
            interchange::Error::Format { message, .. } => message.clone(),
            interchange::Error::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let translated = Self::new(error.code(), without_own_line(&message));
        match error.place() {
            Place::File => translated,
            place => translated.at(place),
        }
    }

    /// Adds the place of the error; a place that is already known is inside the new one.
    pub(crate) fn at(mut self, outer: impl fmt::Display) -> Self {
        self.place = Some(match self.place {
            Some(inner) => format!("{outer}, {inner}"),
            None => outer.to_string(),
        });
        self
    }

    /// Sets the line of the error. A line that was parsed alone names itself line 1, which is
    /// dropped.
    pub(crate) fn at_line(mut self, number: u64) -> Self {
        self.place = None;
        self.at(Place::Line(number))
    }

    /// Names the store in an error of the store as a whole.
    pub(crate) fn in_store(self, path: &Path) -> Self {
        if self.place.is_none() && self.code.domain() == CodeDomain::Storage {
            return self.at(path.display());
        }
        self
    }

    /// Returns the code.
    pub(crate) const fn code(&self) -> ErrorCode {
        self.code
    }

    /// Replaces the advice for the code, where a command knows better what to do.
    pub(crate) const fn advising(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Returns the advice: what the user can do next.
    pub(crate) const fn hint(&self) -> Option<&'static str> {
        self.hint
    }

    /// Returns the outcome of a command that fails with this error.
    pub(crate) fn exit(&self) -> Exit {
        Exit::of(self.code)
    }

    /// Returns the members of `error` in JSON output.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({
            "code": self.code.as_str(),
            "message": self.to_string(),
            "hint": self.hint(),
        });
        if let Some(place) = &self.place {
            error["place"] = json!(place);
        }
        error
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) if !self.message.contains(place.as_str()) => {
                write!(f, "{place}: {}", self.message)
            }
            _ => f.write_str(&self.message),
        }
    }
}

impl Error for CliError {}

/// Returns whether the reader of stdout has closed the pipe, which is not a failure.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    })
}

fn code_of(error: &(dyn Error + 'static)) -> ErrorCode {
    if let Some(error) = error.downcast_ref::<grainstore::Error>() {
        error.code()
    } else if let Some(error) = error.downcast_ref::<grain::Error>() {
        error.code()
    } else if let Some(error) = error.downcast_ref::<crypto::Error>() {
        error.code()
    } else if let Some(error) = error.downcast_ref::<policy::Error>() {
        error.code()
    } else if let Some(error) = error.downcast_ref::<codec::Error>() {
        error.code()
    } else {
        ErrorCode::Io
    }
}

/// Finds an interchange error, which has a place in a file, inside an error of a higher layer.
fn interchange_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a interchange::Error> {
    if let Some(error) = error.downcast_ref() {
        return Some(error);
    }
    match error.downcast_ref()? {
        grainstore::Error::Interchange(error) => Some(error),
        _ => None,
    }
}

/// Joins the messages of an error and its causes, but for causes that the message repeats.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let message = source.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = source.source();
    }
    text
}

/// Removes "line 1" from a parser's message: each line of input is parsed on its own.
fn without_own_line(message: &str) -> String {
    message.replace(" at line 1 column ", " at column ")
}

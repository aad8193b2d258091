use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use grainstore::{CodeDomain, ErrorCode, codec, crypto, grain, interchange, policy, query, store};
use interchange::Place;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::hint::hint;

/// An error as the user is told: a code for programs, what and where for people.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    code: ErrorCode,
    message: String,
    place: Option<String>,
}

impl Problem {
    /// States a problem of the command's own.
    pub(crate) fn new(code: ErrorCode, message: impl fmt::Display) -> Self {
        Self {
            code,
            message: message.to_string(),
            place: None,
        }
    }

    /// Translates an error of the library or of the system.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        if let Some(problem) = error.downcast_ref::<Self>() {
            return problem.clone();
        }
        if let Some(error) = in_file(error) {
            return Self::of_file(error);
        }
        Self::new(code_of(error), tidy(&whole_text(error)))
    }

    fn of_file(error: &interchange::Error) -> Self {
        let message = match error {
            interchange::Error::Grain { source, .. } => source.to_string(),
            interchange::Error::Format { message, .. } => message.clone(),
            interchange::Error::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let problem = Self::new(error.code(), tidy(&message));
        match error.place() {
            Place::File => problem,
            place => problem.at(place),
        }
    }

    /// Says where it happened; what is known already stands inside that.
    pub(crate) fn at(mut self, outer: impl fmt::Display) -> Self {
        self.place = Some(match self.place {
            Some(inner) => format!("{outer}, {inner}"),
            None => outer.to_string(),
        });
        self
    }

    /// Says where a line is wrong; a line read on its own has no number of its own.
    pub(crate) fn at_line(mut self, number: u64) -> Self {
        self.place = None;
        self.at(Place::Line(number))
    }

    /// Says which store it is, if the problem is one of the store itself.
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

    /// Returns what a person can do about it.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        hint(self.code)
    }

    /// Returns how a command ends that fails with it.
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

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) if !self.message.contains(place.as_str()) => {
                write!(f, "{place}: {}", self.message)
            }
            _ => f.write_str(&self.message),
        }
    }
}

impl Error for Problem {}

/// Returns whether the reader of our output has gone, which is its right.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    })
}

fn code_of(error: &(dyn Error + 'static)) -> ErrorCode {
    if let Some(error) = error.downcast_ref::<grainstore::Error>() {
        error.code()
    } else if let Some(error) = error.downcast_ref::<store::Error>() {
        error.code()
    } else if let Some(error) = error.downcast_ref::<query::Error>() {
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

/// Finds the error of a file inside an error of the layers above.
fn in_file<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a interchange::Error> {
    let in_store = |error: &'a store::Error| match error {
        store::Error::Interchange(error) => Some(error),
        _ => None,
    };
    if let Some(error) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(error) = error.downcast_ref() {
        return in_store(error);
    }
    match error.downcast_ref()? {
        query::Error::Interchange(error) => Some(error),
        query::Error::Store(error) => in_store(error),
        _ => None,
    }
}

/// Joins the messages of an error and its causes; some causes are told by the error already.
fn whole_text(error: &dyn Error) -> String {
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

/// A line of input is parsed on its own: that it is line 1 of itself would mislead.
fn tidy(message: &str) -> String {
    message.replace(" at line 1 column ", " at column ")
}

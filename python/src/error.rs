//! Errors of the library as exceptions of `grainstore.errors`, one class for each code.

use std::path::Path;

use grainstore::interchange::Place;
use grainstore::{Error, ErrorCode};
use pyo3::prelude::*;

/// Returns the wire name of every error code.
#[pyfunction]
pub(crate) fn codes() -> Vec<&'static str> {
    ErrorCode::ALL.iter().map(|code| code.as_str()).collect()
}

/// Returns what can be done about an error code.
#[pyfunction]
pub(crate) fn hint(code: &str) -> Option<&'static str> {
    let code = ErrorCode::ALL.iter().find(|known| known.as_str() == code);
    code.and_then(|code| grainstore_cli::hint(*code))
}

/// Returns the exception for an error of the library.
pub(crate) fn of(py: Python<'_>, error: &Error) -> PyErr {
    let place = match error {
        Error::Batch { index, .. } => Some(format!("grain {index}")),
        Error::Interchange(source) => Some(source.place().to_string()),
        _ => None,
    };
    raised(py, error.code(), &with_sources(error), place)
}

/// Returns the exception for an error of the library about a file: it names the file where it is about all
/// of it.
pub(crate) fn of_file(py: Python<'_>, error: &Error, file: &Path) -> PyErr {
    match error {
        Error::Interchange(source) if *source.place() == Place::File => {
            let name = file.display().to_string();
            let message = with_sources(error);
            let message = message.strip_prefix("file: ").unwrap_or(&message);
            raised(py, error.code(), &format!("{name}: {message}"), Some(name))
        }
        error => of(py, error),
    }
}

/// Returns an exception with a code and a place.
pub(crate) fn raised(
    py: Python<'_>,
    code: ErrorCode,
    message: &str,
    place: Option<String>,
) -> PyErr {
    made(py, (code.as_str(), message, place, None))
}

/// Returns the exception of a code, a message, a place and a hint of its own.
pub(crate) fn made(py: Python<'_>, told: (&str, &str, Option<String>, Option<&str>)) -> PyErr {
    let made = py
        .import("grainstore.errors")
        .and_then(|errors| errors.call_method1("of", told));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Returns the message of an error with those of its sources that it does not repeat.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let text = error.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        source = error.source();
    }
    message
}

//! Errors of the library on their way to the classes of `lib/errors.ts`: their members as JSON behind a
//! mark, as an error of Node-API has a message and no more.

use std::path::Path;

use grainstore::interchange::Place;
use grainstore::{Error, ErrorCode};
use napi::Status;
use napi_derive::napi;
use serde_json::json;

/// Returns the wire name of every error code.
#[napi]
pub fn codes() -> Vec<&'static str> {
    ErrorCode::ALL.iter().map(|code| code.as_str()).collect()
}

/// Returns what can be done about an error code.
#[napi]
pub fn hint(code: String) -> Option<&'static str> {
    let code = ErrorCode::ALL.iter().find(|known| known.as_str() == code);
    code.and_then(|code| grainstore_cli::hint(*code))
}

/// Begins the message of an error that has members; `lib/errors.ts` knows it.
const MARK: &str = "grainstore:";

/// Returns an error of the library.
pub(crate) fn of(error: &Error) -> napi::Error {
    let place = match error {
        Error::Batch { index, .. } => Some(format!("grain {index}")),
        Error::Interchange(source) => Some(source.place().to_string()),
        _ => None,
    };
    told(error.code(), &with_sources(error), place)
}

/// Returns an error of the library about a file: it names the file where it is about all of it.
pub(crate) fn of_file(error: &Error, file: &Path) -> napi::Error {
    match error {
        Error::Interchange(source) if *source.place() == Place::File => {
            let name = file.display().to_string();
            let message = with_sources(error);
            let message = message.strip_prefix("file: ").unwrap_or(&message);
            told(error.code(), &format!("{name}: {message}"), Some(name))
        }
        error => of(error),
    }
}

/// Returns an error with a code and a place.
pub(crate) fn told(code: ErrorCode, message: &str, place: Option<String>) -> napi::Error {
    made(code.as_str(), message, place, None)
}

/// Returns the error of a code, a message, a place and a hint of its own.
pub(crate) fn made(
    code: &str,
    message: &str,
    place: Option<String>,
    hint: Option<&str>,
) -> napi::Error {
    marked(&json!({"code": code, "message": message, "place": place, "hint": hint}))
}

/// Returns the error of a call that this program may not make.
pub(crate) fn usage(message: &str) -> napi::Error {
    told(ErrorCode::Usage, message, None)
}

/// Returns the error of a value of a wrong kind: JavaScript's `TypeError`.
pub(crate) fn kind(message: &str) -> napi::Error {
    marked(&json!({"kind": "TypeError", "message": message}))
}

/// Returns the error of a value that there is not: JavaScript's `RangeError`.
pub(crate) fn range(message: &str) -> napi::Error {
    marked(&json!({"kind": "RangeError", "message": message}))
}

/// Returns the error of a name that stands for nothing.
pub(crate) fn unknown(what: &str, given: &str) -> napi::Error {
    range(&format!("there is no {what} {given:?}"))
}

/// Returns an error with the place where it is, unless it tells one.
pub(crate) fn within(error: &napi::Error, place: &str) -> napi::Error {
    let members = error.reason.strip_prefix(MARK);
    let members = members.and_then(|it| serde_json::from_str::<serde_json::Value>(it).ok());
    let Some(mut members) = members else {
        return kind(&format!("{place}: {}", error.reason));
    };
    if members["place"].is_null() {
        members["place"] = place.into();
    }
    marked(&members)
}

fn marked(members: &serde_json::Value) -> napi::Error {
    napi::Error::new(Status::GenericFailure, format!("{MARK}{members}"))
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

//! The JSON of stores and of the files beside them, with the errors of its text.

use crate::codec::Value;
use crate::interchange::Error;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{JsonError, Position, stream_file};

use super::code;
use super::names::ARRAYS;
use super::types::object::fault;

/// Reads a document without its long arrays.
pub(super) fn outline(part: &SourceFile, arrays: &[&str]) -> Result<Value, JsonError> {
    let value = stream_file(part, arrays, |_| false, |_, _| (), |()| true)?;
    Ok(value.unwrap_or(Value::Nil))
}

/// Returns the error of the text of a store.
pub(super) fn broken(part: &SourceFile, error: JsonError) -> Error {
    broken_in(part, "", error)
}

/// Returns the error of the text of a file.
pub(super) fn broken_in(part: &SourceFile, file: &str, error: JsonError) -> Error {
    match error {
        JsonError::Flaw(_, message) => no_json(file, message),
        JsonError::Io(source) => part.error(file, source),
    }
}

/// Returns the JSON pointer of a record.
pub(super) fn place(position: Position) -> String {
    let name = ARRAYS.get(position.array).unwrap_or(&"");
    format!("/{name}/{}", position.number)
}

/// Reads JSON strictly; `file` names another file than the store itself.
pub(super) fn parse(bytes: &[u8], file: &str) -> Result<Value, Error> {
    let text = std::str::from_utf8(bytes).map_err(|error| no_json(file, error.to_string()))?;
    Value::from_json(text).map_err(|error| no_json(file, error.to_string()))
}

pub(super) fn no_json(file: &str, message: String) -> Error {
    let at = if file.is_empty() {
        String::new()
    } else {
        format!("{file}#")
    };
    fault(code::JSON, at, message)
}

//! A bundle split into its envelope and its records, of a document or a stream.

use crate::code::ErrorCode;
use std::io::{BufRead, Seek};

use crate::codec::{Map, Skim, Value};
use crate::interchange::json::{JsonError, JsonRecords, strict};
use crate::interchange::{DIAGNOSTICS_MAX, Error, Place};

use super::code;

/// A bundle in a file.
pub(super) struct Source<R> {
    /// The envelope, with its arrays empty.
    pub(super) envelope: Map,
    pub(super) records: JsonRecords<R>,
}

impl<R: BufRead + Seek + Send> Source<R> {
    /// Splits one JSON document.
    ///
    /// # Errors
    /// Input that is no JSON object.
    pub(super) fn document(input: R) -> Result<Self, Vec<Error>> {
        match JsonRecords::document(input, &ARRAYS, skim, |_, _| {}) {
            Ok((Value::Map(envelope), records)) => Ok(Self { envelope, records }),
            Ok(_) => Err(vec![not_object("must be an object".into())]),
            Err(JsonError::Flaw(_, message)) => Err(vec![not_object(message)]),
            Err(JsonError::Io(source)) => Err(vec![source.into()]),
        }
    }

    /// Splits a stream into the bundle that its checksum is over (AIMEM 3.2).
    ///
    /// # Errors
    /// Every line that is no record.
    pub(super) fn lines(input: R) -> Result<Self, Vec<Error>> {
        let mut faults = Vec::new();
        let taken = JsonRecords::lines(input, &ARRAYS, skim, |line, _, record| {
            match array_of(line, record) {
                Ok(array) => Some(array),
                Err(error) if faults.len() < DIAGNOSTICS_MAX => {
                    faults.push(error);
                    None
                }
                Err(_) => None,
            }
        });
        let (first, records) = taken.map_err(|source| vec![source.into()])?;
        let first = strict::parse(&first).map_err(|(_, message)| message);
        let mut envelope = object(1, first).map_err(|error| vec![error])?;
        let own = ARRAYS.iter().filter(|name| envelope.contains(name));
        let own = own.map(|name| {
            let message = format!("the envelope of a stream has no {name}");
            fault(code::INVALID_FIELD, 1, message)
        });
        let faults: Vec<Error> = own.chain(faults).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        for name in ARRAYS {
            envelope.insert(name, Vec::<Value>::new());
        }
        Ok(Self { envelope, records })
    }
}

/// Removes the tag of a line, which names its array.
pub(super) fn untagged(value: Value) -> Value {
    match value {
        Value::Map(mut map) => {
            map.remove("_kind");
            Value::Map(map)
        }
        other => other,
    }
}

fn skim(record: &[u8]) -> Result<Skim, (strict::Flaw, String)> {
    strict::skim(record, "_kind")
}

/// Returns the array a line belongs to.
fn array_of(line: u64, record: Result<Skim, (strict::Flaw, String)>) -> Result<usize, Error> {
    let record = match record {
        Ok(record) if record.is_map => record,
        Ok(_) => return Err(fault(code::NOT_OBJECT, line, "must be an object".into())),
        Err((_, message)) => return Err(fault(code::NOT_OBJECT, line, message)),
    };
    let array = KINDS
        .iter()
        .position(|name| Some(*name) == record.said.as_deref());
    array.ok_or_else(|| {
        let message = "_kind must be chunk, edge, entity or chunk_entity";
        fault(code::INVALID_KIND, line, message.into())
    })
}

fn object(line: u64, value: Result<Value, String>) -> Result<Map, Error> {
    match value {
        Ok(Value::Map(map)) => Ok(map),
        Ok(_) => Err(fault(code::NOT_OBJECT, line, "must be an object".into())),
        Err(message) => Err(fault(code::NOT_OBJECT, line, message)),
    }
}

pub(super) fn not_object(message: String) -> Error {
    Error::format(code::NOT_OBJECT, Place::File, message)
}

fn fault(code: ErrorCode, line: u64, message: String) -> Error {
    Error::format(code, Place::Line(line), message)
}

/// The arrays of an envelope, in the order in which streams have their records.
pub(super) const ARRAYS: [&str; 4] = ["chunks", "edges", "entities", "chunk_entities"];

/// The tags of lines, in the order of [`ARRAYS`].
const KINDS: [&str; 4] = ["chunk", "edge", "entity", "chunk_entity"];

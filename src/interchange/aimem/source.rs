use std::io::{self, BufRead, Seek};

use crate::code::ErrorCode;
use crate::codec::{Map, Skim, Value};
use crate::interchange::pieces::{Broken, Pieces};
use crate::interchange::{Error, FAULTS_MAX, Place, strict};

use super::{ARRAYS, code, not_object};

/// A bundle as it stands in a file, its records one after the other.
pub(super) struct Source<R> {
    /// What the bundle says about itself, with its arrays empty.
    pub(super) envelope: Map,
    pub(super) pieces: Pieces<R>,
}

impl<R: BufRead + Seek + Send> Source<R> {
    /// Takes one JSON document apart.
    ///
    /// # Errors
    /// What is no JSON object.
    pub(super) fn document(input: R) -> Result<Self, Vec<Error>> {
        match Pieces::document(input, &ARRAYS, skim, |_, _, _| {}) {
            Ok((Value::Map(envelope), pieces)) => Ok(Self { envelope, pieces }),
            Ok(_) => Err(vec![not_object("must be an object".into())]),
            Err(Broken::Flaw(_, message)) => Err(vec![not_object(message)]),
            Err(Broken::Io(source)) => Err(vec![world(source)]),
        }
    }

    /// Takes a stream apart into the bundle that its checksum is over (AIMEM 3.2).
    ///
    /// # Errors
    /// Every line that is no record of it.
    pub(super) fn lines(input: R) -> Result<Self, Vec<Error>> {
        let mut faults = Vec::new();
        let taken = Pieces::lines(input, &ARRAYS, skim, |line, _, record| {
            match array_of(line, record) {
                Ok(array) => Some(array),
                Err(error) if faults.len() < FAULTS_MAX => {
                    faults.push(error);
                    None
                }
                Err(_) => None,
            }
        });
        let (first, pieces) = taken.map_err(|source| vec![world(source)])?;
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
        Ok(Self { envelope, pieces })
    }
}

/// Takes away what says which array a line of a stream belongs to.
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

fn fault(code: ErrorCode, line: u64, message: String) -> Error {
    Error::Format {
        code,
        place: Place::Line(line),
        message,
    }
}

pub(super) const fn world(source: io::Error) -> Error {
    Error::Io {
        place: Place::File,
        source,
    }
}

/// What the lines of each array are called, in the order of [`ARRAYS`].
const KINDS: [&str; 4] = ["chunk", "edge", "entity", "chunk_entity"];

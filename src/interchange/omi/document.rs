use std::io::{self, BufRead, Seek};

use sha2::{Digest, Sha256};

use crate::code::ErrorCode;
use crate::codec::{Map, Skim, Value};
use crate::interchange::pieces::{Broken, Pieces};
use crate::interchange::{Error, FAULTS_MAX, Place, strict};

use super::code;
use super::judge::fault;

/// A file taken apart, in either serialization, before its records are judged.
pub(super) struct Document<R> {
    /// The envelope; of the JSON form with an empty array of memories.
    pub(super) envelope: Map,
    pub(super) pieces: Pieces<R>,
}

impl<R: BufRead + Seek + Send> Document<R> {
    /// Takes one JSON document apart (OMI 4.1).
    pub(super) fn read(input: R) -> Result<Self, Vec<Error>> {
        let mut strangers = Vec::new();
        let taken = Pieces::document(input, &ARRAYS, skim, |_, index, record| {
            if !record.is_map && strangers.len() < FAULTS_MAX {
                let place = Place::Pointer(format!("/memories/{index}"));
                strangers.push(fault(code::RECORD, &place, "", "must be an object"));
            }
        });
        let (envelope, pieces) = match taken {
            Ok((Value::Map(envelope), pieces)) => (envelope, pieces),
            Ok(_) => return Err(vec![not_object(&Place::File, code::ENVELOPE)]),
            Err(Broken::Flaw(flaw, message)) => return Err(vec![flawed(flaw, &message)]),
            Err(Broken::Io(source)) => return Err(vec![world(source)]),
        };
        let mut faults = Vec::new();
        let serialization = envelope.get("serialization").map(Value::as_text);
        if serialization.is_some_and(|it| it != Some("json")) {
            let message = "must be \"json\" in a document";
            let code = code::SERIALIZATION;
            faults.push(fault(code, &Place::File, "serialization", message));
        }
        if envelope.get("memories").and_then(Value::as_array).is_none() {
            let message = "must be an array";
            faults.push(fault(code::MEMORIES, &Place::File, "memories", message));
        }
        faults.extend(strangers);
        // What names the format is told before what is wrong inside it.
        if envelope.get("format").and_then(Value::as_text) != Some(super::FORMAT) {
            faults.clear();
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self { envelope, pieces })
    }

    /// Takes a stream apart (OMI 4.2, Appendix C).
    pub(super) fn read_lines(input: R) -> Result<Self, Vec<Error>> {
        let mut of_lines = Vec::new();
        // Only a line feed ends a line: U+2028 and U+0085 stand in strings.
        let taken = Pieces::lines(input, &ARRAYS, skim, |line, is_blank, record| {
            let place = Place::Line(line);
            let error = match record {
                _ if is_blank => fault(code::BLANK_LINE, &place, "", "is blank"),
                Ok(record) if record.is_map => return Some(0),
                Ok(_) => not_object(&place, code::LINE_OBJECT),
                Err((flaw, message)) => fault(code_of(flaw), &place, "", &message),
            };
            if of_lines.len() < FAULTS_MAX {
                of_lines.push(error);
            }
            None
        });
        let (first, pieces) = taken.map_err(|source| vec![world(source)])?;
        let place = Place::Line(1);
        let envelope = match strict::parse(&first) {
            Ok(Value::Map(map)) => map,
            Ok(_) => return Err(vec![not_object(&place, code::LINE_ENVELOPE)]),
            Err((flaw, message)) => return Err(vec![fault(code_of(flaw), &place, "", &message)]),
        };
        let mut faults = Vec::new();
        if envelope.get("format").and_then(Value::as_text) == Some(super::FORMAT) {
            if envelope.get("serialization").and_then(Value::as_text) != Some("jsonl") {
                let message = "must be \"jsonl\" in a stream";
                let code = code::LINE_SERIALIZATION;
                faults.push(fault(code, &place, "serialization", message));
            }
            if envelope.contains("memories") {
                let message = "stand on the lines after the envelope of a stream";
                faults.push(fault(code::LINE_MEMORIES, &place, "memories", message));
            }
        }
        faults.extend(of_lines);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self { envelope, pieces })
    }

    /// Returns what ids without a namespace are unique in: this file.
    pub(super) fn scope(&mut self) -> Result<String, Error> {
        let mut hash = Sha256::new();
        let input = self.pieces.input().map_err(world)?;
        loop {
            let chunk = input.fill_buf().map_err(world)?;
            let len = chunk.len();
            if len == 0 {
                return Ok(data_encoding::HEXLOWER.encode(&hash.finalize()));
            }
            hash.update(chunk);
            input.consume(len);
        }
    }
}

/// Every member of a record is looked at once its place is known.
fn skim(record: &[u8]) -> Result<Skim, (strict::Flaw, String)> {
    strict::skim(record, "")
}

fn not_object(place: &Place, code: ErrorCode) -> Error {
    fault(code, place, "", "must be an object")
}

fn flawed(flaw: strict::Flaw, message: &str) -> Error {
    fault(code_of(flaw), &Place::File, "", message)
}

const fn code_of(flaw: strict::Flaw) -> ErrorCode {
    match flaw {
        strict::Flaw::Bom => code::BOM,
        strict::Flaw::Utf8 => code::UTF8,
        strict::Flaw::Duplicate => code::DUPLICATE_KEY,
        strict::Flaw::Syntax => code::SYNTAX,
    }
}

const fn world(source: io::Error) -> Error {
    Error::Io {
        place: Place::File,
        source,
    }
}

const ARRAYS: [&str; 1] = ["memories"];

//! A file split into its envelope and its records, of a document or of lines.

use crate::code::ErrorCode;
use std::io::{BufRead, Seek};

use sha2::{Digest, Sha256};

use crate::codec::{Map, Skim, Value};
use crate::interchange::json::{JsonError, JsonRecords, strict};
use crate::interchange::{DIAGNOSTICS_MAX, Error, Place};

use super::code;
use super::extension::{Extension, restore};
use super::validate::{FORMAT, fault};

/// A file of either serialization, before its records are validated.
pub(super) struct Document<R> {
    /// The envelope; its array of memories is empty.
    pub(super) envelope: Map,
    pub(super) records: JsonRecords<R>,
    /// The errors of records that are none; the others can be read.
    pub(super) faults: Vec<Error>,
    /// The part of the envelope that this program wrote.
    pub(super) extension: Extension,
}

impl<R: BufRead + Seek + Send> Document<R> {
    /// Splits one JSON document (OMI 4.1).
    pub(super) fn read(input: R) -> Result<Self, Vec<Error>> {
        let mut not_objects = Vec::new();
        let taken = JsonRecords::document(input, &ARRAYS, skim, |position, record| {
            if !record.is_map && not_objects.len() < DIAGNOSTICS_MAX {
                let place = Place::Pointer(format!("/memories/{}", position.number));
                not_objects.push(fault(code::RECORD, &place, "", "must be an object"));
            }
        });
        let (envelope, records) = match taken {
            Ok((Value::Map(envelope), records)) => (envelope, records),
            Ok(_) => return Err(vec![not_object(&Place::File, code::ENVELOPE)]),
            Err(JsonError::Flaw(flaw, message)) => return Err(vec![flawed(flaw, &message)]),
            Err(JsonError::Io(source)) => return Err(vec![source.into()]),
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
        // An error of the format itself comes before those inside it.
        let is_format = envelope.get("format").and_then(Value::as_text) == Some(FORMAT);
        if is_format && !faults.is_empty() {
            faults.extend(not_objects);
            return Err(faults);
        }
        Ok(Self::new(envelope, records, not_objects))
    }

    /// Splits a stream (OMI 4.2, Appendix C).
    pub(super) fn read_lines(input: R) -> Result<Self, Vec<Error>> {
        let mut of_lines = Vec::new();
        // Only a line feed ends a line: U+2028 and U+0085 may stand in strings.
        let taken = JsonRecords::lines(input, &ARRAYS, skim, |line, is_blank, record| {
            let place = Place::Line(line);
            let error = match record {
                _ if is_blank => fault(code::BLANK_LINE, &place, "", "is blank"),
                Ok(record) if record.is_map => return Some(0),
                Ok(_) => not_object(&place, code::LINE_OBJECT),
                Err((flaw, message)) => fault(code_of(flaw), &place, "", &message),
            };
            if of_lines.len() < DIAGNOSTICS_MAX {
                of_lines.push(error);
            }
            None
        });
        let (first, records) = taken.map_err(|source| vec![source.into()])?;
        let place = Place::Line(1);
        let envelope = match strict::parse(&first) {
            Ok(Value::Map(map)) => map,
            Ok(_) => return Err(vec![not_object(&place, code::LINE_ENVELOPE)]),
            Err((flaw, message)) => return Err(vec![fault(code_of(flaw), &place, "", &message)]),
        };
        let mut faults = Vec::new();
        if envelope.get("format").and_then(Value::as_text) == Some(FORMAT) {
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
        if !faults.is_empty() {
            faults.extend(of_lines);
            return Err(faults);
        }
        Ok(Self::new(envelope, records, of_lines))
    }

    fn new(envelope: Map, records: JsonRecords<R>, faults: Vec<Error>) -> Self {
        Self {
            envelope,
            records,
            faults,
            extension: Extension::default(),
        }
    }

    /// Takes the part that this program wrote out of the envelope, which is then as it came.
    pub(super) fn take_extension(&mut self) {
        self.extension = Extension::of(&self.envelope);
        restore(&mut self.envelope);
        Extension::take(&mut self.envelope);
    }

    /// Returns the scope of ids without a namespace: this file.
    pub(super) fn scope(&mut self) -> Result<String, Error> {
        let mut hash = Sha256::new();
        let input = self.records.input()?;
        loop {
            let chunk = input.fill_buf()?;
            let len = chunk.len();
            if len == 0 {
                return Ok(data_encoding::HEXLOWER.encode(&hash.finalize()));
            }
            hash.update(chunk);
            input.consume(len);
        }
    }
}

/// The members of a record are validated once its place is known.
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

const ARRAYS: [&str; 1] = ["memories"];

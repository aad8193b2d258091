use sha2::{Digest, Sha256};

use crate::codec::{Map, Value};
use crate::interchange::{Error, Place, strict};

use super::code;
use super::judge::fault;

/// A file taken apart, in either serialization, before its records are judged.
pub(super) struct Document {
    /// The envelope; of the JSON form with an empty array of memories.
    pub(super) envelope: Map,
    pub(super) memories: Vec<(Map, Place)>,
    /// What ids without a namespace are unique in: this file.
    pub(super) scope: String,
}

impl Document {
    /// Takes one JSON document apart (OMI 4.1).
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Vec<Error>> {
        let mut envelope = parse(bytes, &Place::File, code::ENVELOPE).map_err(|it| vec![it])?;
        let mut faults = Vec::new();
        let serialization = envelope.get("serialization").map(Value::as_text);
        if serialization.is_some_and(|it| it != Some("json")) {
            let message = "must be \"json\" in a document";
            let code = code::SERIALIZATION;
            faults.push(fault(code, &Place::File, "serialization", message));
        }
        let memories = match envelope.get_mut("memories") {
            Some(Value::Array(items)) => std::mem::take(items),
            _ => {
                let message = "must be an array";
                faults.push(fault(code::MEMORIES, &Place::File, "memories", message));
                Vec::new()
            }
        };
        let mut records = Vec::with_capacity(memories.len());
        for (index, memory) in memories.into_iter().enumerate() {
            let place = Place::Pointer(format!("/memories/{index}"));
            match memory {
                Value::Map(map) => records.push((map, place)),
                _ => faults.push(fault(code::RECORD, &place, "", "must be an object")),
            }
        }
        // What names the format is told before what is wrong inside it.
        if envelope.get("format").and_then(Value::as_text) != Some(super::FORMAT) {
            faults.clear();
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            envelope,
            memories: records,
            scope: scope(bytes),
        })
    }

    /// Takes a stream apart (OMI 4.2, Appendix C).
    pub(super) fn read_lines(bytes: &[u8]) -> Result<Self, Vec<Error>> {
        let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        // Only a line feed ends a line: U+2028 and U+0085 stand in strings.
        let mut lines = body.split(|byte| *byte == b'\n').zip(1_u64..);
        let first = lines.next().map(|(line, _)| line).unwrap_or_default();
        let place = Place::Line(1);
        let envelope = parse(first, &place, code::LINE_ENVELOPE).map_err(|it| vec![it])?;
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
        let mut memories = Vec::new();
        for (line, number) in lines {
            let place = Place::Line(number);
            if line.iter().all(u8::is_ascii_whitespace) {
                faults.push(fault(code::BLANK_LINE, &place, "", "is blank"));
                continue;
            }
            match parse(line, &place, code::LINE_OBJECT) {
                Ok(map) => memories.push((map, place)),
                Err(error) => faults.push(error),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            envelope,
            memories,
            scope: scope(bytes),
        })
    }
}

fn parse(bytes: &[u8], place: &Place, other: &'static str) -> Result<Map, Error> {
    match strict::parse(bytes) {
        Ok(Value::Map(map)) => Ok(map),
        Ok(_) => Err(fault(other, place, "", "must be an object")),
        Err((flaw, message)) => {
            let code = match flaw {
                strict::Flaw::Bom => code::BOM,
                strict::Flaw::Utf8 => code::UTF8,
                strict::Flaw::Duplicate => code::DUPLICATE_KEY,
                strict::Flaw::Syntax => code::SYNTAX,
            };
            Err(fault(code, place, "", &message))
        }
    }
}

fn scope(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

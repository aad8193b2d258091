use crate::codec::{Map, Value};
use crate::interchange::{Error, Place, strict};

use super::code;
use super::import::Places;

/// Collects a stream into the bundle that its checksum is over (AIMEM 3.2).
///
/// # Errors
/// Every line that is no record of it.
pub(super) fn collect(bytes: &[u8]) -> Result<(Map, Places), Vec<Error>> {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut lines = body.split(|byte| *byte == b'\n').zip(1_u64..);
    let first = lines.next().map(|(line, _)| line).unwrap_or_default();
    let mut bundle = object(first, 1).map_err(|error| vec![error])?;
    let mut faults = Vec::new();
    for name in super::ARRAYS {
        if bundle.contains(name) {
            let message = format!("the envelope of a stream has no {name}");
            faults.push(fault(code::INVALID_FIELD, 1, message));
        }
    }
    let mut arrays = super::ARRAYS.map(|name| (name, Vec::new()));
    let mut places = Places::new();
    for (line, number) in lines {
        match record(line, number) {
            Ok((kind, record)) => {
                for (name, items) in &mut arrays {
                    if *name == kind {
                        places.insert((*name, items.len()), number);
                        items.push(record.clone());
                    }
                }
            }
            Err(error) => faults.push(error),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    for (name, items) in arrays {
        bundle.insert(name, items);
    }
    Ok((bundle, places))
}

/// Returns the array a record belongs to, and the record without its tag.
fn record(line: &[u8], number: u64) -> Result<(&'static str, Value), Error> {
    let mut map = object(line, number)?;
    let kind = map.remove("_kind");
    let name = match kind.as_ref().and_then(Value::as_text) {
        Some("chunk") => "chunks",
        Some("edge") => "edges",
        Some("entity") => "entities",
        Some("chunk_entity") => "chunk_entities",
        _ => {
            let message = "_kind must be chunk, edge, entity or chunk_entity";
            return Err(fault(code::INVALID_KIND, number, message.into()));
        }
    };
    Ok((name, Value::Map(map)))
}

fn object(line: &[u8], number: u64) -> Result<Map, Error> {
    match strict::parse(line) {
        Ok(Value::Map(map)) => Ok(map),
        Ok(_) => Err(fault(code::NOT_OBJECT, number, "must be an object".into())),
        Err((_, message)) => Err(fault(code::NOT_OBJECT, number, message)),
    }
}

fn fault(code: &'static str, line: u64, message: String) -> Error {
    Error::Format {
        code,
        place: Place::Line(line),
        message,
    }
}

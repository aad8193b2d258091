use std::io::{self, BufRead, Seek, Write};

use sha2::{Digest, Sha256};

use crate::codec::{Map, Value};
use crate::interchange::pieces::{Broken, Pieces};
use crate::interchange::{Error, FAULTS_MAX, Place, strict};

use super::{ARRAYS, code, not_object};

/// A bundle as it stands in a file, its records one after the other.
pub(super) struct Source<R> {
    /// What the bundle says about itself, with its arrays empty.
    pub(super) envelope: Map,
    pub(super) pieces: Pieces<R>,
}

impl<R: BufRead + Seek> Source<R> {
    /// Takes one JSON document apart.
    ///
    /// # Errors
    /// What is no JSON object.
    pub(super) fn document(input: R) -> Result<Self, Vec<Error>> {
        match Pieces::document(input, &ARRAYS, |_, _, _| {}) {
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
        let taken = Pieces::lines(input, &ARRAYS, |line, _, value| {
            match array_of(line, value) {
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

    /// Writes what the checksum is over (AIMEM 2.8): everything but itself, as RFC 8785 writes it.
    /// Returns the integers that have no form there.
    ///
    /// # Errors
    /// `ERR_IO`.
    pub(super) fn canonical(&mut self, out: &mut impl Write) -> Result<Vec<Error>, Error> {
        let mut wide = Vec::new();
        let mut members: Vec<&str> = self.envelope.iter().map(|(name, _)| name).collect();
        members.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
        members.retain(|name| *name != "checksum");
        let mut separator = "{";
        for name in members {
            let key = Value::from(name).to_jcs();
            write(out, &[separator.as_bytes(), &key, b":"])?;
            separator = ",";
            let value = self.envelope.get(name).unwrap_or(&Value::Nil);
            let array = ARRAYS.iter().position(|array| *array == name);
            match array.filter(|_| value.as_array().is_some()) {
                Some(array) => self.pieces.array_canonical(array, out, &mut wide)?,
                None => {
                    let found = strict::wide_integers(value);
                    wide.extend(found.map(|at| too_wide(Place::Pointer(format!("/{name}{at}")))));
                    write(out, &[&value.to_jcs()])?;
                }
            }
        }
        let end: &[u8] = if separator == "{" { b"{}" } else { b"}" };
        write(out, &[end])?;
        Ok(wide)
    }

    /// Returns the checksum that the bundle should have.
    ///
    /// # Errors
    /// Integers that two checksums would be one of; `ERR_IO`.
    pub(super) fn checksum(&mut self) -> Result<String, Vec<Error>> {
        let mut hash = Hash(Sha256::new());
        let wide = self.canonical(&mut hash).map_err(|error| vec![error])?;
        if wide.is_empty() {
            let digest = data_encoding::HEXLOWER.encode(&hash.0.finalize());
            Ok(format!("sha256:{digest}"))
        } else {
            Err(wide)
        }
    }
}

impl<R: BufRead + Seek> Pieces<R> {
    fn array_canonical(
        &mut self,
        array: usize,
        out: &mut impl Write,
        wide: &mut Vec<Error>,
    ) -> Result<(), Error> {
        let is_stream = self.is_lines();
        let make = |value: Value, place: Place| {
            // The line is told by its place; in a stream the record has a tag of its own.
            let value = if is_stream { untagged(value) } else { value };
            let found: Vec<Error> = strict::wide_integers(&value)
                .map(|at| {
                    too_wide(match &place {
                        Place::Pointer(record) => Place::Pointer(format!("{record}{at}")),
                        place => place.clone(),
                    })
                })
                .collect();
            (value.to_jcs(), found)
        };
        write(out, &[b"["])?;
        let mut written = Ok(());
        let mut is_first = true;
        self.each(array, make, |(canonical, found)| {
            let room = FAULTS_MAX.saturating_sub(wide.len());
            wide.extend(found.into_iter().take(room));
            let separator: &[u8] = if is_first { b"" } else { b"," };
            is_first = false;
            written = write(out, &[separator, &canonical]);
            written.is_ok()
        })?;
        written?;
        write(out, &[b"]"])
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

/// Returns the array a line belongs to.
fn array_of(line: u64, value: Result<Value, (strict::Flaw, String)>) -> Result<usize, Error> {
    let map = object(line, value.map_err(|(_, message)| message))?;
    let kind = map.get("_kind").and_then(Value::as_text);
    let array = KINDS.iter().position(|name| Some(*name) == kind);
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

fn too_wide(place: Place) -> Error {
    Error::Format {
        code: code::INVALID_FIELD,
        place,
        message: strict::WIDE.into(),
    }
}

fn fault(code: &'static str, line: u64, message: String) -> Error {
    Error::Format {
        code,
        place: Place::Line(line),
        message,
    }
}

fn write(out: &mut impl Write, parts: &[&[u8]]) -> Result<(), Error> {
    parts
        .iter()
        .try_for_each(|part| out.write_all(part))
        .map_err(world)
}

const fn world(source: io::Error) -> Error {
    Error::Io {
        place: Place::File,
        source,
    }
}

/// Hashes what is written to it.
struct Hash(Sha256);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the lines of each array are called, in the order of [`ARRAYS`].
const KINDS: [&str; 4] = ["chunk", "edge", "entity", "chunk_entity"];

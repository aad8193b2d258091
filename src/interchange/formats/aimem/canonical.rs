//! The canonical text of a bundle, over which its checksum and its signature are (AIMEM 2.8).

use std::io::{self, BufRead, Seek, Write};

use sha2::{Digest, Sha256};

use crate::codec::Value;
use crate::interchange::json::strict;
use crate::interchange::{DIAGNOSTICS_MAX, Error, Place};

use super::code;
use super::source::ARRAYS;
use super::source::{Source, untagged};

/// One record of a bundle, while its canonical text is written.
pub(super) struct Written<'a> {
    /// The place of its array in [`ARRAYS`].
    pub(super) array: usize,
    pub(super) value: &'a Value,
    pub(super) place: Place,
    /// The length of its canonical text, in bytes.
    pub(super) len: usize,
}

/// Writes everything but the checksum, as RFC 8785 has it. `make` is called with every record, on
/// several threads; `take` gets the results in the order of the text. Returns the integers that
/// have no canonical form.
pub(super) fn canonical<R: BufRead + Seek + Send, T: Send>(
    source: &mut Source<R>,
    out: &mut impl Write,
    make: impl Fn(Written<'_>) -> T + Sync,
    mut take: impl FnMut(T),
) -> Result<Vec<Error>, Error> {
    let Source { envelope, records } = source;
    let mut wide = Vec::new();
    let mut members: Vec<&str> = envelope.iter().map(|(name, _)| name).collect();
    members.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    members.retain(|name| *name != "checksum");
    let is_stream = records.is_lines();
    let mut separator = "{";
    for name in members {
        let key = Value::from(name).to_jcs();
        write(out, &[separator.as_bytes(), &key, b":"])?;
        separator = ",";
        let value = envelope.get(name).unwrap_or(&Value::Nil);
        let array = ARRAYS.iter().position(|array| *array == name);
        let Some(array) = array.filter(|_| value.as_array().is_some()) else {
            let found = strict::wide_integers(value);
            wide.extend(found.map(|at| too_wide(Place::Pointer(format!("/{name}{at}")))));
            write(out, &[&value.to_jcs()])?;
            continue;
        };
        write(out, &[b"["])?;
        let mut written = Ok(());
        let mut is_first = true;
        let canonical = |value: Value, place: Place| {
            // In a stream the record has a tag that is no part of it.
            let value = if is_stream { untagged(value) } else { value };
            let text = value.to_jcs();
            let found = wide_integers(&value, &place);
            let built = make(Written {
                array,
                value: &value,
                place,
                len: text.len(),
            });
            (text, found, built)
        };
        records.each(array, canonical, |(text, found, built)| {
            let room = DIAGNOSTICS_MAX.saturating_sub(wide.len());
            wide.extend(found.into_iter().take(room));
            take(built);
            let separator: &[u8] = if is_first { b"" } else { b"," };
            is_first = false;
            written = write(out, &[separator, &text]);
            written.is_ok()
        })?;
        written?;
        write(out, &[b"]"])?;
    }
    let end: &[u8] = if separator == "{" { b"{}" } else { b"}" };
    write(out, &[end])?;
    Ok(wide)
}

fn wide_integers(value: &Value, place: &Place) -> Vec<Error> {
    let place_of = |at: String| match place {
        Place::Pointer(record) => Place::Pointer(format!("{record}{at}")),
        place => place.clone(),
    };
    let found = strict::wide_integers(value);
    found.map(|at| too_wide(place_of(at))).collect()
}

fn too_wide(place: Place) -> Error {
    Error::format(code::INVALID_FIELD, place, strict::WIDE)
}

fn write(out: &mut impl Write, parts: &[&[u8]]) -> Result<(), Error> {
    parts
        .iter()
        .try_for_each(|part| out.write_all(part))
        .map_err(Error::from)
}

/// The checksum of the bytes that are written to it.
#[derive(Default)]
pub(super) struct Checksum(Sha256);

impl Checksum {
    pub(super) fn text(self) -> String {
        let digest = data_encoding::HEXLOWER.encode(&self.0.finalize());
        format!("sha256:{digest}")
    }
}

impl Write for Checksum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

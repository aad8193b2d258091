//! The memory stores and session logs of other tools as formats that can be read.

use std::collections::BTreeMap;
use std::path::Path;

use crate::code::ErrorCode;
use crate::codec::Value;
use crate::grain::Grain;
use crate::interchange::detect_json::detect_json;
use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::json::BUFFER_LEN;
use crate::interchange::{Error, Finding, Format, ImportFile, Place, ReadOptions, RecordSet};

use super::builder;
use super::import::{HEAD_LEN, Import, Rows};
use super::source::Source;
use super::sources::sources;

/// The reader of all sources.
pub(in crate::interchange) struct Neighbours;

impl FormatReader for Neighbours {
    fn description(&self) -> &'static str {
        "the memory of another tool (--format lists them)"
    }

    fn detect_bytes(&self, head: &[u8]) -> Option<Format> {
        let found = sources().find(|source| (source.is_text)(head));
        found.map(|source| source.format)
    }

    fn detect_container(&self, input: Input<'_>) -> Result<Option<Format>, Error> {
        let files = FileSet::list(input, is_part)?;
        for file in files.each() {
            let (name, file) = file?;
            let found = recognised(&file).map_err(|source| file.error(name, source))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        let mut file = ImportFile::new(format);
        let Some(source) = source(format) else {
            return Ok(file);
        };
        let listed = FileSet::list(input, is_part)?;
        let mut is_taken = Vec::new();
        let mut unread = BTreeMap::<_, Vec<_>>::new();
        for part in listed.each() {
            let (name, part) = part?;
            let found = recognised(&part).map_err(|source| part.error(name, source))?;
            // A file alone is what the caller says.
            let is_of_it = listed.is_one() || found == Some(format);
            is_taken.push(is_of_it);
            let is_empty = || part.head(1).map(|head| head.is_empty());
            if !is_of_it && !is_empty().map_err(|source| part.error(name, source))? {
                unread
                    .entry(found.map(Format::name))
                    .or_default()
                    .push(name);
            }
        }
        for (other, names) in &unread {
            file.findings.extend(not_read(format, *other, names));
        }
        for (name, more) in listed.left_out() {
            let others = match more {
                0 => String::new(),
                more => format!(", nor are {more} more files with this ending"),
            };
            let message = format!("is not read{others}");
            file.findings.push((Place::pointer(name), message));
        }
        let root: Option<&Path> = match input {
            Input::Path(path) => Some(path),
            Input::Bytes(_) | Input::Shared(_) => None,
        };
        let files = listed.subset(|at, _| is_taken.get(at).copied().unwrap_or_default());
        import_file(Import::new(source, files, root, options), file)
    }

    fn residual(&self, grain: &Grain) -> Option<Value> {
        builder::residual(grain)
    }
}

/// Reads the rows of a database of another tool.
pub(in crate::interchange) fn read_rows(
    format: Format,
    rows: Box<Rows>,
    options: &ReadOptions,
) -> ReadResult {
    let Some(source) = source(format) else {
        let message = format!("{format} is no database");
        let error = Error::format(ErrorCode::Unsupported, Place::File, message);
        return Err(error.into());
    };
    let import = Import::of_rows(source, rows, options);
    import_file(import, ImportFile::new(format))
}

/// Completes a file with the records of its elements, which are validated.
fn import_file(mut import: Import, mut file: ImportFile) -> ReadResult {
    let validation = import.validate().map_err(|error| vec![error])?;
    file.findings.extend(Vec::from(validation.findings));
    file.loss = validation.loss;
    file.records = RecordSet::new(import, validation.len, false).with_warnings(validation.warnings);
    Ok(file)
}

/// Returns one finding of the files of a folder that are of another format, or of none that is known.
fn not_read(format: Format, other: Option<&str>, names: &[&str]) -> Option<Finding> {
    let (first, more) = names.split_first()?;
    let more = match (more.len(), other) {
        (0, _) => String::new(),
        (more, Some(_)) => format!("; so are {more} more files"),
        (more, None) => format!("; nor do {more} more files"),
    };
    let message = match other {
        Some(other) => {
            format!("is a file of the format {other} and not read: import it by itself{more}")
        }
        None => format!("is not read: it holds nothing of {format}{more}"),
    };
    Some((Place::pointer(*first), message))
}

/// Returns the source of a format.
fn source(format: Format) -> Option<&'static Source> {
    sources().find(|source| source.format == format)
}

/// Returns whether a file of this name is looked at.
fn is_part(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        let ending = ending.to_ascii_lowercase();
        ["json", "jsonl", "ndjson", "txt", "af"].contains(&ending.as_str())
    })
}

/// Returns the source of a file, by its content.
fn recognised(file: &SourceFile) -> std::io::Result<Option<Format>> {
    let text = Neighbours.detect_bytes(&file.head(HEAD_LEN)?);
    let found = match text {
        Some(format) => Some(format),
        None => file.read(BUFFER_LEN, |input| detect_json(input))??,
    };
    Ok(found.filter(|format| source(*format).is_some()))
}

//! OMI-AI 0.1 (Open Memory Interchange): one JSON document, or a stream of lines, as grains.
//!
//! One record is one grain, and every grain carries its record (see [`residual`]), so that unknown
//! fields and `ext` profiles are preserved (OMI 10.3, `omi-lossless-roundtrip`). Records are
//! identified by their merge key (13.3); two different ones of one key are a conflict. Nothing is
//! deleted because it is absent, the order means nothing, and no reference is followed.

mod code;
mod document;
mod import;
mod validate;
mod memory;
mod reader;
mod residual;
mod write;

use std::io::{BufRead, Cursor, Seek};

use crate::interchange::{Error, Loss, Place, ReadOptions, Record};

use crate::interchange::model::record_set::RecordSource as _;
use document::Document;
use import::{File, Validation};
pub(in crate::interchange) use reader::{JSON, Omi};
pub(in crate::interchange) use residual::is_relation;
pub use residual::residual;
pub use validate::Level;
pub use write::{write, write_lines};

/// The content of a file.
#[derive(Debug, Default)]
pub struct Import {
    /// The grains: the envelope's, then those of records, then those of their relations.
    pub records: Vec<Record>,
    /// The findings, and where they stand.
    pub findings: Vec<(Place, String)>,
    /// The values that records cannot carry.
    pub loss: Loss,
}

/// Reads the JSON form.
///
/// ```
/// use grainstore::interchange::{ReadOptions, omi};
///
/// let file = br#"{"format": "open-memory-interchange", "version": "0.1", "memories": [
///     {"id": "1", "content": "likes tea", "created": "2026-01-15T10:30:00Z"}]}"#;
/// let import = omi::read(file, &ReadOptions::default()).unwrap();
/// assert_eq!(import.records.len(), 2);
/// ```
///
/// # Errors
/// All errors, by the names of the rules (docs/interchange.md lists them).
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Import, Vec<Error>> {
    collect(bytes, false, options)
}

/// Reads the JSON lines form.
///
/// # Errors
/// As [`read`]; places are lines.
pub fn read_lines(bytes: &[u8], options: &ReadOptions) -> Result<Import, Vec<Error>> {
    collect(bytes, true, options)
}

/// Validates a file without keeping its records.
fn open<R: BufRead + Seek + Send>(
    input: R,
    is_lines: bool,
    options: &ReadOptions,
) -> Result<(File<R>, Validation), Vec<Error>> {
    let document = if is_lines {
        Document::read_lines(input)?
    } else {
        Document::read(input)?
    };
    File::validate(document, options)
}

fn collect(bytes: &[u8], is_lines: bool, options: &ReadOptions) -> Result<Import, Vec<Error>> {
    let (mut file, validated) = open(Cursor::new(bytes), is_lines, options)?;
    Ok(Import {
        records: file.collect().map_err(|error| vec![error])?,
        findings: validated.findings.into(),
        loss: Loss::default(),
    })
}

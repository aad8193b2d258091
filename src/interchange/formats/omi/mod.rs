//! OMI-AI 0.1 (Open Memory Interchange): one JSON document, or a stream of lines, as grains.
//!
//! One record is one grain, and every grain carries its record (see [`residual`]), so that unknown
//! fields and `ext` profiles are preserved (OMI 10.3, `omi-lossless-roundtrip`). Records are
//! identified by their merge key (13.3); two different ones of one key are a conflict. Nothing is
//! deleted because it is absent, the order means nothing, and no reference is followed.

mod code;
mod document;
mod extension;
mod graph;
mod import;
mod validate;
mod memory;
mod reader;
mod residual;
mod write;
mod writer;

use std::io::{BufRead, Seek};

use crate::interchange::{Error, ReadOptions};

use document::Document;
use import::{File, Validation};
pub(in crate::interchange) use reader::{JSON, Omi};
pub use residual::residual;
pub use validate::Level;
pub use write::{write, write_lines};

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

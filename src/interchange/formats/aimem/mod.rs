//! AIMEM bundles (draft-aimem-bundle-00): one JSON document, or a stream of lines, as grains.
//!
//! One record is one grain, and every grain carries its record (see [`residual`]). A bundle is
//! validated in the order of the reference: the envelope, the checksum, then the records; one
//! invalid record refuses the bundle. A URN of another producer is read, and is a finding.
//! Signatures are files beside a bundle, and are checked by [`verify`].

mod canonical;
mod chunk;
mod code;
mod envelope;
mod foreign;
mod graph;
mod import;
mod build;
mod member;
mod reader;
mod residual;
mod signature;
mod source;
mod write;

use std::io::{BufRead, Cursor, Seek};

use crate::codec::Profile;

use crate::interchange::{Error, Loss, Place, Record};

use crate::interchange::model::record_set::RecordSource as _;
use import::{Bundle, Validation};
pub(in crate::interchange) use reader::{Aimem, JSON};
use source::Source;

pub use envelope::Scope;
pub use residual::residual;
pub use signature::{sign, verify};
pub use write::{write, write_stream};

/// The content of a bundle.
#[derive(Debug, Default)]
pub struct Import {
    /// The grains: the envelope's, then those of chunks, edges, entities and their links.
    pub records: Vec<Record>,
    /// The findings, and where they stand.
    pub findings: Vec<(Place, String)>,
    /// The values that records cannot carry.
    pub loss: Loss,
}

/// Reads a bundle from one JSON document.
///
/// ```
/// use grainstore::interchange::aimem;
///
/// let errors = aimem::read(br#"{"format": "aimem-bundle", "version": "2"}"#, Default::default());
/// assert_eq!(errors.unwrap_err()[0].code(), "unsupported_version");
/// ```
///
/// # Errors
/// All errors, with the codes of the reference (docs/interchange.md lists them).
pub fn read(bytes: &[u8], profile: Profile) -> Result<Import, Vec<Error>> {
    collect(bytes, false, profile)
}

/// Reads a bundle from a stream: the envelope on the first line, then one record a line.
///
/// # Errors
/// As [`read`]; places are lines.
pub fn read_stream(bytes: &[u8], profile: Profile) -> Result<Import, Vec<Error>> {
    collect(bytes, true, profile)
}

/// Validates a bundle.
fn open<R: BufRead + Seek + Send>(
    input: R,
    is_stream: bool,
    profile: Profile,
) -> Result<(Bundle<R>, Validation), Vec<Error>> {
    let source = if is_stream {
        Source::lines(input)?
    } else {
        Source::document(input)?
    };
    Bundle::validate(source, profile)
}

fn collect(bytes: &[u8], is_stream: bool, profile: Profile) -> Result<Import, Vec<Error>> {
    let (mut bundle, validated) = open(Cursor::new(bytes), is_stream, profile)?;
    Ok(Import {
        records: bundle.collect().map_err(|error| vec![error])?,
        findings: validated.findings.into(),
        loss: Loss::default(),
    })
}

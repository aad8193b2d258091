//! AIMEM bundles (draft-aimem-bundle-00): one JSON document, or a stream of lines, as grains.
//!
//! One record is one grain, and every grain carries its record (see [`residual`]). Judged in the
//! order of the reference: the envelope, the checksum, then the records, of which one bad one
//! refuses the bundle. A URN of another producer is read, and
//! told. Signatures stand beside a bundle, and are judged by [`verify`].

mod chunk;
mod code;
mod envelope;
mod foreign;
mod graph;
mod import;
mod member;
mod residual;
mod signature;
mod stream;
mod write;

use crate::codec::{Profile, Value};

use super::{Error, Loss, Place, Record, strict};

pub use envelope::Scope;
pub(in crate::interchange) use residual::is_link;
pub use residual::{is_protected, residual};
pub(in crate::interchange) use signature::signature_paths;
pub use signature::{sign, verify};
pub use write::{write, write_stream};

/// What a bundle holds.
#[derive(Debug, Default)]
pub struct Import {
    /// The grains: the envelope's, then those of chunks, edges, entities and their links.
    pub records: Vec<Record>,
    /// What is odd, and where.
    pub findings: Vec<(Place, String)>,
    /// What the records cannot carry.
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
/// Everything that is wrong, with the codes of the reference (docs/interchange.md lists them).
pub fn read(bytes: &[u8], profile: Profile) -> Result<Import, Vec<Error>> {
    let value = strict::parse(bytes).map_err(|(_, message)| vec![not_object(message)])?;
    let Value::Map(bundle) = value else {
        return Err(vec![not_object("must be an object".into())]);
    };
    judge(bundle, &import::Places::new(), profile)
}

/// Reads a bundle from a stream: the envelope on the first line, then one record a line.
///
/// # Errors
/// As [`read`]; places are lines.
pub fn read_stream(bytes: &[u8], profile: Profile) -> Result<Import, Vec<Error>> {
    let (bundle, places) = stream::collect(bytes)?;
    judge(bundle, &places, profile)
}

fn judge(
    mut bundle: crate::codec::Map,
    places: &import::Places,
    profile: Profile,
) -> Result<Import, Vec<Error>> {
    envelope::Envelope::read(&bundle).map_err(|error| vec![error])?;
    // What two numbers would share a checksum with is not trusted to one.
    let value = Value::Map(bundle);
    let wide: Vec<_> = strict::wide_integers(&value)
        .map(|at| Error::Format {
            code: code::INVALID_FIELD,
            place: Place::Pointer(at),
            message: strict::WIDE.into(),
        })
        .collect();
    if !wide.is_empty() {
        return Err(wide);
    }
    let Value::Map(whole) = value else {
        return Err(Vec::new());
    };
    bundle = whole;
    let actual = envelope::checksum(&mut bundle);
    envelope::check_checksum(&bundle, &actual).map_err(|error| vec![error])?;
    import::import(&bundle, places, profile)
}

fn not_object(message: String) -> Error {
    Error::Format {
        code: code::NOT_OBJECT,
        place: Place::File,
        message,
    }
}

/// The arrays of an envelope, in the order in which streams have their records.
const ARRAYS: [&str; 4] = ["chunks", "edges", "entities", "chunk_entities"];

/// The types that must not decay or go of themselves (AIMEM 1.2, 5).
const DNA: [&str; 5] = ["preference", "decision", "identity", "pitfall", "procedure"];

/// The member of a context that carries a foreign record.
const RESIDUAL: &str = "x-aimem";

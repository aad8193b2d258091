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
mod graph;
mod import;
mod build;
mod member;
mod reader;
mod residual;
mod signature;
mod source;
mod write;
mod writer;

use std::io::{BufRead, Seek};

use crate::codec::Profile;

use crate::interchange::Error;

use import::{Bundle, Validation};
pub(in crate::interchange) use reader::{Aimem, JSON};
use source::Source;

pub use envelope::Scope;
pub use residual::residual;
pub(in crate::interchange) use residual::vector_of;
pub use signature::{sign, verify};
pub use write::bundle::{write, write_stream};
pub(in crate::interchange) use write::foreign::is_export_of;

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

//! The `.mg` container: many grains, and what a store says about them, in one file (OMS 11).
//!
//! Writing is planned from a list of small [`Entry`]s, so that one pass over the grains is enough
//! and no more than one is in memory. Reading checks the whole frame of a file before the first
//! grain comes out: checksum, index, sizes, manifest. Grains come out one by one, each judged by
//! its own bytes. Nothing is reserved from a number that a file declares.
//!
//! The footer is a checksum, not a signature: it finds accidents, and whoever changes a file on
//! purpose can compute it again. Grains prove themselves by their addresses; the status that a
//! manifest gives them is advice, which the store weighs (ruling I18). Grains inside a signature
//! are recognised and refused: the signing room reads them.

mod archive;
mod frames;
mod header;
mod manifest;
mod order;
mod plan;
mod records;
mod report;
mod section;
mod volume;

use std::io;

use crate::codec::{self, Profile};
use crate::grain::Grain;

use super::{Error, Place, Record};

pub use archive::{Archive, ReadOptions};
pub use frames::{Frames, read_frames, write_end, write_frame};
pub use plan::{Entry, Plan, WriteOptions, volume_path, write};
pub use records::Records;
pub use report::Report;
pub use volume::{Summary, Volume};

/// Judges a blob that stands alone, as a grain of an archive or a frame does.
fn record_of(blob: Vec<u8>, place: Place) -> Result<Record, Error> {
    if is_signed(&blob) {
        return Err(unsupported(
            place,
            "the grain is inside a signature (COSE Sign1)",
        ));
    }
    match Grain::from_foreign_blob(blob, PROFILE) {
        Ok((grain, warnings)) => {
            let mut record = Record::new(grain, place);
            record.warnings = warnings;
            Ok(record)
        }
        Err(source) => Err(Error::Grain { place, source }),
    }
}

/// Recognises a COSE Sign1 envelope, untagged or tagged (ruling S2): a blob begins with 1.
fn is_signed(blob: &[u8]) -> bool {
    matches!(blob.first(), Some(0x84 | 0xd2))
}

fn unsupported(place: Place, message: &str) -> Error {
    fault("ERR_UNSUPPORTED", place, message)
}

fn too_long(place: Place, len: u64) -> Error {
    let source = codec::Error::TooLong {
        len: usize::try_from(len).unwrap_or(usize::MAX),
        max: PROFILE.blob_len_max(),
    };
    Error::Grain {
        place,
        source: source.into(),
    }
}

fn fault(code: &'static str, place: Place, message: impl Into<String>) -> Error {
    Error::Format {
        code,
        place,
        message: message.into(),
    }
}

fn io_error(place: Place, source: io::Error) -> Error {
    Error::Io { place, source }
}

/// Lengths of bytes in memory, which fit 64 bits on every machine this runs on.
fn len_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// The limits that grains of a file are held to.
const PROFILE: Profile = Profile::Extended;

/// The length of the footer: a SHA-256 (OMS 11.5).
const FOOTER_LEN: u64 = 32;

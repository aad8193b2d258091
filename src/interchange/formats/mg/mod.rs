//! The `.mg` container: many grains, and what a store says about them, in one file (OMS 11).
//!
//! Writing is planned from a list of small [`Entry`]s, so that one pass over the grains is enough
//! and one grain is in memory at a time. Reading checks the whole frame of a file before the first
//! grain is returned: checksum, index, sizes, manifest. Each grain is validated by its own bytes.
//! Nothing is allocated from a number that a file declares.
//!
//! The footer is a checksum, not a signature: it finds accidents, and an attacker can compute it
//! again. Grains prove themselves by their addresses; the status that a manifest gives them is
//! advice, which the store weighs (ruling I18). A signed grain is stored inside its signature,
//! under the address of its blob (ruling M9).

mod archive;
mod frames;
mod header;
mod manifest;
mod order;
mod plan;
mod random_access;
mod reader;
mod records;
mod report;
mod section;
mod volume;

use crate::code::ErrorCode;
use std::io;

use crate::codec::{self, Profile};
use crate::crypto::{ENVELOPE_LEN_MAX, from_delivery, to_delivery};
use crate::grain::Grain;

use crate::interchange::{Error, Place, Record};

pub use random_access::grain_at;
pub(in crate::interchange) use reader::Mg;

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use self::{
    archive::{Archive, ReadOptions},
    frames::{Frames, read_frames, write_end, write_frame},
    plan::{Entry, Plan, volume_path, write},
    records::Records,
    report::Report,
    volume::{Summary, Volume},
};

/// Validates a grain of an archive or a frame: a blob, or one inside its signature.
fn record_of(bytes: &[u8], place: Place) -> Result<Record, Error> {
    match from_delivery(bytes, PROFILE) {
        Ok((grain, warnings)) => {
            let mut record = Record::new(grain, place);
            record.warnings = warnings;
            Ok(record)
        }
        Err(source) => Err(Error::of_delivery(place, source)),
    }
}

/// Returns the bytes of a grain in a file.
fn delivered(grain: &Grain, place: &Place) -> Result<Vec<u8>, Error> {
    let bytes = to_delivery(grain);
    let bytes = bytes.map_err(|source| Error::of_delivery(place.clone(), source))?;
    Ok(bytes.into_owned())
}

fn unsupported(place: Place, message: &str) -> Error {
    fault(ErrorCode::Unsupported, place, message)
}

fn too_long(place: Place, len: u64) -> Error {
    let source = codec::Error::TooLong {
        len: usize::try_from(len).unwrap_or(usize::MAX),
        max: DELIVERY_LEN_MAX,
    };
    Error::Grain {
        place,
        source: source.into(),
    }
}

fn fault(code: ErrorCode, place: Place, message: impl Into<String>) -> Error {
    Error::format(code, place, message)
}

fn io_error(place: Place, source: io::Error) -> Error {
    Error::Io { place, source }
}

/// Lengths in memory fit 64 bits on every supported machine.
fn len_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// The limits that grains of a file are held to.
const PROFILE: Profile = Profile::Extended;

/// The longest that a grain is in a file: its blob, and the signature around it.
const DELIVERY_LEN_MAX: usize = PROFILE.blob_len_max() + ENVELOPE_LEN_MAX;

/// The length of the footer: a SHA-256 (OMS 11.5).
const FOOTER_LEN: u64 = 32;

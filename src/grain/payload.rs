//! The payload of a blob: in the clear, or compressed by another implementation (OMS 3.1.1, rulings
//! S3, S4, P4).
//!
//! An encrypted one is not read at all. Nothing here writes either form.

use std::borrow::Cow;
use std::io::ErrorKind;

use crate::codec::{self, Flags, Header, Map, Profile};

use super::fields::expand;
use super::{Error, Type};

/// Returns the fields of a blob under their full names.
pub(super) fn fields_of(blob: &[u8], header: &Header, profile: Profile) -> Result<Map, Error> {
    let payload = blob.get(Header::LEN..).unwrap_or_default();
    let payload = if header.flags.contains(Flags::ENCRYPTED) {
        return Err(not_canonical("payload is encrypted"));
    } else if header.flags.contains(Flags::COMPRESSED) {
        let (payload, len) = decompress(payload, profile)?;
        if len.saturating_add(Header::LEN) != blob.len() {
            return Err(not_canonical("bytes after the compressed payload"));
        }
        Cow::Owned(payload)
    } else {
        Cow::Borrowed(payload)
    };
    let decode = || header.encoding().decode(&payload, profile);
    let of = Type::from_byte(header.type_byte);
    let fields = expand(of, decode()?.into_map());
    match of {
        // Ruling F2: what a later revision means by a key is its own affair. A map that is not
        // compacted by this table is taken as it stands: decoded again, which happens seldom and
        // costs less than keeping a copy of each.
        Type::Opaque(_) if fields.is_err() => Ok(decode()?.into_map()),
        _ => fields,
    }
}

/// Returns how long the blob is that `bytes` begin with, which only its payload says (ruling M2).
///
/// # Errors
/// As [`Grain::from_foreign_blob`](super::Grain::from_foreign_blob); `ERR_CORRUPT` also for an
/// encrypted payload, which has no end of its own.
#[cfg(feature = "interchange")]
pub(crate) fn blob_prefix_len(bytes: &[u8], profile: Profile) -> Result<usize, Error> {
    let header = Header::read(bytes)?;
    let payload = bytes.get(Header::LEN..).unwrap_or_default();
    let len = if header.flags.contains(Flags::ENCRYPTED) {
        return Err(not_canonical("an encrypted payload has no end of its own"));
    } else if header.flags.contains(Flags::COMPRESSED) {
        decompress(payload, profile)?.1
    } else {
        header.encoding().decode_prefix(payload, profile)?.1
    };
    Ok(Header::LEN.saturating_add(len))
}

/// Decompresses the zstd frame at the front of `bytes` (OMS 3.1.1), up to the longest payload of the
/// profile; returns it and the length of the frame.
fn decompress(bytes: &[u8], profile: Profile) -> Result<(Vec<u8>, usize), Error> {
    let max = profile.blob_len_max().saturating_sub(Header::LEN);
    codec::decompress(bytes, max).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => Error::Codec(codec::Error::TooLong {
            len: max.saturating_add(1),
            max,
        }),
        _ => not_canonical("compressed payload is not one frame of zstd"),
    })
}

const fn not_canonical(reason: &'static str) -> Error {
    Error::Codec(codec::Error::NotCanonical { reason })
}

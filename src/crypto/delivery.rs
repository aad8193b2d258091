//! Grains as they travel: a blob, or a blob inside its signature (OMS 9.2).

use std::borrow::Cow;

use crate::codec::{self, Profile};
use crate::grain::{Grain, Warning};

use super::{Did, Envelope, Error, Resolver, Signer};

/// Reads a grain as it was delivered: a blob, or a blob inside its signature. The signature is
/// kept with the grain and not checked yet.
///
/// # Errors
/// `ERR_SIGNED_MISMATCH` for a signed blob without its signature and for one that is not to be
/// signed inside one; as [`Envelope::parse`] and [`Grain::from_foreign_blob`]; `ERR_RANGE` for
/// a signature of more than 64 KiB.
pub fn from_delivery(bytes: &[u8], profile: Profile) -> Result<(Grain, Vec<Warning>), Error> {
    if !is_wrapped(bytes) {
        return Ok(Grain::from_foreign_blob(bytes.to_vec(), profile)?);
    }
    let envelope = Envelope::parse(bytes)?;
    let detached = envelope.to_detached();
    if detached.len() > ENVELOPE_LEN_MAX {
        return Err(Error::Codec(codec::Error::TooLong {
            len: detached.len(),
            max: ENVELOPE_LEN_MAX,
        }));
    }
    let (grain, warnings) = Grain::from_foreign_signed_blob(envelope.blob().to_vec(), profile)?;
    Ok((grain.with_envelope(detached), warnings))
}

/// Returns the bytes to deliver: the blob, or the signature message with the blob inside.
///
/// # Errors
/// `ERR_SIGNED_MISMATCH` for a grain that is to be signed and is not (OMS 9.2).
pub fn to_delivery(grain: &Grain) -> Result<Cow<'_, [u8]>, Error> {
    match read_envelope(grain)? {
        Some(envelope) => Ok(Cow::Owned(envelope.to_bytes())),
        None => Ok(Cow::Borrowed(grain.blob())),
    }
}

/// Returns how many bytes [`to_delivery`] gives.
///
/// # Errors
/// As [`to_delivery`].
pub fn delivery_len(grain: &Grain) -> Result<usize, Error> {
    to_delivery(grain).map(|bytes| bytes.len())
}

/// Returns the signer that the grain's signature names, before anything is checked.
///
/// # Errors
/// As [`to_delivery`], and for a grain that is not signed.
pub fn kid(grain: &Grain) -> Result<Did, Error> {
    let envelope = read_envelope(grain)?.ok_or(Error::SignedMismatch)?;
    Ok(envelope.kid().clone())
}

/// Checks the signature of the grain and returns whose it is (OMS 9.3). That says who signed
/// these bytes, and not whether to trust them.
///
/// # Errors
/// As [`Envelope::verify`], and as [`kid`].
pub fn verify_signature(grain: &Grain, resolver: &dyn Resolver) -> Result<Signer, Error> {
    let envelope = read_envelope(grain)?.ok_or(Error::SignedMismatch)?;
    envelope.verify(resolver)
}

/// Returns the signature of a signed grain; none of one that is not signed. The flag and the
/// signature come together or not at all.
fn read_envelope(grain: &Grain) -> Result<Option<Envelope<'_>>, Error> {
    match (grain.is_signed(), grain.envelope()) {
        (true, Some(detached)) => Envelope::parse_detached(detached, grain.blob()).map(Some),
        (false, None) => Ok(None),
        _ => Err(Error::SignedMismatch),
    }
}

/// Recognises a COSE_Sign1 message, untagged or tagged (ruling S2): a blob begins with 1.
pub(crate) const fn is_wrapped(bytes: &[u8]) -> bool {
    matches!(bytes, [0x84 | 0xd2, ..])
}

/// A signature message without its blob: more than any has that means only to sign, and little
/// enough that the field is no place to store other data.
pub(crate) const ENVELOPE_LEN_MAX: usize = 64 << 10;

//! Trusted timestamps (OMS 6.1, RFC 3161): what a token says, and whether it says it of a grain.

use der::asn1::AnyRef;
use der::{Decode as _, Reader as _, SliceReader, Tag, Tagged};
use sha2::{Digest, Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

use crate::codec::Value;
use crate::grain::{Grain, Time};

use super::Error;

/// A timestamp token: bytes with this hash existed at this time.
///
/// The signature of the authority is **not** checked here, nor its certificate: that takes a trust
/// store, and a program that has one. The token must be about the grain it is in: a token of
/// another grain proves nothing for this one.
///
/// ```
/// use grainstore::crypto::Timestamp;
///
/// assert_eq!(Timestamp::parse(b"not a token").unwrap_err().code(), "ERR_TIMESTAMP");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timestamp {
    time: Time,
    algorithm: Hash,
    imprint: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Timestamp {
    /// Reads a response of an authority, or the token out of one, in strict DER.
    ///
    /// # Errors
    /// `ERR_TIMESTAMP`, also for a request that was not granted; `ERR_UNSUPPORTED` for a hash other
    /// than SHA-256, SHA-384 and SHA-512.
    pub fn parse(response: &[u8]) -> Result<Self, Error> {
        let outer = one(response, Tag::Sequence)?;
        let members = all(outer)?;
        let token = match members.as_slice() {
            [status, token] if status.tag() == Tag::Sequence => {
                check_status(*status)?;
                all(*token)?
            }
            [status] if status.tag() == Tag::Sequence => {
                return Err(fault("the authority granted nothing"));
            }
            _ => members,
        };
        let signed = content(&token, SIGNED_DATA)?;
        let signed = all(one(signed, Tag::Sequence)?)?;
        let [_version, _digests, inside, .., signers] = signed.as_slice() else {
            return Err(fault("not signed data"));
        };
        if signers.tag() != Tag::Set || signers.value().is_empty() {
            return Err(fault("it has no signature"));
        }
        let info = content(&all(*inside)?, TST_INFO)?;
        let info = one(info, Tag::OctetString)?;
        Self::read_info(&all(one(info.value(), Tag::Sequence)?)?)
    }

    fn read_info(info: &[AnyRef<'_>]) -> Result<Self, Error> {
        let [version, policy, imprint, serial, time, ..] = info else {
            return Err(fault("the token lacks a part"));
        };
        let tags = [version, policy, imprint, serial, time].map(Tagged::tag);
        let expected = [
            Tag::Integer,
            Tag::ObjectIdentifier,
            Tag::Sequence,
            Tag::Integer,
            Tag::GeneralizedTime,
        ];
        if tags != expected || version.value() != [1] {
            return Err(fault("not the token of RFC 3161"));
        }
        let imprint = all(*imprint)?;
        let [algorithm, hash] = imprint.as_slice() else {
            return Err(fault("an imprint is a hash and its algorithm"));
        };
        let (algorithm, len) = read_algorithm(*algorithm)?;
        if hash.tag() != Tag::OctetString || hash.value().len() != len {
            return Err(fault(
                "the hash has another length than its algorithm gives",
            ));
        }
        Ok(Self {
            time: read_time(time.value())?,
            algorithm,
            imprint: hash.value().to_vec(),
        })
    }

    /// Returns the time that the token states.
    pub const fn time(&self) -> Time {
        self.time
    }

    /// Returns whether the token is about these bytes.
    pub fn covers(&self, bytes: &[u8]) -> bool {
        let hash = match self.algorithm {
            Hash::Sha256 => Sha256::digest(bytes).to_vec(),
            Hash::Sha384 => Sha384::digest(bytes).to_vec(),
            Hash::Sha512 => Sha512::digest(bytes).to_vec(),
        };
        hash.ct_eq(&self.imprint).into()
    }
}

/// Returns the hash to have stamped for a grain that is to carry the stamp: SHA-256 of its blob
/// as it is without `trusted_timestamp` (ruling S14).
///
/// # Errors
/// `ERR_CORRUPT` for a grain of a later type that keeps fields under names of its own.
pub fn timestamp_imprint(grain: &Grain) -> Result<[u8; 32], Error> {
    Ok(Sha256::digest(grain.blob_without(FIELD)?).into())
}

/// Returns the `trusted_timestamp` of the grain, if it has one and it is about this
/// grain. The authority's own signature is for the caller to check.
///
/// # Errors
/// `ERR_TIMESTAMP` for a token that cannot be read or is about something else; as
/// [`Timestamp::parse`].
pub fn trusted_timestamp(grain: &Grain) -> Result<Option<Timestamp>, Error> {
    let Some(field) = grain.field(FIELD) else {
        return Ok(None);
    };
    let token = field.as_map().and_then(|map| map.get("tsp_response"));
    let token = token.and_then(Value::as_bytes);
    let stamp = Timestamp::parse(token.ok_or(fault("there is no tsp_response"))?)?;
    if stamp.covers(&grain.blob_without(FIELD)?) {
        Ok(Some(stamp))
    } else {
        Err(fault("it is about something else than this grain"))
    }
}

/// RFC 3161 2.4.2: granted, perhaps with changes.
fn check_status(status: AnyRef<'_>) -> Result<(), Error> {
    let members = all(status)?;
    match members.first() {
        Some(status) if status.tag() == Tag::Integer && matches!(status.value(), [0 | 1]) => Ok(()),
        _ => Err(fault("the authority granted nothing")),
    }
}

/// Returns what stands in the content of a type: an object identifier, then the content under [0].
fn content<'a>(members: &[AnyRef<'a>], kind: &[u8]) -> Result<&'a [u8], Error> {
    match members {
        [oid, inner]
            if oid.tag() == Tag::ObjectIdentifier
                && oid.value() == kind
                && inner.tag().number().value() == 0
                && inner.tag().is_context_specific()
                && inner.tag().is_constructed() =>
        {
            Ok(inner.value())
        }
        _ => Err(fault("the content is not what a timestamp token has")),
    }
}

fn read_algorithm(algorithm: AnyRef<'_>) -> Result<(Hash, usize), Error> {
    let members = all(algorithm)?;
    let (Some(oid), [] | [_]) = (members.first(), members.get(1..).unwrap_or_default()) else {
        return Err(fault("an algorithm is an identifier, and perhaps null"));
    };
    if members.get(1).is_some_and(|null| null.tag() != Tag::Null) {
        return Err(fault("a hash has no parameters"));
    }
    match oid.value() {
        SHA_256 => Ok((Hash::Sha256, 32)),
        SHA_384 => Ok((Hash::Sha384, 48)),
        SHA_512 => Ok((Hash::Sha512, 64)),
        _ => Err(Error::Unsupported {
            what: "a hash other than SHA-256, SHA-384 and SHA-512",
        }),
    }
}

/// RFC 3161 2.4.2: `YYYYMMDDhhmmss[.s…]Z`, the fraction without zeros at its end.
fn read_time(text: &[u8]) -> Result<Time, Error> {
    let wrong = || fault("a time is YYYYMMDDhhmmss, a fraction perhaps, and Z");
    let text = std::str::from_utf8(text).map_err(|_| wrong())?;
    let text = text.strip_suffix('Z').ok_or_else(wrong)?;
    let (seconds, fraction) = match text.split_once('.') {
        Some((seconds, fraction)) => (seconds, Some(fraction)),
        None => (text, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_fraction =
        |text: &str| (1..=9).contains(&text.len()) && is_digits(text) && !text.ends_with('0');
    if seconds.len() != 14 || !is_digits(seconds) || !fraction.is_none_or(is_fraction) {
        return Err(wrong());
    }
    let part = |from: usize, to: usize| seconds.get(from..to).unwrap_or_default();
    let fraction = fraction.map(|digits| format!(".{digits}"));
    let rfc3339 = format!(
        "{}-{}-{}T{}:{}:{}{}Z",
        part(0, 4),
        part(4, 6),
        part(6, 8),
        part(8, 10),
        part(10, 12),
        part(12, 14),
        fraction.unwrap_or_default()
    );
    Time::parse(&rfc3339).map_err(|_| wrong())
}

/// Reads one item that is the whole of `bytes`.
fn one(bytes: &[u8], tag: Tag) -> Result<AnyRef<'_>, Error> {
    let item = AnyRef::from_der(bytes).map_err(|_| fault("not strict DER"))?;
    if item.tag() == tag {
        Ok(item)
    } else {
        Err(fault("another kind of item than a token has there"))
    }
}

/// Reads the items inside an item.
fn all(item: AnyRef<'_>) -> Result<Vec<AnyRef<'_>>, Error> {
    if !item.tag().is_constructed() {
        return Err(fault("an item that has none inside"));
    }
    let read = || -> Result<Vec<AnyRef<'_>>, der::Error> {
        let mut reader = SliceReader::new(item.value())?;
        let mut items = Vec::new();
        while !reader.is_finished() && items.len() < ITEMS_MAX {
            items.push(reader.decode()?);
        }
        reader.finish()?;
        Ok(items)
    };
    read().map_err(|_| fault("not strict DER"))
}

const fn fault(reason: &'static str) -> Error {
    Error::Timestamp { reason }
}

const FIELD: &str = "trusted_timestamp";

/// More than any part of a token has that is looked into.
const ITEMS_MAX: usize = 64;

// Object identifiers as DER has them.
/// 1.2.840.113549.1.7.2
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
/// 1.2.840.113549.1.9.16.1.4
const TST_INFO: &[u8] = &[
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04,
];
/// 2.16.840.1.101.3.4.2.1 to 3
const SHA_256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
const SHA_384: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02];
const SHA_512: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03];

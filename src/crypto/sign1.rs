//! COSE_Sign1 messages (RFC 9052), read as others write them (rulings S2, P7).
//!
//! The header is read here and not by a COSE library, because OMS 9.1 has a text in `kid` and
//! because signatures are checked over the bytes received.

use super::item::{Items, Label, Members, write_bytes, write_text};
use super::{Algorithm, Did, Error, Resolver, Signer, VerifyingKey};

/// A COSE_Sign1 message (RFC 9052): one signature, with the signer's DID under it (OMS 9.1).
///
/// The protected header holds the algorithm, no label stands twice or in both headers, `crit` lists
/// nothing unknown, nothing follows (ruling S2). Labels stand in any order and in any definite form
/// (ruling P7). The unprotected header is carried and never trusted. Signatures are checked over the
/// bytes received, never over bytes written again.
///
/// ```
/// use grainstore::crypto::{Algorithm, Offline, OsRandom, Payload, Sign1, SigningKey};
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let payload = Payload::Embedded(b"hello");
/// let bytes = Sign1::sign("text/plain", payload, &key, &key.did(), Some(1_768_471_200))?;
/// let message = Sign1::parse(&bytes)?;
/// assert_eq!(message.verify(b"hello", &Offline)?.did, key.did());
/// assert_eq!(message.verify(b"hullo", &Offline).unwrap_err().code(), "ERR_SIGNATURE");
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sign1<'a> {
    protected: &'a [u8],
    unprotected: &'a [u8],
    payload: Option<&'a [u8]>,
    signature: &'a [u8; 64],
    algorithm: Algorithm,
    content_type: Option<&'a str>,
    kid: Option<Did>,
    iat: Option<i64>,
}

impl<'a> Sign1<'a> {
    /// Reads a message that is the whole of `bytes`, untagged or under tag 18.
    ///
    /// # Errors
    /// `ERR_CORRUPT`; `ERR_UNSUPPORTED` for another algorithm and for an unknown critical label;
    /// `ERR_DID`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut items = Items::new(bytes);
        let parts = Parts::read(&mut items)?;
        items.finish("bytes after the message")?;

        let unprotected = parts.unprotected;
        // The algorithm first: a signature of another length is hardly ever the fault.
        let header = Protected::read(parts.protected, &unprotected)?;
        let signature = parts.signature.try_into();
        let signature = signature.map_err(|_| refuse("a signature has 64 bytes"))?;
        Ok(Self {
            protected: parts.protected,
            unprotected: parts.unprotected_bytes,
            payload: parts.payload,
            signature,
            algorithm: header.algorithm,
            content_type: header.content_type,
            kid: header.kid,
            iat: read_iat(&unprotected)?,
        })
    }

    /// Returns how long the message is that `bytes` begin with: where other things follow, nothing
    /// but the message itself says so (ruling M2).
    #[cfg(feature = "interchange")]
    pub(crate) fn prefix_len(bytes: &[u8]) -> Result<usize, Error> {
        let mut items = Items::new(bytes);
        let message = items.span(|items| Parts::read(items).map(drop))?;
        Ok(message.len())
    }

    /// Returns the payload, if the message carries it.
    pub const fn payload(&self) -> Option<&'a [u8]> {
        self.payload
    }

    /// Returns the algorithm of the protected header.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the media type of the protected header.
    pub const fn content_type(&self) -> Option<&'a str> {
        self.content_type
    }

    /// Returns the signer that the protected header names; nothing is proven by that.
    pub const fn kid(&self) -> Option<&Did> {
        self.kid.as_ref()
    }

    /// Returns the signing time that the message claims, in seconds since 1970. It is not
    /// protected: everyone who passed the message on may have written it.
    pub const fn iat(&self) -> Option<i64> {
        self.iat
    }

    /// Returns the message, untagged, with its payload or without.
    pub(super) fn to_bytes(&self, payload: Option<&[u8]>) -> Vec<u8> {
        write(self.protected, self.unprotected, payload, self.signature)
    }

    /// Checks the signature over `payload` with the key of the DID in `kid`.
    ///
    /// # Errors
    /// `ERR_SIGNATURE`, also for a payload other than the one carried and for a signer without a
    /// key for the algorithm; `ERR_UNRESOLVED`; `ERR_CORRUPT` without a `kid`.
    pub fn verify(&self, payload: &[u8], resolver: &dyn Resolver) -> Result<Signer, Error> {
        let did = self.kid.clone().ok_or(Error::Envelope {
            reason: "no kid in the protected header",
        })?;
        let keys = match did.key() {
            Some(key) => vec![key.clone()],
            None => resolver.resolve(&did)?,
        };
        let mut fitting = keys
            .into_iter()
            .filter(|key| key.algorithm() == self.algorithm)
            .peekable();
        if fitting.peek().is_none() {
            return Err(Error::WrongKey {
                did,
                algorithm: self.algorithm,
            });
        }
        let verified = fitting.find_map(|key| match self.verify_with(payload, &key) {
            Ok(()) => Some(Ok(Signer {
                did: did.clone(),
                key,
            })),
            // Not checked, which says nothing against the signature.
            Err(error @ Error::Unresolved { .. }) => Some(Err(error)),
            Err(_) => None,
        });
        verified.unwrap_or(Err(Error::Signature))
    }

    /// Checks the signature over `payload` with a key that the caller trusts for other reasons.
    ///
    /// # Errors
    /// `ERR_SIGNATURE`.
    pub fn verify_with(&self, payload: &[u8], key: &VerifyingKey) -> Result<(), Error> {
        if key.algorithm() != self.algorithm {
            return Err(Error::WrongKey {
                did: key.did(),
                algorithm: self.algorithm,
            });
        }
        // The carried payload must be the checked one, or a reader could use the other.
        if self.payload.is_some_and(|carried| carried != payload) {
            return Err(Error::Signature);
        }
        key.verify(&to_be_signed(self.protected, payload), self.signature)
    }
}

/// The four items of a message, none of them understood yet.
struct Parts<'a> {
    protected: &'a [u8],
    unprotected: Members<'a>,
    unprotected_bytes: &'a [u8],
    payload: Option<&'a [u8]>,
    signature: &'a [u8],
}

impl<'a> Parts<'a> {
    fn read(items: &mut Items<'a>) -> Result<Self, Error> {
        items.skip_byte(TAG_18);
        if !items.skip_byte(ARRAY_OF_FOUR) {
            return Err(items.fault("a COSE_Sign1 is an array of four, untagged or under tag 18"));
        }
        let protected = items.bytes("the protected header is a byte string")?;
        let mut unprotected = Members::new();
        let unprotected_bytes = items.span(|items| {
            unprotected = items.members()?;
            Ok(())
        })?;
        let payload = match items.skip_byte(NIL) {
            true => None,
            false => Some(items.bytes("the payload is a byte string or null")?),
        };
        let signature = items.bytes("the signature is a byte string")?;
        Ok(Self {
            protected,
            unprotected,
            unprotected_bytes,
            payload,
            signature,
        })
    }
}

/// The members of the protected header, after they were checked.
struct Protected<'a> {
    algorithm: Algorithm,
    content_type: Option<&'a str>,
    kid: Option<Did>,
}

impl<'a> Protected<'a> {
    fn read(bytes: &'a [u8], unprotected: &Members<'_>) -> Result<Self, Error> {
        let mut items = Items::new(bytes);
        let members = items.members()?;
        items.finish("bytes after the protected header")?;
        let value = |label: Label<'_>| find(&members, label);
        if members
            .iter()
            .any(|(label, _)| find(unprotected, *label).is_some())
        {
            return Err(refuse("a label stands in both headers"));
        }
        // An algorithm or a crit that anyone may change decides nothing.
        if find(unprotected, ALG).is_some() || find(unprotected, CRIT).is_some() {
            return Err(refuse("alg and crit must be protected"));
        }
        let Some(alg) = value(ALG) else {
            return Err(refuse("no alg in the protected header"));
        };
        let algorithm = match Items::new(alg).int("alg is an integer") {
            Ok(ALG_EDDSA | ALG_ED25519) => Algorithm::Ed25519,
            Ok(ALG_ES256) => Algorithm::P256,
            // RFC 9052 3.1 also knows algorithms by text.
            _ => {
                return Err(Error::Unsupported {
                    what: "an algorithm other than EdDSA with Ed25519 and ES256",
                });
            }
        };
        if let Some(labels) = value(CRIT) {
            let labels = Items::new(labels).labels()?;
            let is_understood = |label: &Label<'_>| {
                [ALG, CONTENT_TYPE, KID].contains(label) && value(*label).is_some()
            };
            if !labels.iter().all(is_understood) {
                return Err(Error::Unsupported {
                    what: "a header parameter to be understood that is not",
                });
            }
        }
        Ok(Self {
            algorithm,
            content_type: value(CONTENT_TYPE)
                .map(read_content_type)
                .transpose()?
                .flatten(),
            kid: value(KID).map(read_kid).transpose()?,
        })
    }
}

/// RFC 9052 3.1: a media type as text, or a number of a registry that knows none of ours.
fn read_content_type(value: &[u8]) -> Result<Option<&str>, Error> {
    let mut items = Items::new(value);
    match value {
        [0x60..=0x7b, ..] => items.text("a content type is text").map(Some),
        _ => items
            .int("a content type is text or a number")
            .map(|_| None),
    }
}

/// Ruling S2: bytes as RFC 9052 has it, or text as the example of OMS 9.1.
fn read_kid(value: &[u8]) -> Result<Did, Error> {
    let mut items = Items::new(value);
    let text = match value {
        [0x60..=0x7b, ..] => items.text("a kid is bytes or text")?,
        _ => {
            let bytes = items.value_bytes("a kid is bytes or text")?;
            std::str::from_utf8(bytes).map_err(|_| Error::Did {
                reason: "not UTF-8",
            })?
        }
    };
    text.parse()
}

fn read_iat(unprotected: &Members<'_>) -> Result<Option<i64>, Error> {
    let value = find(unprotected, IAT);
    value
        .map(|value| Items::new(value).int("iat is an integer"))
        .transpose()
}

fn find<'a>(members: &Members<'a>, label: Label<'_>) -> Option<&'a [u8]> {
    let found = members.iter().find(|(other, _)| *other == label);
    found.map(|(_, value)| *value)
}

pub(super) fn write(
    protected: &[u8],
    unprotected: &[u8],
    payload: Option<&[u8]>,
    signature: &[u8; 64],
) -> Vec<u8> {
    let mut out = vec![ARRAY_OF_FOUR];
    write_bytes(&mut out, protected);
    out.extend_from_slice(unprotected);
    match payload {
        Some(payload) => write_bytes(&mut out, payload),
        None => out.push(NIL),
    }
    write_bytes(&mut out, signature);
    out
}

/// RFC 9052 4.4, with no external data (ruling S2).
pub(super) fn to_be_signed(protected: &[u8], payload: &[u8]) -> Vec<u8> {
    let room = protected.len().saturating_add(payload.len());
    let mut out = Vec::with_capacity(room.saturating_add(32));
    out.push(ARRAY_OF_FOUR);
    write_text(&mut out, "Signature1");
    write_bytes(&mut out, protected);
    write_bytes(&mut out, b"");
    write_bytes(&mut out, payload);
    out
}

const fn refuse(reason: &'static str) -> Error {
    Error::Envelope { reason }
}

const TAG_18: u8 = 0xd2;
const ARRAY_OF_FOUR: u8 = 0x84;
const NIL: u8 = 0xf6;

pub(super) const ALG: Label<'_> = Label::Int(1);
const CRIT: Label<'_> = Label::Int(2);
pub(super) const CONTENT_TYPE: Label<'_> = Label::Int(3);
pub(super) const KID: Label<'_> = Label::Int(4);
const IAT: Label<'_> = Label::Text("iat");
pub(super) const ALG_EDDSA: i64 = -8;
const ALG_ED25519: i64 = -19;
pub(super) const ALG_ES256: i64 = -7;

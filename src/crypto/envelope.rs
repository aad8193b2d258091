//! The envelope around a signed grain (OMS 9.2): a COSE_Sign1 message whose payload is a blob.

use crate::codec::{ContentAddress, Encoding, Flags, Header};

use super::{Did, Error, Resolver, Sign1, Signer};

/// The delivered form of a grain whose header has the signed flag: its blob in a COSE_Sign1
/// (OMS 9.1). The address is the blob's; the envelope has none.
///
/// ```
/// use grainstore::crypto::{Algorithm, Envelope, Offline, OsRandom, SigningKey};
/// use grainstore::{Draft, grain::Time};
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let draft = Draft::event("hello").created_at(Time::from_ms(1)).to_be_signed();
/// let grain = draft.finish(Default::default())?;
/// let bytes = Envelope::sign(grain.blob(), &key, &key.did(), None)?;
/// let envelope = Envelope::parse(&bytes)?;
/// assert_eq!(envelope.address(), grain.address());
/// assert_eq!(envelope.verify(&Offline)?.did, key.did());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Envelope<'a> {
    message: Sign1<'a>,
    kid: Did,
    blob: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Reads an envelope that is the whole of `bytes`. Nothing is verified yet.
    ///
    /// # Errors
    /// As [`Sign1::parse`]; `ERR_CORRUPT` without a payload, a `kid` or the content type of the
    /// blob; `ERR_SIGNED_MISMATCH` around a blob that is not flagged as signed; `ERR_TOO_SHORT`,
    /// `ERR_VERSION`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let message = Sign1::parse(bytes)?;
        let blob = message.payload().ok_or(Error::Envelope {
            reason: "an envelope carries its blob",
        })?;
        Self::around(message, blob)
    }

    /// Reads an envelope that was stored beside its blob: [`Envelope::to_detached`].
    ///
    /// # Errors
    /// As [`Envelope::parse`]; `ERR_CORRUPT` if it carries a payload.
    pub fn parse_detached(bytes: &'a [u8], blob: &'a [u8]) -> Result<Self, Error> {
        let message = Sign1::parse(bytes)?;
        if message.payload().is_some() {
            return Err(Error::Envelope {
                reason: "a detached envelope carries no blob",
            });
        }
        Self::around(message, blob)
    }

    fn around(message: Sign1<'a>, blob: &'a [u8]) -> Result<Self, Error> {
        let header = signed_header(blob)?;
        // A statement or a checkpoint of the same signer is not their grain: content types differ.
        if message.content_type() != Some(content_type(header.encoding())) {
            return Err(Error::Envelope {
                reason: "the content type is not the blob's",
            });
        }
        let kid = message.kid().cloned().ok_or(Error::Envelope {
            reason: "no kid in the protected header",
        })?;
        Ok(Self { message, kid, blob })
    }

    /// Returns the inner blob.
    pub const fn blob(&self) -> &'a [u8] {
        self.blob
    }

    /// Returns the address of the inner blob: signing does not change it (OMS 9.2).
    pub fn address(&self) -> ContentAddress {
        ContentAddress::of(self.blob)
    }

    /// Returns the signer that the envelope names, before anything is verified.
    pub const fn kid(&self) -> &Did {
        &self.kid
    }

    /// Returns the signing time that the envelope claims, in seconds since 1970. It is not
    /// protected: carried, never trusted.
    pub const fn iat(&self) -> Option<i64> {
        self.message.iat()
    }

    /// Checks the signature and returns whose it is (OMS 9.3).
    ///
    /// # Errors
    /// `ERR_SIGNATURE`, `ERR_UNRESOLVED`.
    pub fn verify(&self, resolver: &dyn Resolver) -> Result<Signer, Error> {
        self.message.verify(self.blob, resolver)
    }

    /// Returns the bytes to deliver: untagged, with the blob inside.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.message.to_bytes(Some(self.blob))
    }

    /// Returns the bytes to keep beside the blob.
    pub fn to_detached(&self) -> Vec<u8> {
        self.message.to_bytes(None)
    }
}

/// OMS 9.2: the flag and the envelope come together.
pub(super) fn signed_header(blob: &[u8]) -> Result<Header, Error> {
    let header = Header::read(blob)?;
    if header.flags.contains(Flags::SIGNED) {
        Ok(header)
    } else {
        Err(Error::SignedMismatch)
    }
}

/// OMS 9.1 names one of them; ruling S2 the other.
pub(super) const fn content_type(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::MessagePack => "application/vnd.mg+msgpack",
        Encoding::Cbor => "application/vnd.mg+cbor",
    }
}

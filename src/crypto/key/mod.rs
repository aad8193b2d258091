//! Public keys and the verification of signatures, for each supported algorithm.
//!
//! Keys and signatures with a second spelling are refused, so that neither can be counted twice.

use std::fmt;

mod signing;
mod text;

pub use signing::SigningKey;

use super::{Did, Error};

/// The two kinds of signatures (OMS 9.1).
///
/// ```
/// use grainstore::crypto::Algorithm;
///
/// assert_eq!(Algorithm::Ed25519.to_string(), "Ed25519");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// EdDSA on Curve25519; COSE algorithms −8 and −19.
    Ed25519,
    /// ECDSA on P-256 with SHA-256; COSE algorithm −7.
    P256,
}

impl Algorithm {
    /// Returns the length in bytes of a public key as `did:key` holds it.
    pub(in crate::crypto) const fn key_len(self) -> usize {
        match self {
            Self::Ed25519 => 32,
            Self::P256 => 33,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ed25519 => "Ed25519",
            Self::P256 => "P-256",
        })
    }
}

/// A public key that signatures are checked with.
///
/// ```
/// use grainstore::crypto::{Algorithm, Did, VerifyingKey};
///
/// let did: Did = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK".parse()?;
/// let key = did.key().ok_or("no key")?;
/// assert_eq!(&VerifyingKey::new(Algorithm::Ed25519, &key.to_bytes())?, key);
/// assert!(key.verify(b"a message", &[0; 64]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct VerifyingKey(Public);

#[derive(Clone, PartialEq, Eq)]
enum Public {
    Ed25519(ed25519_dalek::VerifyingKey),
    P256(p256::ecdsa::VerifyingKey),
}

impl VerifyingKey {
    /// Reads a key: 32 bytes for Ed25519; for P-256 a SEC1 point, compressed or not.
    ///
    /// # Errors
    /// `ERR_KEY` for another length, a point that is not on the curve or spelled in a second way,
    /// and an Ed25519 point of small order, under which one signature fits many messages.
    pub fn new(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        match algorithm {
            Algorithm::Ed25519 => {
                let bytes: &[u8; 32] = bytes.try_into().map_err(|_| LENGTH)?;
                let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).map_err(|_| POINT)?;
                if key.is_weak() || !is_reduced(bytes) {
                    return Err(POINT);
                }
                Ok(Self(Public::Ed25519(key)))
            }
            Algorithm::P256 => {
                if !matches!(bytes, [2 | 3, rest @ ..] if rest.len() == 32)
                    && !matches!(bytes, [4, rest @ ..] if rest.len() == 64)
                {
                    return Err(LENGTH);
                }
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(bytes).map_err(|_| POINT)?;
                Ok(Self(Public::P256(key)))
            }
        }
    }

    pub(in crate::crypto) const fn of_ed25519(key: ed25519_dalek::VerifyingKey) -> Self {
        Self(Public::Ed25519(key))
    }

    pub(in crate::crypto) const fn of_p256(key: p256::ecdsa::VerifyingKey) -> Self {
        Self(Public::P256(key))
    }

    /// Returns what it verifies.
    pub const fn algorithm(&self) -> Algorithm {
        match &self.0 {
            Public::Ed25519(_) => Algorithm::Ed25519,
            Public::P256(_) => Algorithm::P256,
        }
    }

    /// Returns the bytes of the key; a P-256 point is compressed.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.0 {
            Public::Ed25519(key) => key.to_bytes().to_vec(),
            Public::P256(key) => key.to_sec1_point(true).as_bytes().to_vec(),
        }
    }

    /// Returns the numbers of the key: one for Ed25519, both coordinates of a P-256 point.
    pub(in crate::crypto) fn coordinates(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        match &self.0 {
            Public::Ed25519(key) => (key.to_bytes().to_vec(), None),
            Public::P256(key) => {
                let point = key.to_sec1_point(false);
                let (x, y) = point.as_bytes().split_at(1).1.split_at(32);
                (x.to_vec(), Some(y.to_vec()))
            }
        }
    }

    /// Returns the `did:key` of the key.
    pub fn did(&self) -> Did {
        Did::of_key(self)
    }

    /// Checks a signature of 64 bytes: R and S, or r and s.
    ///
    /// Ed25519 is judged by one rule, the strict one: no point of small order, no S beyond the
    /// group's order, no cofactor. Of ECDSA both (r, s) and (r, −s) verify, as RFC 9053 has it, so
    /// signatures must not be counted by their bytes.
    ///
    /// # Errors
    /// `ERR_SIGNATURE`.
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        let verified = match &self.0 {
            Public::Ed25519(key) => {
                let signature = ed25519_dalek::Signature::from_bytes(signature);
                key.verify_strict(message, &signature).is_ok()
            }
            Public::P256(key) => {
                use p256::ecdsa::signature::Verifier as _;
                p256::ecdsa::Signature::from_slice(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
        };
        if verified {
            Ok(())
        } else {
            Err(Error::Signature)
        }
    }
}

impl VerifyingKey {
    /// Checks a signature as foreign formats spell it: 64 bytes, or for P-256 r and s in DER.
    ///
    /// # Errors
    /// `ERR_SIGNATURE`.
    pub fn verify_spelled(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        if let Ok(signature) = signature.try_into() {
            return self.verify(message, signature);
        }
        match &self.0 {
            Public::Ed25519(_) => Err(Error::Signature),
            Public::P256(_) => {
                let read = p256::ecdsa::Signature::from_der(signature);
                let signature = read.map_err(|_| Error::Signature)?;
                self.verify(message, &signature.to_bytes().into())
            }
        }
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.did(), f)
    }
}

/// Whether a point's coordinate is below 2^255 − 19: one that is not is spelled a second way. The
/// other second spellings are of points of small order.
fn is_reduced([low, middle @ .., high]: &[u8; 32]) -> bool {
    *low < 0xed || middle.iter().any(|byte| *byte != 0xff) || high & 0x7f != 0x7f
}

const LENGTH: Error = Error::Key {
    reason: "another length than the algorithm asks for",
};

const POINT: Error = Error::Key {
    reason: "not a point on the curve, or one that is not safe",
};

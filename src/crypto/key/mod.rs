//! Public keys and the verification of signatures, for each supported algorithm.
//!
//! Keys and signatures with a second spelling are refused, so that neither can be counted twice.
//! The arithmetic is in `curves`; a build without the feature `signatures` parses and compares keys
//! and verifies nothing.

use std::fmt;

mod algorithm;
#[cfg_attr(not(feature = "signatures"), path = "no_curves.rs")]
mod curves;
#[cfg(feature = "signatures")]
mod signing;
#[cfg(feature = "signatures")]
mod text;

pub use algorithm::Algorithm;
#[cfg(feature = "signatures")]
pub use signing::SigningKey;

use super::{Did, Error};
use curves::Public;

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

impl VerifyingKey {
    /// Reads a key: 32 bytes for Ed25519; for P-256 a SEC1 point, compressed or not.
    ///
    /// # Errors
    /// `ERR_KEY` for another length, a point that is not on the curve or spelled in a second way,
    /// and an Ed25519 point of small order, under which one signature fits many messages. A build
    /// without the feature `signatures` does not look for the point.
    pub fn new(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        let key = match algorithm {
            Algorithm::Ed25519 => {
                let bytes: &[u8; 32] = bytes.try_into().map_err(|_| LENGTH)?;
                is_reduced(bytes).then(|| Public::ed25519(bytes)).flatten()
            }
            Algorithm::P256 => {
                if !matches!(bytes, [2 | 3, rest @ ..] if rest.len() == 32)
                    && !matches!(bytes, [4, rest @ ..] if rest.len() == 64)
                {
                    return Err(LENGTH);
                }
                Public::p256(bytes)
            }
        };
        key.map(Self).ok_or(POINT)
    }

    /// Returns what it verifies.
    pub const fn algorithm(&self) -> Algorithm {
        self.0.algorithm()
    }

    /// Returns the bytes of the key; a P-256 point is compressed.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
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
    /// `ERR_SIGNATURE`; `ERR_UNRESOLVED` in a build without the feature `signatures`, which can
    /// tell neither.
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        match self.0.verifies(message, signature) {
            Some(true) => Ok(()),
            Some(false) => Err(Error::Signature),
            None => Err(Error::Unresolved {
                did: self.did(),
                reason: "this build checks no signatures".into(),
            }),
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

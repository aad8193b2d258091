//! The algorithms of signatures.

use std::fmt;

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

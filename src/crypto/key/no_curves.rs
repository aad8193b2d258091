//! Public keys in a build without the feature `signatures`: bytes that are parsed and compared.
//!
//! Whether the bytes are a point on their curve is not checked, and no signature is verified: it is
//! neither valid nor invalid. A build with the feature checks both.

use super::algorithm::Algorithm;

/// The bytes of a key; those of P-256 are compressed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Public {
    algorithm: Algorithm,
    bytes: Vec<u8>,
}

impl Public {
    pub(super) fn ed25519(bytes: &[u8; 32]) -> Option<Self> {
        Some(Self {
            algorithm: Algorithm::Ed25519,
            bytes: bytes.to_vec(),
        })
    }

    /// SEC1 2.3.3: the first byte of a compressed point says whether y is odd.
    pub(super) fn p256(bytes: &[u8]) -> Option<Self> {
        let bytes = match bytes.split_first()? {
            (4, coordinates) => {
                let (x, y) = coordinates.split_at_checked(32)?;
                [&[2 | (y.last()? & 1)], x].concat()
            }
            _ => bytes.to_vec(),
        };
        Some(Self {
            algorithm: Algorithm::P256,
            bytes,
        })
    }

    pub(super) const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// Returns `None`: what is not checked must be neither believed nor called a forgery.
    pub(super) const fn verifies(&self, _message: &[u8], _signature: &[u8; 64]) -> Option<bool> {
        None
    }
}

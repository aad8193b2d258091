//! Points on the two curves: checked when a key is read, and used to verify.

use super::algorithm::Algorithm;

/// A point on one of the curves.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Public {
    Ed25519(ed25519_dalek::VerifyingKey),
    P256(p256::ecdsa::VerifyingKey),
}

impl Public {
    /// Reads a point; none for one of small order, under which one signature fits many messages.
    pub(super) fn ed25519(bytes: &[u8; 32]) -> Option<Self> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).ok()?;
        (!key.is_weak()).then_some(Self::Ed25519(key))
    }

    /// Reads a SEC1 point, compressed or not.
    pub(super) fn p256(bytes: &[u8]) -> Option<Self> {
        let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(bytes).ok()?;
        Some(Self::P256(key))
    }

    pub(super) const fn algorithm(&self) -> Algorithm {
        match self {
            Self::Ed25519(_) => Algorithm::Ed25519,
            Self::P256(_) => Algorithm::P256,
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Ed25519(key) => key.to_bytes().to_vec(),
            Self::P256(key) => key.to_sec1_point(true).as_bytes().to_vec(),
        }
    }

    /// Returns the numbers of the key: one for Ed25519, both coordinates of a P-256 point.
    pub(super) fn coordinates(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        match self {
            Self::Ed25519(key) => (key.to_bytes().to_vec(), None),
            Self::P256(key) => {
                let point = key.to_sec1_point(false);
                let (x, y) = point.as_bytes().split_at(1).1.split_at(32);
                (x.to_vec(), Some(y.to_vec()))
            }
        }
    }

    /// Returns whether the signature verifies; a build without curves cannot tell.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> Option<bool> {
        Some(match self {
            Self::Ed25519(key) => {
                let signature = ed25519_dalek::Signature::from_bytes(signature);
                key.verify_strict(message, &signature).is_ok()
            }
            Self::P256(key) => {
                use p256::ecdsa::signature::Verifier as _;
                p256::ecdsa::Signature::from_slice(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
        })
    }
}

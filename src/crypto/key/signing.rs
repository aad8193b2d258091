//! Private keys: generated, read from PEM, used, and wiped when dropped.

use zeroize::{Zeroize, Zeroizing};

use super::{Algorithm, Public, VerifyingKey};
use crate::crypto::{Did, Error, Random};

/// A secret key. It cannot be printed, copied or compared, and is wiped when it goes.
///
/// ```
/// use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let copy = SigningKey::from_pem(&key.to_pem()?)?;
/// assert_eq!(copy.did(), key.did());
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
///
/// ```compile_fail
/// # use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
/// println!("{key:?}");
/// ```
///
/// ```compile_fail
/// # use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
/// let second = key.clone();
/// ```
#[expect(
    missing_debug_implementations,
    reason = "a secret is in no debug output"
)]
pub struct SigningKey(Secret);

/// Boxed, so that moving a key leaves no copy behind. Both kinds wipe themselves when dropped.
enum Secret {
    Ed25519(Box<ed25519_dalek::SigningKey>),
    P256(Box<p256::ecdsa::SigningKey>),
}

impl SigningKey {
    /// Draws a new key.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`; `ERR_KEY` if the source keeps giving what is no key.
    pub fn generate(algorithm: Algorithm, random: &dyn Random) -> Result<Self, Error> {
        let mut seed = Zeroizing::new([0; 32]);
        // A P-256 secret is below the group's order, which random bytes miss once in 2^32 times.
        for _ in 0..ATTEMPTS {
            random.fill(&mut *seed)?;
            if let Ok(key) = Self::from_seed(algorithm, &seed) {
                return Ok(key);
            }
        }
        Err(Error::Key {
            reason: "the random source gives none",
        })
    }

    fn from_seed(algorithm: Algorithm, seed: &[u8; 32]) -> Result<Self, Error> {
        Ok(Self(match algorithm {
            Algorithm::Ed25519 => {
                Secret::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(seed)))
            }
            Algorithm::P256 => {
                let key = p256::ecdsa::SigningKey::from_slice(seed).map_err(|_| Error::Key {
                    reason: "not below the order of the group",
                })?;
                Secret::P256(Box::new(key))
            }
        }))
    }

    /// Reads a PKCS#8 file in PEM, as `openssl genpkey` writes it. A file that also holds the
    /// public key must hold the right one.
    ///
    /// # Errors
    /// `ERR_KEY`, without a part of the file.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        use p256::pkcs8::DecodePrivateKey as _;
        if pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
            return Err(Error::Key {
                reason: "the file is encrypted under a passphrase",
            });
        }
        if let Ok(key) = ed25519_dalek::SigningKey::from_pkcs8_pem(pem) {
            return Ok(Self(Secret::Ed25519(Box::new(key))));
        }
        if let Ok(key) = p256::ecdsa::SigningKey::from_pkcs8_pem(pem) {
            return Ok(Self(Secret::P256(Box::new(key))));
        }
        Err(Error::Key {
            reason: "neither an Ed25519 nor a P-256 secret key in PKCS#8 PEM",
        })
    }

    /// Returns the key as PKCS#8 in PEM, as `openssl genpkey` writes it: wiped when dropped.
    ///
    /// # Errors
    /// `ERR_KEY`.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, Error> {
        match &self.0 {
            Secret::Ed25519(key) => Ok(ed25519_pem(key.as_bytes())),
            Secret::P256(key) => {
                use p256::pkcs8::{EncodePrivateKey as _, LineEnding};
                key.to_pkcs8_pem(LineEnding::LF).map_err(|_| Error::Key {
                    reason: "cannot be written as PEM",
                })
            }
        }
    }

    /// Returns the kind of signatures it makes.
    pub const fn algorithm(&self) -> Algorithm {
        match &self.0 {
            Secret::Ed25519(_) => Algorithm::Ed25519,
            Secret::P256(_) => Algorithm::P256,
        }
    }

    /// Returns the public half.
    pub fn verifying_key(&self) -> VerifyingKey {
        match &self.0 {
            Secret::Ed25519(key) => VerifyingKey(Public::Ed25519(key.verifying_key())),
            Secret::P256(key) => VerifyingKey(Public::P256(*key.verifying_key())),
        }
    }

    /// Returns the `did:key` of the public half.
    pub fn did(&self) -> Did {
        self.verifying_key().did()
    }

    /// Signs. The same key and message give the same signature: neither algorithm draws a nonce,
    /// ECDSA derives it as RFC 6979 does.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<[u8; 64], Error> {
        match &self.0 {
            Secret::Ed25519(key) => {
                use ed25519_dalek::Signer as _;
                Ok(key.sign(message).to_bytes())
            }
            Secret::P256(key) => {
                use p256::ecdsa::signature::Signer as _;
                let signed: Result<p256::ecdsa::Signature, _> = key.try_sign(message);
                let signature = signed.map_err(|_| Error::Signature)?;
                Ok(signature.to_bytes().into())
            }
        }
    }
}

/// PKCS#8 version 1: version 2, which the library writes, repeats the public key, and common
/// tools cannot read it.
fn ed25519_pem(seed: &[u8; 32]) -> Zeroizing<String> {
    let mut der = Zeroizing::new(ED25519_PKCS8.to_vec());
    // One allocation that never grows: growing would leave a copy of the secret behind.
    der.reserve_exact(seed.len());
    der.extend_from_slice(seed);
    let mut base64 = data_encoding::BASE64.encode(&der);
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
    base64.zeroize();
    Zeroizing::new(pem)
}

/// A sequence of version 0, the algorithm 1.3.101.112, and an octet string in an octet string.
const ED25519_PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

const ATTEMPTS: usize = 16;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const fn is_wiped<T: zeroize::ZeroizeOnDrop>() {}

    #[test]
    fn secrets_are_wiped_when_they_go() {
        is_wiped::<ed25519_dalek::SigningKey>();
        is_wiped::<p256::ecdsa::SigningKey>();
        is_wiped::<Zeroizing<String>>();
    }

    /// Finds the inherent constant where `T` has the trait, the one of this trait where not.
    trait Without {
        const HAS: bool = false;
    }

    impl<T> Without for T {}

    struct Cloned<T>(Cell<T>);
    impl<T: Clone> Cloned<T> {
        const HAS: bool = true;
    }

    struct Printed<T>(Cell<T>);
    impl<T: std::fmt::Debug> Printed<T> {
        const HAS: bool = true;
    }

    struct Shown<T>(Cell<T>);
    impl<T: std::fmt::Display> Shown<T> {
        const HAS: bool = true;
    }

    #[test]
    fn a_signing_key_cannot_be_cloned_or_printed() {
        let has = (
            Cloned::<SigningKey>::HAS,
            Printed::<SigningKey>::HAS,
            Shown::<SigningKey>::HAS,
        );
        assert_eq!(has, (false, false, false));
        // The check sees what is there.
        let has = (
            Cloned::<String>::HAS,
            Printed::<String>::HAS,
            Shown::<String>::HAS,
        );
        assert_eq!(has, (true, true, true));
    }
}

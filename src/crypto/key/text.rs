//! Public keys as text: PEM, JWK, and the key of a `did:key`; signatures as foreign formats have
//! them.

use data_encoding::BASE64URL_NOPAD;
use p256::pkcs8::DecodePublicKey as _;

use crate::codec::{Map, Value};

use super::{Algorithm, Public, VerifyingKey};
use crate::crypto::{Did, Error};

impl VerifyingKey {
    /// Reads a key as foreign formats spell it: a `did:key`, its multibase part, an Ed25519 key in
    /// base58 or base64url, either kind as a JWK (RFC 7517), and P-256 in PEM (PAM 18.2).
    ///
    /// ```
    /// use grainstore::crypto::VerifyingKey;
    ///
    /// let spelled = "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
    /// let key = VerifyingKey::from_text(spelled)?;
    /// assert_eq!(key, VerifyingKey::from_text(&format!("did:key:{spelled}"))?);
    /// # Ok::<(), grainstore::crypto::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_KEY`.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        let wrong = Error::Key {
            reason: "not a key in did:key, multibase, base58, base64url, JWK or PEM",
        };
        if text.len() <= STRUCTURED_LEN_MAX && text.starts_with('{') {
            return of_jwk(text).ok_or(wrong);
        }
        if text.len() <= STRUCTURED_LEN_MAX && text.starts_with(PEM) {
            let key = p256::PublicKey::from_public_key_pem(text).map_err(|_| wrong)?;
            return Ok(Self(Public::P256(key.into())));
        }
        // Base58 takes time in the square of its length, so the length is judged first.
        if text.len() > LEN_MAX {
            return Err(wrong);
        }
        let bare = text.strip_prefix("did:key:").unwrap_or(text);
        if let Ok(did) = format!("did:key:{bare}").parse::<Did>()
            && let Some(key) = did.key()
        {
            return Ok(key.clone());
        }
        let unpadded = bare.trim_end_matches('=').as_bytes();
        let spelled = [
            bs58::decode(bare).into_vec().ok(),
            BASE64URL_NOPAD.decode(unpadded).ok(),
        ];
        let read = |bytes: Vec<u8>| Self::new(Algorithm::Ed25519, &bytes).ok();
        let key = spelled.into_iter().flatten().find_map(read);
        key.ok_or(wrong)
    }

    /// Returns the key as a JWK, its members in their canonical order.
    ///
    /// ```
    /// use grainstore::crypto::{Algorithm, OsRandom, SigningKey, VerifyingKey};
    ///
    /// let key = SigningKey::generate(Algorithm::P256, &OsRandom)?.verifying_key();
    /// assert_eq!(VerifyingKey::from_text(&key.to_jwk())?, key);
    /// # Ok::<(), grainstore::crypto::Error>(())
    /// ```
    pub fn to_jwk(&self) -> String {
        let (x, y) = self.0.coordinates();
        let (kind, curve) = match self.algorithm() {
            Algorithm::Ed25519 => ("OKP", "Ed25519"),
            Algorithm::P256 => ("EC", "P-256"),
        };
        let mut jwk = Map::from_iter([("crv", curve), ("kty", kind)]);
        jwk.insert("x", BASE64URL_NOPAD.encode(&x));
        if let Some(y) = y {
            jwk.insert("y", BASE64URL_NOPAD.encode(&y));
        }
        Value::Map(jwk).to_json()
    }

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

fn of_jwk(text: &str) -> Option<VerifyingKey> {
    let value = Value::from_json(text).ok()?;
    let member = |name: &str| value.as_map()?.get(name)?.as_text();
    let number = |name: &str| {
        let bytes = BASE64URL_NOPAD.decode(member(name)?.as_bytes()).ok()?;
        (bytes.len() == 32).then_some(bytes)
    };
    match (member("kty")?, member("crv")?) {
        ("OKP", "Ed25519") => VerifyingKey::new(Algorithm::Ed25519, &number("x")?).ok(),
        ("EC", "P-256") => {
            let point = [&[4][..], &number("x")?, &number("y")?].concat();
            VerifyingKey::new(Algorithm::P256, &point).ok()
        }
        _ => None,
    }
}

/// Longer than any key in one word.
const LEN_MAX: usize = 128;
/// Longer than any key with a structure.
const STRUCTURED_LEN_MAX: usize = 1024;
/// How a public key begins in PEM (RFC 7468).
const PEM: &str = "-----BEGIN PUBLIC KEY-----";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::SigningKey;

    #[derive(Debug)]
    struct Zeros;

    impl crate::crypto::Random for Zeros {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
            bytes.fill(7);
            Ok(())
        }
    }

    #[test]
    fn a_key_is_read_in_every_spelling_and_nothing_else_is_one() {
        let key = SigningKey::generate(Algorithm::Ed25519, &Zeros).unwrap();
        let key = key.verifying_key();
        let did = key.did().to_string();
        let bytes = key.to_bytes();
        for text in [
            did.clone(),
            did.trim_start_matches("did:key:").to_owned(),
            bs58::encode(&bytes).into_string(),
            BASE64URL_NOPAD.encode(&bytes),
            data_encoding::BASE64URL.encode(&bytes),
        ] {
            assert_eq!(VerifyingKey::from_text(&text).unwrap(), key, "{text}");
        }
        let jwk = key.to_jwk();
        assert_eq!(VerifyingKey::from_text(&jwk).unwrap(), key, "{jwk}");
        for text in [
            "{}",
            "-----BEGIN PUBLIC KEY-----",
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
            &jwk.replace("OKP", "RSA"),
            &jwk.replacen("\"x\":\"", "\"x\":\"A", 1),
        ] {
            let read = VerifyingKey::from_text(text);
            assert_eq!(read.unwrap_err().code(), "ERR_KEY", "{text}");
        }
        for text in ["", "z", "did:key:", "did:web:a.b", "1111", &"1".repeat(500)] {
            assert_eq!(VerifyingKey::from_text(text).unwrap_err().code(), "ERR_KEY");
        }
    }
}

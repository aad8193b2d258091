use super::{Algorithm, Did, Error, VerifyingKey};

impl VerifyingKey {
    /// Reads a key as foreign formats spell it: a `did:key`, its multibase part, or an Ed25519 key
    /// in base58 or base64url (PAM 18.2).
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
            reason: "not a key in did:key, multibase, base58 or base64url",
        };
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
            data_encoding::BASE64URL_NOPAD.decode(unpadded).ok(),
        ];
        let read = |bytes: Vec<u8>| Self::new(Algorithm::Ed25519, &bytes).ok();
        let key = spelled.into_iter().flatten().find_map(read);
        key.ok_or(wrong)
    }
}

/// Longer than any key that is read here.
const LEN_MAX: usize = 128;

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
            data_encoding::BASE64URL_NOPAD.encode(&bytes),
            data_encoding::BASE64URL.encode(&bytes),
        ] {
            assert_eq!(VerifyingKey::from_text(&text).unwrap(), key, "{text}");
        }
        for text in ["", "z", "did:key:", "did:web:a.b", "1111", &"1".repeat(500)] {
            assert_eq!(VerifyingKey::from_text(text).unwrap_err().code(), "ERR_KEY");
        }
    }
}

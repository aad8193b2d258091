//! The law of `did_key`: a `did:key` is a prefix and a key of that kind, and nothing else is.

use grainstore::crypto::{Algorithm, Did, VerifyingKey};

use crate::meter::{PLAIN, measure};

/// Reads text as a DID; then bytes as what a `did:key` is made of.
///
/// - An accepted DID is printed as it was read, and one that holds a key is that key's DID.
/// - Bytes are a `did:key` if they are one of two prefixes and a key of that kind, and nothing
///   else is.
pub fn did_key(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(did) = measure(PLAIN, text.len(), || text.parse::<Did>()) {
        assert_eq!((did.as_str(), did.to_string()), (&*text, text.to_string()));
        if let Some(key) = did.key() {
            assert_eq!(key.did(), did);
        } else {
            assert!(text.starts_with("did:web:"));
        }
    }
    let key = match data {
        [0xed, 0x01, key @ ..] => Some((Algorithm::Ed25519, key)),
        [0x80, 0x24, key @ ..] if key.len() == 33 => Some((Algorithm::P256, key)),
        _ => None,
    };
    let key = key.and_then(|(algorithm, key)| VerifyingKey::new(algorithm, key).ok());
    // Longer ones are refused by their length, which the text above tries.
    let bytes = &data[..data.len().min(64)];
    let did = format!("did:key:z{}", base58(bytes)).parse::<Did>();
    assert_eq!(did.ok().and_then(|did| did.key().cloned()), key);
}

/// Written apart from the library that the code under test uses.
fn base58(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let mut digits: Vec<usize> = Vec::new();
    for byte in bytes {
        let mut carry = usize::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    let text = digits.iter().rev().map(|digit| char::from(DIGITS[*digit]));
    "1".repeat(zeros) + &text.collect::<String>()
}

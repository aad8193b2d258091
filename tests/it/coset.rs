//! Signature messages against a second implementation of COSE (RFC 9052), in both directions.
//!
//! The other implementation reads a `kid` as bytes only, and OMS 9.1 has a text there: it gets our
//! protected header as the bytes it must sign, and its own messages come without a `kid`.

use coset::{CborSerializable as _, CoseSign1, CoseSign1Builder, Header, HeaderBuilder};
use coset::{ProtectedHeader, TaggedCborSerializable as _, iana};
use ed25519_dalek::Signer as _;
use grainstore::crypto::{Algorithm, Offline, Payload, Sign1, SigningKey, VerifyingKey};

use super::signing::key;

const BOTH: [Algorithm; 2] = [Algorithm::Ed25519, Algorithm::P256];
const PAYLOADS: [&[u8]; 4] = [b"", b"hello", &[0x80; 24], &[0xff; 70_000]];

/// Reads our message as the other implementation sees it.
fn read_by_coset(bytes: &[u8]) -> CoseSign1 {
    let message: ciborium::Value = ciborium::from_reader(bytes).unwrap();
    let parts = message.into_array().unwrap();
    let [protected, _, payload, signature] = parts.try_into().unwrap();
    CoseSign1 {
        protected: ProtectedHeader {
            original_data: Some(protected.into_bytes().unwrap()),
            header: Header::default(),
        },
        unprotected: Header::default(),
        payload: payload.into_bytes().ok(),
        signature: signature.into_bytes().unwrap(),
    }
}

fn verify(key: &VerifyingKey, signature: &[u8], data: &[u8]) -> Result<(), String> {
    let signature = signature
        .try_into()
        .map_err(|_| "not 64 bytes".to_owned())?;
    key.verify(data, signature)
        .map_err(|error| error.to_string())
}

#[test]
fn what_is_signed_here_verifies_there() {
    for algorithm in BOTH {
        let key: SigningKey = key(algorithm, 7);
        let public = key.verifying_key();
        for payload in PAYLOADS {
            let sign = |payload| Sign1::sign("text/plain", payload, &key, &key.did(), Some(5));
            let embedded = read_by_coset(&sign(Payload::Embedded(payload)).unwrap());
            assert_eq!(embedded.payload.as_deref(), Some(payload));
            embedded
                .verify_signature(b"", |signature, data| verify(&public, signature, data))
                .unwrap();
            let wrong =
                embedded.verify_signature(b"x", |signature, data| verify(&public, signature, data));
            assert!(wrong.is_err(), "other associated data");
            let detached = read_by_coset(&sign(Payload::Detached(payload)).unwrap());
            detached
                .verify_detached_signature(payload, b"", |signature, data| {
                    verify(&public, signature, data)
                })
                .unwrap();
        }
    }
}

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// Returns how the other implementation signs, and the key that verifies it here.
fn foreign_key(algorithm: Algorithm) -> (Sign, VerifyingKey) {
    match algorithm {
        Algorithm::Ed25519 => {
            let key = ed25519_dalek::SigningKey::from_bytes(&[9; 32]);
            let public = VerifyingKey::new(algorithm, key.verifying_key().as_bytes()).unwrap();
            (Box::new(move |data| key.sign(data).to_vec()), public)
        }
        Algorithm::P256 => {
            let key = p256::ecdsa::SigningKey::from_slice(&[9; 32]).unwrap();
            let point = key.verifying_key().to_sec1_point(true);
            let public = VerifyingKey::new(algorithm, point.as_bytes()).unwrap();
            let sign = move |data: &[u8]| {
                let signature: p256::ecdsa::Signature = key.sign(data);
                signature.to_bytes().to_vec()
            };
            (Box::new(sign), public)
        }
    }
}

#[test]
fn what_is_signed_there_verifies_here() {
    for algorithm in BOTH {
        let (sign, public) = foreign_key(algorithm);
        let name = match algorithm {
            Algorithm::Ed25519 => iana::Algorithm::EdDSA,
            Algorithm::P256 => iana::Algorithm::ES256,
        };
        for payload in PAYLOADS {
            let protected = HeaderBuilder::new()
                .algorithm(name)
                .content_type("text/plain".into())
                .build();
            let made = || CoseSign1Builder::new().protected(protected.clone());
            let embedded = made()
                .payload(payload.to_vec())
                .create_signature(b"", |data| sign(data))
                .build();
            let detached = made()
                .create_detached_signature(payload, b"", |data| sign(data))
                .build();
            for (message, is_carried) in [(embedded, true), (detached, false)] {
                let untagged = message.clone().to_vec().unwrap();
                for bytes in [untagged, message.to_tagged_vec().unwrap()] {
                    let read = Sign1::parse(&bytes).unwrap();
                    assert_eq!(read.algorithm(), algorithm);
                    assert_eq!(read.content_type(), Some("text/plain"));
                    assert_eq!(read.payload(), is_carried.then_some(payload));
                    read.verify_with(payload, &public).unwrap();
                    assert!(read.verify_with(b"another", &public).is_err());
                    // Without a `kid` nothing says who signed.
                    assert!(read.verify(payload, &Offline).is_err());
                }
            }
        }
    }
}

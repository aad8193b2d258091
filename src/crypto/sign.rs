//! Making signatures: of grains, of their envelopes, and of statements about them and the ledger.
//!
//! All of it needs the feature `signatures`; reading what was signed does not.

use crate::codec::cbor_head::write_int;
use crate::codec::{Canonical, Encoding, Map, Profile, Value};
use crate::grain::Grain;

use super::attest::{CHECKPOINT, ERASURE, RECEIPT};
use super::envelope::{content_type, signed_header};
use super::item::{write_bytes, write_text};
use super::sign1::{ALG, ALG_EDDSA, ALG_ES256, CONTENT_TYPE, KID, to_be_signed, write};
use super::{
    Algorithm, Checkpoint, Did, Envelope, ErasureReceipt, Error, Receipt, Sign1, SigningKey,
    Statement, statement,
};

/// The payload that is signed, and whether the message carries it.
///
/// ```
/// use grainstore::crypto::{Algorithm, Offline, OsRandom, Payload, Sign1, SigningKey};
///
/// let key = SigningKey::generate(Algorithm::P256, &OsRandom)?;
/// let payload = Payload::Detached(b"the minutes");
/// let bytes = Sign1::sign("text/plain", payload, &key, &key.did(), None)?;
/// let message = Sign1::parse(&bytes)?;
/// assert_eq!(message.payload(), None);
/// assert!(message.verify(b"the minutes", &Offline).is_ok());
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Payload<'a> {
    /// Inside the message.
    Embedded(&'a [u8]),
    /// Elsewhere: the verifier must have it already.
    Detached(&'a [u8]),
}

impl Sign1<'_> {
    /// Signs a payload; `iat` is a time in seconds since 1970 that the signer claims.
    ///
    /// # Errors
    /// `ERR_KEY` for the `did:key` of another key.
    pub fn sign(
        content_type: &str,
        payload: Payload<'_>,
        key: &SigningKey,
        did: &Did,
        iat: Option<i64>,
    ) -> Result<Vec<u8>, Error> {
        if did.key().is_some_and(|named| *named != key.verifying_key()) {
            return Err(Error::Key {
                reason: "the DID is another key's",
            });
        }
        let protected = write_protected(key.algorithm(), content_type, did);
        let mut unprotected = vec![EMPTY_MAP];
        if let Some(iat) = iat {
            unprotected = vec![MAP_OF_ONE];
            write_text(&mut unprotected, "iat");
            write_int(&mut unprotected, iat);
        }
        let (payload, carried) = match payload {
            Payload::Embedded(payload) => (payload, Some(payload)),
            Payload::Detached(payload) => (payload, None),
        };
        let signature = key.sign(&to_be_signed(&protected, payload))?;
        Ok(write(&protected, &unprotected, carried, &signature))
    }
}

impl Envelope<'_> {
    /// Signs a blob; `iat` is a time in seconds since 1970 that the signer claims.
    ///
    /// # Errors
    /// `ERR_SIGNED_MISMATCH` for a blob that is not flagged as signed (ruling S1: the flag is part
    /// of the address, so it is set when the grain is written); `ERR_KEY` for the `did:key` of
    /// another key; `ERR_TOO_SHORT`, `ERR_VERSION`.
    pub fn sign(
        blob: &[u8],
        key: &SigningKey,
        did: &Did,
        iat: Option<i64>,
    ) -> Result<Vec<u8>, Error> {
        let header = signed_header(blob)?;
        let content_type = content_type(header.encoding());
        Sign1::sign(content_type, Payload::Embedded(blob), key, did, iat)
    }
}

/// Signs the grain, which was written to be signed: its address stays what it is (OMS 9.2).
/// `iat` is a time in seconds since 1970 that the signer claims.
///
/// ```
/// use grainstore::crypto::{self, Algorithm, Offline, OsRandom, SigningKey};
/// use grainstore::{Draft, grain::Time};
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let draft = Draft::event("hello").created_at(Time::from_ms(1)).to_be_signed();
/// let grain = crypto::sign(draft.finish(Default::default())?, &key, &key.did(), None)?;
/// let (received, _) = crypto::from_delivery(&crypto::to_delivery(&grain)?, Default::default())?;
/// assert_eq!(crypto::verify_signature(&received, &Offline)?.did, key.did());
/// assert_eq!(received, grain);
/// # Ok::<(), grainstore::Error>(())
/// ```
///
/// # Errors
/// As [`Envelope::sign`].
pub fn sign(grain: Grain, key: &SigningKey, did: &Did, iat: Option<i64>) -> Result<Grain, Error> {
    let bytes = Envelope::sign(grain.blob(), key, did, iat)?;
    let detached = Envelope::parse(&bytes)?.to_detached();
    Ok(grain.with_envelope(detached))
}

impl Statement {
    /// Signs it; for a supersession the result is one element of `supersession_auth`.
    ///
    /// # Errors
    /// `ERR_KEY` for the `did:key` of another key.
    pub fn sign(&self, key: &SigningKey, did: &Did, iat: Option<i64>) -> Result<Vec<u8>, Error> {
        Sign1::sign(
            statement::CONTENT_TYPE,
            Payload::Detached(self.payload()),
            key,
            did,
            iat,
        )
    }
}

impl Checkpoint {
    /// Signs it: a COSE_Sign1 message with the statement inside.
    ///
    /// # Errors
    /// `ERR_KEY` for the `did:key` of another key.
    pub fn sign(&self, key: &SigningKey, did: &Did) -> Result<Vec<u8>, Error> {
        let mut map = Map::from_iter([
            ("store", Value::Bytes(self.store.to_vec())),
            ("entries", self.entries.into()),
            ("head", Value::Bytes(self.head.to_vec())),
            ("root", Value::Bytes(self.root.to_vec())),
            ("time", self.time.ms().into()),
        ]);
        if let Some(previous) = self.previous {
            map.insert("prev", Value::Bytes(previous.to_vec()));
        }
        sign_map(CHECKPOINT, map, key, did)
    }
}

impl Receipt {
    /// Signs it: a COSE_Sign1 message with the statement inside.
    ///
    /// # Errors
    /// `ERR_KEY` for the `did:key` of another key.
    pub fn sign(&self, key: &SigningKey, did: &Did) -> Result<Vec<u8>, Error> {
        let map = Map::from_iter([
            ("store", Value::Bytes(self.store.to_vec())),
            ("grain", Value::Bytes(self.grain.as_bytes().to_vec())),
            ("sequence", self.sequence.into()),
            ("time", self.time.ms().into()),
        ]);
        sign_map(RECEIPT, map, key, did)
    }
}

impl ErasureReceipt {
    /// Signs it: a COSE_Sign1 message with the statement inside.
    ///
    /// # Errors
    /// `ERR_KEY` for the `did:key` of another key.
    pub fn sign(&self, key: &SigningKey, did: &Did) -> Result<Vec<u8>, Error> {
        let bytes = |hash: &[u8]| Value::Bytes(hash.to_vec());
        let persons = self.persons.iter().map(|hash| bytes(hash));
        let kept = self.kept.iter().map(|(address, rule)| {
            Value::Array(vec![bytes(address.as_bytes()), rule.as_str().into()])
        });
        let mut map = Map::from_iter([
            ("store", bytes(&self.store)),
            ("nonce", bytes(&self.nonce)),
            ("persons", Value::Array(persons.collect())),
            ("time", self.time.ms().into()),
            ("entries", self.entries.into()),
            ("head", bytes(&self.head)),
            ("begun", list(self.begun.iter().copied())),
            ("erased", self.erased.into()),
            ("root", bytes(&self.root)),
            ("blanked", self.blanked.into()),
            ("kept", Value::Array(kept.collect())),
            ("mentions", self.mentions.into()),
            ("records", self.records.into()),
        ]);
        if let Some(tree) = &self.tree {
            map.insert("tree", bytes(tree));
            let proofs = self.proofs.iter().map(|proof| bytes(proof));
            map.insert("proofs", Value::Array(proofs.collect()));
        }
        if let Some((before, after)) = self.epochs {
            map.insert("epochs", list([before, after]));
        }
        if let Some(check) = &self.key_check {
            map.insert("kcv", bytes(check));
        }
        if self.locked_persons > 0 {
            map.insert("locked", self.locked_persons);
        }
        if !self.escrows.is_empty() {
            let escrows = self.escrows.iter();
            let escrows = escrows
                .map(|(name, end)| Value::Array(vec![name.as_str().into(), end.ms().into()]));
            map.insert("escrows", Value::Array(escrows.collect()));
        }
        sign_map(ERASURE, map, key, did)
    }
}

fn list(numbers: impl IntoIterator<Item = u64>) -> Value {
    Value::Array(numbers.into_iter().map(Value::from).collect())
}

fn sign_map(kind: &str, map: Map, key: &SigningKey, did: &Did) -> Result<Vec<u8>, Error> {
    let map = Canonical::new(map, Profile::Extended)?;
    let payload = Encoding::MessagePack.encode(&map);
    Sign1::sign(kind, Payload::Embedded(&payload), key, did, None)
}

fn write_protected(algorithm: Algorithm, content_type: &str, did: &Did) -> Vec<u8> {
    let mut out = vec![MAP_OF_THREE];
    ALG.write(&mut out);
    let algorithm = match algorithm {
        Algorithm::Ed25519 => ALG_EDDSA,
        Algorithm::P256 => ALG_ES256,
    };
    write_int(&mut out, algorithm);
    CONTENT_TYPE.write(&mut out);
    write_text(&mut out, content_type);
    KID.write(&mut out);
    write_bytes(&mut out, did.as_str().as_bytes());
    out
}

const EMPTY_MAP: u8 = 0xa0;
const MAP_OF_ONE: u8 = 0xa1;
const MAP_OF_THREE: u8 = 0xa3;

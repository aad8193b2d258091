//! Statements that authorize one operation on one grain of one store (OMS 23.2, ruling I10).

use crate::codec::{Canonical, ContentAddress, Encoding, Map, Profile, Value};
use crate::grain::{self, Grain, Verification};

use super::{Did, Error, Resolver, Sign1, Signer};

/// The statement signed to authorize one operation on one grain of one store (OMS 23.2, I10).
///
/// It binds the operation, the grain it is about, the store, and for a supersession the new grain
/// without its `supersession_auth`: a signature given for one of them fits no other. The signature
/// is a COSE_Sign1 without payload, since the verifier computes the payload.
///
/// ```
/// use grainstore::crypto::{Algorithm, Offline, OsRandom, SigningKey, Statement};
/// use grainstore::{Draft, codec::Value, grain::Time};
///
/// let store = [7; 16];
/// let old = Draft::event("rent is 900").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let draft = Draft::event("rent is 950").created_at(Time::from_ms(2)).derived_from(old.address());
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
///
/// // Each signer signs the grain as it is before it carries signatures.
/// let proposed = draft.clone().finish(Default::default())?;
/// let statement = Statement::supersede(&proposed, old.address(), store)?;
/// let signature = statement.sign(&key, &key.did(), None)?;
///
/// let new = draft.push("supersession_auth", Value::Bytes(signature)).finish(Default::default())?;
/// let signers = Statement::supersede(&new, old.address(), store)?.signers_in(&new, &Offline);
/// assert_eq!(signers.among(&[key.did().as_str()]), [&key.did()]);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    payload: Vec<u8>,
}

impl Statement {
    /// States that `new` replaces `old` in a store.
    ///
    /// # Errors
    /// `ERR_CORRUPT` for a grain of a later type whose fields cannot be written again.
    pub fn supersede(
        new: &Grain,
        old: ContentAddress,
        store_id: [u8; 16],
    ) -> Result<Self, grain::Error> {
        let proposed = new.blob_without("supersession_auth")?;
        let proposed = ContentAddress::of(&proposed).as_bytes().to_vec();
        Self::new(
            "supersede",
            old,
            store_id,
            Some(("new", Value::Bytes(proposed))),
        )
    }

    /// States that a grain is contradicted.
    ///
    /// # Errors
    /// None that any input brings about.
    pub fn contradict(target: ContentAddress, store_id: [u8; 16]) -> Result<Self, grain::Error> {
        Self::new("contradict", target, store_id, None)
    }

    /// States that a grain has a verification status.
    ///
    /// # Errors
    /// None that any input brings about.
    pub fn verify(
        target: ContentAddress,
        status: Verification,
        store_id: [u8; 16],
    ) -> Result<Self, grain::Error> {
        let status = Value::from(status.name());
        Self::new("verify", target, store_id, Some(("status", status)))
    }

    fn new(
        operation: &str,
        target: ContentAddress,
        store_id: [u8; 16],
        besides: Option<(&'static str, Value)>,
    ) -> Result<Self, grain::Error> {
        let mut map = Map::new();
        map.insert("grain", Value::Bytes(target.as_bytes().to_vec()));
        map.insert("operation", operation);
        map.insert("store", Value::Bytes(store_id.to_vec()));
        if let Some((key, value)) = besides {
            map.insert(key, value);
        }
        let map = Canonical::new(map, Profile::Extended)?;
        let payload = Encoding::MessagePack.encode(&map);
        Ok(Self { payload })
    }

    /// Returns the bytes that are signed; the signature does not carry them.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Checks one signature.
    ///
    /// # Errors
    /// `ERR_SIGNATURE` above all; `ERR_CORRUPT`, `ERR_UNSUPPORTED`, `ERR_DID`, `ERR_UNRESOLVED`.
    pub fn verify_one(&self, signature: &[u8], resolver: &dyn Resolver) -> Result<Signer, Error> {
        let message = Sign1::parse(signature)?;
        if message.payload().is_some() {
            return Err(Error::Envelope {
                reason: "an authorization carries no payload",
            });
        }
        // A signature that the signer gave for another purpose is no authorization.
        if message.content_type() != Some(CONTENT_TYPE) {
            return Err(Error::Envelope {
                reason: "the content type is not that of an authorization",
            });
        }
        message.verify(&self.payload, resolver)
    }

    /// Checks signatures and returns who made them. A signature that does not verify is ignored and
    /// reported.
    pub fn signers<'a>(
        &self,
        signatures: impl IntoIterator<Item = &'a [u8]>,
        resolver: &dyn Resolver,
    ) -> Signers {
        let mut signers = Signers::default();
        for (index, signature) in signatures.into_iter().enumerate() {
            let verified = if index < SIGNATURES_MAX {
                self.verify_one(signature, resolver)
            } else {
                Err(Error::Envelope {
                    reason: "more than 64 signatures",
                })
            };
            match verified {
                Ok(signer) if signers.verified.contains(&signer) => {}
                Ok(signer) => signers.verified.push(signer),
                Err(error) => signers.refused.push((index, error)),
            }
        }
        signers
    }

    /// Checks the signatures that a superseding grain carries in `supersession_auth`.
    pub fn signers_in(&self, new: &Grain, resolver: &dyn Resolver) -> Signers {
        let carried = new.field("supersession_auth").and_then(Value::as_array);
        let elements = carried.unwrap_or_default().iter();
        self.signers(elements.filter_map(Value::as_bytes), resolver)
    }
}

/// The signers of a statement.
///
/// ```
/// use grainstore::crypto::Signers;
///
/// assert!(Signers::default().among(&["did:web:example.com"]).is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Signers {
    /// The signers whose signatures verified, each DID and key once.
    pub verified: Vec<Signer>,
    /// The signatures that did not verify, by their place, with the reason.
    pub refused: Vec<(usize, Error)>,
}

impl Signers {
    /// Returns every DID that signed, each once.
    pub fn dids(&self) -> Vec<&Did> {
        let mut dids: Vec<_> = self.verified.iter().map(|signer| &signer.did).collect();
        dids.sort_unstable();
        dids.dedup();
        dids
    }

    /// Returns those of the authorized DIDs that signed, one for each key: two names of one key
    /// are one voice in a quorum.
    pub fn among<S: AsRef<str>>(&self, authorized: &[S]) -> Vec<&Did> {
        let mut counted: Vec<&Signer> = Vec::new();
        for signer in &self.verified {
            let is_authorized = authorized
                .iter()
                .any(|did| did.as_ref() == signer.did.as_str());
            let is_counted = |other: &&Signer| other.key == signer.key || other.did == signer.did;
            if is_authorized && !counted.iter().any(is_counted) {
                counted.push(signer);
            }
        }
        counted.into_iter().map(|signer| &signer.did).collect()
    }
}

/// Neither a grain nor a checkpoint: a signature for one is no signature for the other.
pub(super) const CONTENT_TYPE: &str = "application/vnd.grainstore.statement+msgpack";

/// A quorum is counted in people; a grain of 1 MiB could hold thousands of signatures to check.
const SIGNATURES_MAX: usize = 64;

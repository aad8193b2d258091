//! Statements that authorize one operation on one grain of one store (OMS 23.2, ruling I10), and
//! the two forms of a supersession's signature that name no store (ruling P9).

use crate::codec::{Canonical, ContentAddress, Encoding, Map, Profile, Value};
use crate::grain::{self, Grain, Verification};

use super::envelope::content_type;
use super::{Did, Error, Resolver, Sign1, Signer};
use crate::crypto::verify_signature;

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
/// assert_eq!(signers.voices(), [[key.did().to_string()]]);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    payload: Vec<u8>,
    proposed: Option<Proposed>,
}

/// The superseding blob without `supersession_auth`, which other implementations sign (ruling I10).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Proposed {
    blob: Vec<u8>,
    content_type: &'static str,
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
        let blob = new.blob_without("supersession_auth")?;
        let address = ContentAddress::of(&blob).as_bytes().to_vec();
        let besides = Some(("new", Value::Bytes(address)));
        let statement = Self::new("supersede", old, store_id, besides)?;
        let content_type = content_type(new.encoding());
        Ok(Self {
            proposed: Some(Proposed { blob, content_type }),
            ..statement
        })
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
        Ok(Self {
            payload,
            proposed: None,
        })
    }

    /// Returns the bytes that are signed; the signature does not carry them.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Checks one signature: of the statement, or, for a supersession, of the superseding blob
    /// without its `supersession_auth` (rulings I10, P9). The latter names no store, so it counts in
    /// every store that has the superseded grain.
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
        let signed = match (message.content_type(), &self.proposed) {
            (Some(CONTENT_TYPE), _) => &self.payload,
            (Some(of), Some(proposed)) if of == proposed.content_type => &proposed.blob,
            _ => {
                return Err(Error::Envelope {
                    reason: "the content type is not that of an authorization",
                });
            }
        };
        message.verify(signed, resolver)
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

    /// Checks the signatures that a superseding grain carries in `supersession_auth`, and the one
    /// around itself: a grain that an authorized DID signed replaces the one that it names (OMS
    /// 23.2, ruling P9).
    pub fn signers_in(&self, new: &Grain, resolver: &dyn Resolver) -> Signers {
        let carried = new.field("supersession_auth").and_then(Value::as_array);
        let elements = carried.unwrap_or_default().iter();
        let mut signers = self.signers(elements.filter_map(Value::as_bytes), resolver);
        if new.envelope().is_some()
            && let Ok(signer) = verify_signature(new, resolver)
            && !signers.verified.contains(&signer)
        {
            signers.verified.push(signer);
        }
        signers
    }
}

/// The signers of a statement.
///
/// ```
/// use grainstore::crypto::Signers;
///
/// assert!(Signers::default().voices().is_empty());
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

    /// Returns the keys that signed, each as all DIDs that it is known by, its `did:key` among them:
    /// two names of one key are one voice in a quorum, and so are two keys of one name (ruling P8).
    pub fn voices(&self) -> Vec<Vec<String>> {
        let mut voices: Vec<Vec<String>> = Vec::new();
        for signer in &self.verified {
            let mut names = vec![signer.key.did().to_string(), signer.did.to_string()];
            names.dedup();
            let is_same = |voice: &mut Vec<String>| voice.iter().any(|name| names.contains(name));
            for same in voices.extract_if(.., is_same).collect::<Vec<_>>() {
                names.extend(
                    same.into_iter()
                        .filter(|name| !names.contains(name))
                        .collect::<Vec<_>>(),
                );
            }
            voices.push(names);
        }
        voices
    }
}

/// Neither a grain nor a checkpoint: a signature for one is no signature for the other.
pub(super) const CONTENT_TYPE: &str = "application/vnd.grainstore.statement+msgpack";

/// A quorum is counted in people; a grain of 1 MiB could hold thousands of signatures to check.
const SIGNATURES_MAX: usize = 64;

//! From a DID to its keys: the interface to a resolver of the caller, and the one that is offline.
//!
//! This crate opens no connection.

use std::fmt;

use crate::grain::Grain;

use super::{Did, Error, VerifyingKey};

/// Finds the keys of a DID that does not hold its own. Only a caller's resolver may touch a
/// network; a `did:key` never gets here.
///
/// ```
/// use grainstore::crypto::{Did, Error, Resolver, VerifyingKey};
///
/// /// Knows one organisation, whose keys an operator has pinned.
/// #[derive(Debug)]
/// struct Pinned(Did, Vec<VerifyingKey>);
///
/// impl Resolver for Pinned {
///     fn resolve(&self, did: &Did) -> Result<Vec<VerifyingKey>, Error> {
///         if *did == self.0 {
///             return Ok(self.1.clone());
///         }
///         let reason = "not pinned".into();
///         Err(Error::Unresolved { did: did.clone(), reason })
///     }
/// }
/// ```
pub trait Resolver: fmt::Debug + Send + Sync {
    /// Returns the keys that may sign for a DID.
    ///
    /// # Errors
    /// `ERR_UNRESOLVED`.
    fn resolve(&self, did: &Did) -> Result<Vec<VerifyingKey>, Error>;
}

/// The resolver that resolves nothing: only `did:key` signers can be verified.
///
/// ```
/// use grainstore::crypto::{Offline, Resolver};
///
/// let unresolved = Offline.resolve(&"did:web:example.com".parse()?).unwrap_err();
/// assert_eq!(unresolved.code(), "ERR_UNRESOLVED");
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Resolver for Offline {
    fn resolve(&self, did: &Did) -> Result<Vec<VerifyingKey>, Error> {
        Err(Error::Unresolved {
            did: did.clone(),
            reason: "no resolver is configured".into(),
        })
    }
}

/// The signer of a verified signature, and the key that made it.
///
/// Verification proves that this signer signed these bytes. It does not prove that the signer is
/// the author, or may do anything (OMS 20.1).
///
/// ```
/// use grainstore::crypto::{Algorithm, Envelope, Offline, OsRandom, SigningKey};
/// use grainstore::{Draft, grain::Time};
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let draft = Draft::event("hello").created_at(Time::from_ms(1)).to_be_signed();
/// let grain = draft.author(key.did().as_str()).finish(Default::default())?;
/// let envelope = Envelope::sign(grain.blob(), &key, &key.did(), None)?;
/// let signer = Envelope::parse(&envelope)?.verify(&Offline)?;
/// assert!(signer.is_author_of(&grain));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// Who.
    pub did: Did,
    /// The key that the signature fits.
    pub key: VerifyingKey,
}

impl Signer {
    /// Returns whether the grain names the signer as its author (ruling S2).
    pub fn is_author_of(&self, grain: &Grain) -> bool {
        grain.text("author_did") == Some(self.did.as_str())
    }
}

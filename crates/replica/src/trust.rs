//! Signed manifests: a signature pins what was shipped, for readers who know the signer.

use std::fmt;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use grainstore::crypto::{self, Did, Offline, Payload, Resolver, Sign1, SigningKey};

use crate::Error;
use crate::manifest::Manifest;

/// The signer whose manifests are believed, and no others.
///
/// ```
/// use std::sync::Arc;
/// use grainstore::crypto::{Algorithm, Offline, OsRandom, SigningKey};
/// use grainstore_replica::TrustedSigner;
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let signer = TrustedSigner::new(key.did(), Arc::new(Offline));
/// assert!(format!("{signer:?}").contains("did:key"));
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Clone)]
pub struct TrustedSigner {
    did: Did,
    resolver: Arc<dyn Resolver>,
}

impl TrustedSigner {
    /// Believes the manifests of a signer, whose keys the resolver finds.
    pub fn new(did: Did, resolver: Arc<dyn Resolver>) -> Self {
        Self { did, resolver }
    }

    /// # Errors
    /// `ERR_SIGNATURE` for a manifest without a signature, of another signer, or that was changed.
    pub(crate) fn verify(&self, manifest: &Manifest) -> Result<(), Error> {
        let refused = |reason: &dyn fmt::Display| Error::Unsigned {
            number: manifest.number,
            reason: reason.to_string(),
        };
        let digits = manifest.signature.as_ref();
        let digits = digits.ok_or_else(|| refused(&"it has no signature"))?;
        let message = HEXLOWER.decode(digits.as_bytes());
        let message = message.map_err(|error| refused(&error))?;
        let verified = Sign1::parse(&message).and_then(|message| {
            let is_ours = message.content_type() == Some(CONTENT_TYPE);
            let signer = message.verify(&signed_bytes(manifest), &*self.resolver)?;
            Ok(is_ours && signer.did == self.did)
        });
        match verified.map_err(|error: crypto::Error| refused(&error))? {
            true => Ok(()),
            false => Err(refused(&"another has signed it")),
        }
    }
}

impl fmt::Debug for TrustedSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TrustedSigner").field(&self.did).finish()
    }
}

/// The key that signs manifests; it is not shown.
///
/// ```
/// use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
/// use grainstore_replica::ManifestKey;
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// assert_eq!(format!("{:?}", ManifestKey::from(key)), "ManifestKey");
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Clone)]
pub struct ManifestKey(Arc<SigningKey>);

impl From<SigningKey> for ManifestKey {
    fn from(key: SigningKey) -> Self {
        Self(Arc::new(key))
    }
}

impl fmt::Debug for ManifestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ManifestKey")
    }
}

impl ManifestKey {
    /// Returns the signer that it is.
    pub(crate) fn signer(&self) -> TrustedSigner {
        TrustedSigner::new(self.0.did(), Arc::new(Offline))
    }
}

/// Signs a manifest.
pub(crate) fn sign(manifest: &mut Manifest, key: &ManifestKey) -> Result<(), Error> {
    let ManifestKey(key) = key;
    let bytes = signed_bytes(manifest);
    let message = Sign1::sign(
        CONTENT_TYPE,
        Payload::Detached(&bytes),
        key,
        &key.did(),
        None,
    );
    let message = message.map_err(grainstore::Error::from)?;
    manifest.signature = Some(HEXLOWER.encode(&message));
    Ok(())
}

fn signed_bytes(manifest: &Manifest) -> Vec<u8> {
    let unsigned = Manifest {
        signature: None,
        ..manifest.clone()
    };
    unsigned.to_bytes()
}

/// A signature for another purpose proves nothing here.
const CONTENT_TYPE: &str = "application/vnd.grainstore.replica+json";

//! DID documents that the caller has (OMS 9.3, 12.2, W3C DID Core 5): read, never fetched.

use std::collections::BTreeMap;

use crate::codec::{Map, Value};

use super::{Did, Error, Resolver, VerifyingKey};

/// A [`Resolver`] of the `did:web` whose documents the caller hands in: from a file, from a cache,
/// from a request of its own.
///
/// The keys of a document are those of its `assertionMethod`, or of its `verificationMethod` where
/// it states no purposes: Ed25519 and P-256, as `publicKeyMultibase`, `publicKeyJwk` or
/// `publicKeyBase58`. Other keys are passed over.
///
/// ```
/// use grainstore::crypto::{DidDocuments, Resolver};
///
/// let mut documents = DidDocuments::default();
/// let did = documents.add(r#"{"id": "did:web:example.com", "verificationMethod": [{
///     "id": "did:web:example.com#key-1", "type": "Multikey",
///     "controller": "did:web:example.com",
///     "publicKeyMultibase": "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"}]}"#)?;
/// assert_eq!(documents.resolve(&did)?.len(), 1);
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct DidDocuments(BTreeMap<Did, Vec<VerifyingKey>>);

impl DidDocuments {
    /// Adds a document as JSON, in the place of an earlier one of the same DID; returns the DID.
    ///
    /// # Errors
    /// `ERR_CORRUPT` for what is not JSON; `ERR_DID` without an `id` that is a
    /// `did:web`; `ERR_KEY` without a key that can be used.
    pub fn add(&mut self, json: &str) -> Result<Did, Error> {
        let document = Value::from_json(json)?;
        let no_id = Error::Did {
            reason: "a DID document has the id of a did:web",
        };
        let Some(document) = document.as_map() else {
            return Err(no_id);
        };
        let id = document.get("id").and_then(Value::as_text).ok_or(no_id)?;
        let did: Did = id.parse()?;
        if did.key().is_some() {
            // The document could only contradict the key that the DID itself holds.
            return Err(Error::Did {
                reason: "a did:key holds its own key",
            });
        }
        let keys = keys_of(document, id);
        if keys.is_empty() {
            return Err(Error::Key {
                reason: "no Ed25519 or P-256 key to sign with in the DID document",
            });
        }
        self.0.insert(did.clone(), keys);
        Ok(did)
    }
}

impl Resolver for DidDocuments {
    fn resolve(&self, did: &Did) -> Result<Vec<VerifyingKey>, Error> {
        self.0.get(did).cloned().ok_or_else(|| Error::Unresolved {
            did: did.clone(),
            reason: "no DID document of it is known".into(),
        })
    }
}

/// Returns the keys that may sign statements.
fn keys_of(document: &Map, id: &str) -> Vec<VerifyingKey> {
    let entries = |name| document.get(name).and_then(Value::as_array);
    let methods = entries("verificationMethod").unwrap_or_default();
    let methods: Vec<&Map> = methods.iter().filter_map(Value::as_map).collect();
    let Some(purposes) = entries("assertionMethod") else {
        return methods.into_iter().filter_map(key_of).collect();
    };
    let named = |reference: &str| {
        let is_it = |method: &&&Map| {
            let name = method.get("id").and_then(Value::as_text);
            name.is_some_and(|name| absolute(name, id) == absolute(reference, id))
        };
        methods.iter().find(is_it).copied()
    };
    let purposes = purposes
        .iter()
        .filter_map(|purpose| match purpose.as_text() {
            Some(reference) => named(reference),
            None => purpose.as_map(),
        });
    purposes.filter_map(key_of).collect()
}

/// A reference may leave out the DID of its document.
fn absolute(reference: &str, id: &str) -> String {
    match reference.starts_with('#') {
        true => format!("{id}{reference}"),
        false => reference.to_owned(),
    }
}

fn key_of(method: &Map) -> Option<VerifyingKey> {
    let text = |name| method.get(name).and_then(Value::as_text);
    let jwk = method.get("publicKeyJwk").and_then(Value::as_map);
    let jwk = jwk.map(|jwk| Value::Map(jwk.clone()).to_json());
    let spelled = text("publicKeyMultibase").or_else(|| text("publicKeyBase58"));
    VerifyingKey::from_text(spelled.map_or(jwk.as_deref(), Some)?).ok()
}

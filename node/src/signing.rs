//! Signatures: keys, grains that are signed, grains in transfer form, and the signers that are trusted.

use std::sync::Arc;

use grainstore::codec::Profile;
use grainstore::crypto::{self, Algorithm, Did, DidDocuments, OsRandom, Statement};
use grainstore::grain::{self, Namespace, Verification};
use grainstore::policy::{Trust, TrustRule};
use grainstore::store::{Clock, SystemClock};
use grainstore::{Draft, Error, Grain, Store as Handle, Type};
use napi::bindgen_prelude::{Result, Uint8Array, Unknown};
use napi_derive::napi;

use crate::ask::{Abort, Promised};
use crate::failure::{self, unknown};
use crate::filter::named;
use crate::store::Store;
use crate::value::{self, address, did, draft};

/// A private key, which signs grains and statements; `did` names its public half. It is wiped from memory
/// when it goes.
#[napi]
pub struct SigningKey(Arc<crypto::SigningKey>);

impl SigningKey {
    pub(crate) fn shared(&self) -> Arc<crypto::SigningKey> {
        Arc::clone(&self.0)
    }

    pub(crate) fn key(&self) -> &crypto::SigningKey {
        &self.0
    }

    fn made(key: std::result::Result<crypto::SigningKey, crypto::Error>) -> Result<Self> {
        let key = key.map_err(|source| failure::of(&source.into()))?;
        Ok(Self(Arc::new(key)))
    }

    /// Signs a statement, now.
    fn agreed(
        &self,
        statement: std::result::Result<Statement, grain::Error>,
        of: Option<String>,
    ) -> Result<Uint8Array> {
        let did = of.map_or_else(|| Ok(self.0.did()), |of| did(&of))?;
        let statement = statement.map_err(|source| failure::of(&source.into()))?;
        let now = SystemClock.now().ms().div_euclid(1_000);
        let signature = statement.sign(&self.0, &did, Some(now));
        let signature = signature.map_err(|source| failure::of(&source.into()))?;
        Ok(Uint8Array::from(signature))
    }
}

/// Reads the id of a store.
fn id(text: &str) -> Result<[u8; 16]> {
    let is_one = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u128::from_str_radix(text, 16).ok().filter(|_| is_one);
    let refused = || failure::range("the id of a store is 32 hexadecimal digits");
    number.map(u128::to_be_bytes).ok_or_else(refused)
}

#[napi]
impl SigningKey {
    /// Draws a new key: `Ed25519`, or `P-256`.
    #[napi(factory)]
    pub fn generate(algorithm: String) -> Result<Self> {
        let mut known = [Algorithm::Ed25519, Algorithm::P256].into_iter();
        let of = known.find(|known| known.to_string() == algorithm);
        let of = of.ok_or_else(|| unknown("algorithm", &algorithm))?;
        Self::made(crypto::SigningKey::generate(of, &OsRandom))
    }

    /// Reads a key of PKCS#8 in PEM.
    #[napi(factory)]
    pub fn from_pem(pem: String) -> Result<Self> {
        Self::made(crypto::SigningKey::from_pem(&pem))
    }

    /// Returns the key as PKCS#8 in PEM, which is secret.
    #[napi]
    pub fn to_pem(&self) -> Result<String> {
        let pem = self.0.to_pem();
        pem.map(|pem| pem.to_string())
            .map_err(|source| failure::of(&source.into()))
    }

    /// Agrees that a grain replaces another in one store.
    #[napi(ts_args_type = "fields: object, old: string, storeId: string, of?: string | undefined")]
    pub fn cosign(
        &self,
        fields: Unknown<'_>,
        old: String,
        store_id: String,
        of: Option<String>,
    ) -> Result<Uint8Array> {
        let (old, store_id) = (address(&old)?, id(&store_id)?);
        let new = draft(fields)?.replacing(old).finish(Profile::Extended);
        let statement = new.and_then(|new| Statement::supersede(&new, old, store_id));
        self.agreed(statement, of)
    }

    /// Agrees that a grain is contradicted, or has a verification status, in one store.
    #[napi]
    pub fn agree(
        &self,
        of: String,
        to: String,
        store_id: String,
        did: Option<String>,
    ) -> Result<Uint8Array> {
        let (of, store_id) = (address(&of)?, id(&store_id)?);
        let statement = match to.as_str() {
            "contradict" => Statement::contradict(of, store_id),
            _ => Statement::verify(of, named("agreement", &to, Verification::named)?, store_id),
        };
        self.agreed(statement, did)
    }

    /// The `did:key` of the key.
    #[napi(getter)]
    pub fn did(&self) -> String {
        self.0.did().to_string()
    }
}

/// Returns the resolver of the `did:web` whose documents are given as JSON.
pub(crate) fn resolver(documents: &[String]) -> Result<DidDocuments> {
    let mut known = DidDocuments::default();
    for document in documents {
        let added = known.add(document);
        added.map_err(|source| failure::of(&source.into()))?;
    }
    Ok(known)
}

/// Who signs what is stored through a handle.
#[derive(Clone)]
pub(crate) struct Signer {
    key: Arc<crypto::SigningKey>,
    did: Did,
}

impl Signer {
    pub(crate) const fn did(&self) -> &Did {
        &self.did
    }

    /// Signs a draft with what the handle gives it: a signed grain is finished before it is stored
    /// (OMS 9.2).
    pub(crate) fn sign(&self, store: &Handle, draft: Draft) -> std::result::Result<Grain, Error> {
        let draft = match store.capability() {
            Some(capability) => capability.fill(draft),
            None => draft,
        };
        let draft = draft.to_be_signed().created_at_or(SystemClock.now());
        let grain = draft.finish(Profile::Extended)?;
        Ok(crypto::sign(grain, &self.key, &self.did, None)?)
    }
}

/// The signer of a grain, and how far the rules of `trust` trust the signer with it now.
#[napi(object, object_from_js = false)]
pub struct Signature {
    /// The DID of the signer.
    pub signer: String,
    #[napi(ts_type = "'verified' | 'untrusted'")]
    pub trust: String,
    /// `unknown_signer`, `other_author`, `other_namespace` or `other_type`; missing for `verified`.
    pub doubt: Option<String>,
}

/// The grains that a signer is trusted with.
#[napi(object)]
pub struct Rule {
    /// The DID of the signer.
    pub signer: String,
    /// The namespaces, with those inside them; all if there is none.
    pub namespaces: Vec<String>,
    /// The types; all if there is none.
    pub types: Vec<String>,
    /// The other authors whose grains the signer may sign.
    pub authors: Vec<String>,
    /// Whether only trusted signers may write in the namespaces.
    pub is_exclusive: bool,
}

#[napi]
impl Store {
    #[napi]
    pub fn signed_by(&self, key: &SigningKey, of: Option<String>) -> Result<Self> {
        let key = key.shared();
        let did = of.map_or_else(|| Ok(key.did()), |of| did(&of))?;
        self.signed(Signer { key, did })
    }

    #[napi(ts_return_type = "Promise<Signature | null>")]
    pub fn signature(
        &self,
        of: String,
        abort: Option<&Abort>,
    ) -> Result<Promised<Option<Signature>>> {
        let address = address(&of)?;
        Ok(self.ask(abort, move |store| {
            let found = store.signature(&address)?;
            Ok(found.map(|found| Signature {
                signer: found.signer.to_string(),
                trust: found.trust.name().to_owned(),
                doubt: match found.trust {
                    Trust::Verified => None,
                    Trust::Untrusted(doubt) => Some(doubt.name().to_owned()),
                },
            }))
        }))
    }

    #[napi(ts_return_type = "Promise<Uint8Array | null>")]
    pub fn delivery(
        &self,
        of: String,
        abort: Option<&Abort>,
    ) -> Result<Promised<Option<Uint8Array>>> {
        let address = address(&of)?;
        Ok(self.ask(abort, move |store| {
            Ok(store.delivery(&address)?.map(Uint8Array::from))
        }))
    }

    #[napi(ts_return_type = "Promise<string>")]
    pub fn receive(&self, delivery: Uint8Array, abort: Option<&Abort>) -> Promised<String> {
        let delivery = delivery.to_vec();
        self.ask(abort, move |store| {
            let (grain, _) = crypto::from_delivery(&delivery, Profile::Extended)?;
            Ok(store.put(grain)?.to_string())
        })
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn trust(&self, rule: Rule, reason: String, abort: Option<&Abort>) -> Result<Promised<()>> {
        let types = rule
            .types
            .iter()
            .map(|name| named("type", name, Type::named));
        let rule = TrustRule {
            signer: did(&rule.signer)?,
            types: types.collect::<Result<_>>()?,
            namespaces: rule.namespaces.into_iter().map(Namespace::new).collect(),
            authors: rule.authors,
            is_exclusive: rule.is_exclusive,
        };
        Ok(self.ask(abort, move |store| store.admin()?.trust(rule, &reason)))
    }

    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn distrust(
        &self,
        signer: String,
        reason: String,
        abort: Option<&Abort>,
    ) -> Result<Promised<bool>> {
        let signer = value::did(&signer)?;
        Ok(self.ask(abort, move |store| {
            store.admin()?.distrust(&signer, &reason)
        }))
    }

    #[napi(ts_return_type = "Promise<Rule[]>")]
    pub fn trusted(&self, abort: Option<&Abort>) -> Promised<Vec<Rule>> {
        self.ask(abort, |store| {
            let rules = store.admin()?.trusted().into_iter();
            let rules = rules.map(|rule| Rule {
                signer: rule.signer.to_string(),
                namespaces: rule
                    .namespaces
                    .iter()
                    .map(|it| it.as_str().to_owned())
                    .collect(),
                types: (rule.types.iter())
                    .map(|it| it.name().unwrap_or("unknown").to_owned())
                    .collect(),
                authors: rule.authors,
                is_exclusive: rule.is_exclusive,
            });
            Ok(rules.collect())
        })
    }
}

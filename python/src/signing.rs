//! Signatures: keys, grains that are signed, grains in transfer form, and the signers that are trusted.

use std::sync::Arc;

use grainstore::codec::Profile;
use grainstore::crypto::{self, Algorithm, Did, DidDocuments, OsRandom, Statement};
use grainstore::grain::{self, Namespace, Verification};
use grainstore::policy::{Trust, TrustRule};
use grainstore::store::{Clock, SystemClock};
use grainstore::{Draft, Error, Grain, Store as Handle, Type};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;
use crate::filter::{named, unknown};
use crate::store::Store;
use crate::value::{self, address, did, draft};

/// A private key, which signs grains and statements; `did` names its public half.
///
/// It is wiped from memory when it goes, and is in no `repr`, copy or pickle.
///
/// >>> import grainstore
/// >>> key = grainstore.SigningKey.generate()
/// >>> key.did[:12]
/// 'did:key:z6Mk'
/// >>> grainstore.SigningKey.from_pem(key.to_pem()).did == key.did
/// True
#[pyclass(frozen, module = "grainstore")]
pub(crate) struct SigningKey(Arc<crypto::SigningKey>);

impl SigningKey {
    pub(crate) fn key(&self) -> &crypto::SigningKey {
        &self.0
    }

    /// Signs a statement, now.
    fn agreed<'py>(
        &self,
        py: Python<'py>,
        statement: Result<Statement, grain::Error>,
        of: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let did = of.map_or_else(|| Ok(self.0.did()), |of| did(py, of))?;
        let statement = statement.map_err(|source| error::of(py, &source.into()))?;
        let now = SystemClock.now().ms().div_euclid(1_000);
        let signature = statement.sign(&self.0, &did, Some(now));
        let signature = signature.map_err(|source| error::of(py, &source.into()))?;
        Ok(PyBytes::new(py, &signature))
    }
}

/// Reads the id of a store.
fn id(text: &str) -> PyResult<[u8; 16]> {
    let is_one = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u128::from_str_radix(text, 16).ok().filter(|_| is_one);
    let refused = || PyValueError::new_err("the id of a store is 32 hexadecimal digits");
    number.map(u128::to_be_bytes).ok_or_else(refused)
}

#[pymethods]
impl SigningKey {
    /// Draws a new key: `Ed25519`, or `P-256`.
    #[staticmethod]
    #[pyo3(signature = (algorithm = "Ed25519"))]
    fn generate(py: Python<'_>, algorithm: &str) -> PyResult<Self> {
        let known = [Algorithm::Ed25519, Algorithm::P256].into_iter();
        let of = known.clone().find(|known| known.to_string() == algorithm);
        let of = of.ok_or_else(|| unknown("algorithm", algorithm))?;
        made(py, crypto::SigningKey::generate(of, &OsRandom))
    }

    /// Reads a key of PKCS#8 in PEM, as `openssl genpkey` and `grainstore did new` write it.
    ///
    /// Raises `Key`.
    #[staticmethod]
    fn from_pem(py: Python<'_>, pem: &str) -> PyResult<Self> {
        made(py, crypto::SigningKey::from_pem(pem))
    }

    /// Returns the key as PKCS#8 in PEM, which is secret.
    fn to_pem(&self, py: Python<'_>) -> PyResult<String> {
        let pem = self.0.to_pem();
        pem.map(|pem| pem.to_string())
            .map_err(|source| error::of(py, &source.into()))
    }

    /// Agrees that a grain replaces another in one store, as a policy of `quorum` or `delegated` requires
    /// (OMS 23.2), and returns the signature for `auth` of `Store.supersede`. It needs no store.
    ///
    /// `fields` are all those of the new grain, with `created_at` and what the handle that stores it adds:
    /// the agreement is to no other grain. It names `old` in `derived_from`, here by default. `store_id` is
    /// that of `Store.store_id`, and `did` a `did:web` of the key.
    ///
    /// >>> import grainstore
    /// >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
    /// >>> policy = {"mode": "delegated", "authorized": [key.did]}
    /// >>> old = store.put(grainstore.grains.belief("rent", "is", "900", invalidation_policy=policy))
    /// >>> new = grainstore.grains.belief("rent", "is", "950", created_at=1_768_471_200_000)
    /// >>> agreed = key.cosign(new, old=old, store_id=store.store_id())
    /// >>> store.get(store.supersede(old, new, auth=agreed))["object"]
    /// '950'
    ///
    /// Raises `Schema` and the other errors of an invalid grain, among them one without `created_at`;
    /// `HashFormat`, `HashLength`, `Did`; `Key` for the `did:key` of another key.
    #[pyo3(signature = (fields, *, old, store_id, did = None))]
    fn cosign<'py>(
        &self,
        py: Python<'py>,
        fields: &Bound<'py, PyAny>,
        old: &Bound<'py, PyAny>,
        store_id: &str,
        did: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (old, store_id) = (address(old)?, id(store_id)?);
        let new = draft(fields)?.replacing(old).finish(Profile::Extended);
        let statement = new.and_then(|new| Statement::supersede(&new, old, store_id));
        self.agreed(py, statement, did)
    }

    /// Agrees that a grain is contradicted (`contradict`), or has a verification status, in one store, and
    /// returns the signature for `auth` of `Store.contradict` and `Store.verify`. It needs no store.
    ///
    /// >>> import grainstore
    /// >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
    /// >>> policy = {"mode": "delegated", "authorized": [key.did]}
    /// >>> rent = store.put(grainstore.grains.belief("rent", "is", "900", invalidation_policy=policy))
    /// >>> store.contradict(rent, auth=key.agree(rent, "contradict", store_id=store.store_id()))
    /// >>> store.status(rent).is_contradicted
    /// True
    ///
    /// Raises `HashFormat`, `HashLength`, `Did`; `Key` for the `did:key` of another key.
    #[pyo3(signature = (address, to, *, store_id, did = None))]
    fn agree<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
        store_id: &str,
        did: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (of, store_id) = (value::address(address)?, id(store_id)?);
        let statement = match to.extract::<&str>()? {
            "contradict" => Statement::contradict(of, store_id),
            _ => Statement::verify(of, named("agreement", to, Verification::named)?, store_id),
        };
        self.agreed(py, statement, did)
    }

    /// The `did:key` of the key.
    #[getter]
    fn get_did(&self) -> String {
        self.0.did().to_string()
    }

    fn __repr__(&self) -> String {
        format!("SigningKey({})", self.0.did())
    }
}

fn made(py: Python<'_>, key: Result<crypto::SigningKey, crypto::Error>) -> PyResult<SigningKey> {
    let key = key.map_err(|source| error::of(py, &source.into()))?;
    Ok(SigningKey(Arc::new(key)))
}

/// Returns the resolver of the `did:web` whose documents are given as JSON.
pub(crate) fn resolver(py: Python<'_>, documents: &[String]) -> PyResult<DidDocuments> {
    let mut known = DidDocuments::default();
    for document in documents {
        let added = known.add(document);
        added.map_err(|source| error::of(py, &source.into()))?;
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
    pub(crate) fn sign(&self, store: &Handle, draft: Draft) -> Result<Grain, Error> {
        let draft = match store.capability() {
            Some(capability) => capability.fill(draft),
            None => draft,
        };
        let draft = draft.to_be_signed().created_at_or(SystemClock.now());
        let grain = draft.finish(Profile::Extended)?;
        Ok(crypto::sign(grain, &self.key, &self.did, None)?)
    }
}

/// A signer, whether the signer is trusted to write the grain, and the reason if not.
type Signature = (String, &'static str, Option<&'static str>);

/// A signer, with the namespaces, the types and the other authors of the rule, and whether only trusted
/// signers may write there.
type Rule = (String, Vec<String>, Vec<String>, Vec<String>, bool);

#[pymethods]
impl Store {
    fn signed_by(
        &self,
        py: Python<'_>,
        key: &Bound<'_, SigningKey>,
        of: Option<&str>,
    ) -> PyResult<Self> {
        let key = Arc::clone(&key.get().0);
        let did = of.map_or_else(|| Ok(key.did()), |of| did(py, of))?;
        self.signed(py, Signer { key, did })
    }

    fn signature(&self, py: Python<'_>, of: &Bound<'_, PyAny>) -> PyResult<Option<Signature>> {
        let address = address(of)?;
        let found = self.ask(py, |store| store.signature(&address))?;
        Ok(found.map(|found| {
            let doubt = match found.trust {
                Trust::Verified => None,
                Trust::Untrusted(doubt) => Some(doubt.name()),
            };
            (found.signer.to_string(), found.trust.name(), doubt)
        }))
    }

    fn delivery<'py>(
        &self,
        py: Python<'py>,
        of: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let address = address(of)?;
        let sent = self.ask(py, |store| store.delivery(&address))?;
        Ok(sent.map(|bytes| PyBytes::new(py, &bytes)))
    }

    fn receive(&self, py: Python<'_>, delivery: &[u8]) -> PyResult<String> {
        let stored = self.ask(py, |store| {
            let (grain, _) = crypto::from_delivery(delivery, Profile::Extended)?;
            store.put(grain)
        })?;
        Ok(stored.to_string())
    }

    #[expect(clippy::too_many_arguments, reason = "the members of a rule")]
    fn trust(
        &self,
        py: Python<'_>,
        signer: &str,
        namespaces: Vec<String>,
        types: Vec<Bound<'_, PyAny>>,
        authors: Vec<String>,
        is_exclusive: bool,
        reason: &str,
    ) -> PyResult<()> {
        let types = types.iter().map(|name| named("type", name, Type::named));
        let rule = TrustRule {
            signer: did(py, signer)?,
            namespaces: namespaces.into_iter().map(Namespace::new).collect(),
            types: types.collect::<PyResult<_>>()?,
            authors,
            is_exclusive,
        };
        self.ask(py, |store| store.admin()?.trust(rule, reason))
    }

    fn distrust(&self, py: Python<'_>, signer: &str, reason: &str) -> PyResult<bool> {
        let signer = did(py, signer)?;
        self.ask(py, |store| store.admin()?.distrust(&signer, reason))
    }

    fn trusted(&self, py: Python<'_>) -> PyResult<Vec<Rule>> {
        let rules = self.ask(py, |store| Ok(store.admin()?.trusted()))?;
        let rules = rules.into_iter().map(|rule| {
            let namespaces = rule.namespaces.iter().map(|it| it.as_str().to_owned());
            let types = rule
                .types
                .iter()
                .map(|it| it.name().unwrap_or("unknown").to_owned());
            (
                rule.signer.to_string(),
                namespaces.collect(),
                types.collect(),
                rule.authors,
                rule.is_exclusive,
            )
        });
        Ok(rules.collect())
    }
}

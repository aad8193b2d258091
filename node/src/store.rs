//! `Store`: the handle of the library, with plain values in and out. What changes grains is here; what
//! reads them is in `read`.

use std::path::{Path, PathBuf};

use grainstore::codec::Value;
use grainstore::grain::Verification;
use grainstore::store::{Authorization, Justification, NewGrain};
use grainstore::{Draft, Error, Store as Handle};
use napi::bindgen_prelude::{Result, ToNapiValue, TypeName, Uint8Array, Unknown};
use napi_derive::napi;

use crate::ask::{Abort, Ask, Promised};
use crate::failure;
use crate::filter::named;
use crate::held::Held;
use crate::signing::Signer;
use crate::value::{self, address, addresses, draft};

/// A store, or a handle on it that is narrowed, with the signer of what is stored through it.
#[napi]
#[derive(Clone)]
pub struct Store {
    handle: Held<Handle>,
    signer: Option<Signer>,
}

/// A grain that is stored.
#[napi(object, object_from_js = false)]
pub struct Put {
    pub address: String,
    /// Whether it was not stored before.
    pub is_new: bool,
}

impl Store {
    pub(crate) const fn of(handle: Held<Handle>, signer: Option<Signer>) -> Self {
        Self { handle, signer }
    }

    pub(crate) const fn held(&self) -> &Held<Handle> {
        &self.handle
    }

    /// Promises what the library answers.
    pub(crate) fn ask<T: Send + ToNapiValue + TypeName + 'static>(
        &self,
        abort: Option<&Abort>,
        ask: impl Send + 'static + FnOnce(&Handle) -> std::result::Result<T, Error>,
    ) -> Promised<T> {
        let handle = self.handle.clone();
        Ask::promise(abort, move || {
            handle.with(|store| ask(store).map_err(|error| failure::of(&error)))
        })
    }

    /// Promises what the library answers about a file, which an error about all of it names.
    pub(crate) fn ask_about<T: Send + ToNapiValue + TypeName + 'static>(
        &self,
        abort: Option<&Abort>,
        file: PathBuf,
        ask: impl Send + 'static + FnOnce(&Handle, &Path) -> std::result::Result<T, Error>,
    ) -> Promised<T> {
        let handle = self.handle.clone();
        Ask::promise(abort, move || {
            handle.with(|store| ask(store, &file).map_err(|error| failure::of_file(&error, &file)))
        })
    }

    pub(crate) fn narrowed(&self, narrow: impl FnOnce(&Handle) -> Handle) -> Result<Self> {
        let handle = self.handle.at_once(|store| Ok(narrow(store)))?;
        Ok(Self {
            handle: Held::new(handle, self.handle.opening()),
            signer: self.signer.clone(),
        })
    }

    /// Returns the same handle with a signer of what is stored through it.
    pub(crate) fn signed(&self, signer: Signer) -> Result<Self> {
        let handle = self.narrowed(Clone::clone)?;
        Ok(Self {
            signer: Some(signer),
            ..handle
        })
    }

    /// Returns the way from a draft to the grain that is stored, signed if the handle has a signer.
    fn maker(
        &self,
    ) -> impl Fn(&Handle, Draft) -> std::result::Result<NewGrain, Error> + Send + 'static {
        let signer = self.signer.clone();
        move |store, draft| match &signer {
            Some(signer) => Ok(signer.sign(store, draft)?.into()),
            None => Ok(draft.into()),
        }
    }
}

#[napi]
impl Store {
    /// Closes the store for every handle, once the calls that are under way have ended.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn close(&self) -> Promised<()> {
        let opening = self.handle.opening().clone();
        Ask::promise(None, move || {
            opening.close();
            Ok(())
        })
    }

    /// Whether it was closed.
    #[napi(getter)]
    pub fn is_closed(&self) -> bool {
        self.handle.opening().is_closed()
    }

    /// Says which store it is, and what the handle is narrowed to.
    #[napi]
    pub fn describe(&self) -> String {
        let opening = self.handle.opening();
        let place = opening.folder().map(|it| it.display().to_string());
        let mut told = place.unwrap_or_else(|| "in memory".to_owned());
        if opening.is_closed() {
            return format!("{told}, closed");
        }
        let narrowed = self.handle.at_once(|handle| {
            let capability = handle.capability();
            let told = capability.map(|capability| {
                let did = capability.acts_as().map(|did| format!(", as {did}"));
                let user = capability.user().map(|user| format!(", of {user}"));
                let namespace = capability.namespace().map(|name| format!(", in {name}"));
                let reads = capability.authorize_write().err();
                let reads = reads.map(|_| ", read only".to_owned());
                [did, user, namespace, reads]
                    .into_iter()
                    .flatten()
                    .collect::<String>()
            });
            Ok(told.unwrap_or_default())
        });
        told += &narrowed.unwrap_or_default();
        if let Some(signer) = &self.signer {
            told += &format!(", signed by {}", signer.did());
        }
        told
    }

    #[napi(
        ts_args_type = "fields: object, abort?: Abort | undefined",
        ts_return_type = "Promise<string>"
    )]
    pub fn put(&self, fields: Unknown<'_>, abort: Option<&Abort>) -> Result<Promised<String>> {
        let draft = draft(fields)?;
        let grain = self.maker();
        Ok(self.ask(abort, move |store| {
            Ok(store.put(grain(store, draft)?)?.to_string())
        }))
    }

    #[napi(
        ts_args_type = "fields: object, abort?: Abort | undefined",
        ts_return_type = "Promise<Put>"
    )]
    pub fn insert(&self, fields: Unknown<'_>, abort: Option<&Abort>) -> Result<Promised<Put>> {
        let draft = draft(fields)?;
        let grain = self.maker();
        Ok(self.ask(abort, move |store| {
            let put = store.insert(grain(store, draft)?)?;
            Ok(Put {
                address: put.address.to_string(),
                is_new: put.is_new,
            })
        }))
    }

    #[napi(
        ts_args_type = "grains: object[], abort?: Abort | undefined",
        ts_return_type = "Promise<string[]>"
    )]
    pub fn put_batch(
        &self,
        grains: Vec<Unknown<'_>>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Vec<String>>> {
        let drafts = grains.into_iter().enumerate().map(|(index, fields)| {
            draft(fields).map_err(|error| failure::within(&error, &format!("grain {index}")))
        });
        let drafts = drafts.collect::<Result<Vec<_>>>()?;
        let grain = self.maker();
        Ok(self.ask(abort, move |store| {
            let grains = drafts.into_iter().enumerate().map(|(index, draft)| {
                grain(store, draft).map_err(|source| Error::Batch {
                    index,
                    source: Box::new(source),
                })
            });
            let stored = store.put_batch(grains.collect::<std::result::Result<Vec<_>, _>>()?)?;
            Ok(stored.iter().map(|put| put.address.to_string()).collect())
        }))
    }

    #[napi(
        ts_args_type = "old: string, fields: object, reason: string | undefined, auth: Uint8Array[], abort?: Abort | undefined",
        ts_return_type = "Promise<string>"
    )]
    pub fn supersede(
        &self,
        old: String,
        fields: Unknown<'_>,
        reason: Option<String>,
        auth: Vec<Uint8Array>,
        abort: Option<&Abort>,
    ) -> Result<Promised<String>> {
        let old = address(&old)?;
        let add = |draft: Draft, signature: &Uint8Array| {
            draft.push("supersession_auth", Value::Bytes(signature.to_vec()))
        };
        let draft = auth.iter().fold(draft(fields)?.replacing(old), add);
        let grain = self.maker();
        Ok(self.ask(abort, move |store| {
            let stored = store.supersede(&old, grain(store, draft)?, reason.as_deref())?;
            Ok(stored.to_string())
        }))
    }

    /// Stores the next version of a grain, with these fields set, or removed where they are `null`.
    #[napi(
        ts_args_type = "of: string, fields: object, reason: string | undefined, abort?: Abort | undefined",
        ts_return_type = "Promise<string>"
    )]
    pub fn correct(
        &self,
        of: String,
        fields: Unknown<'_>,
        reason: Option<String>,
        abort: Option<&Abort>,
    ) -> Result<Promised<String>> {
        let old = address(&of)?;
        let changes = value::changes(fields)?;
        let new = self.maker();
        Ok(self.ask(abort, move |store| {
            let grain = store.get(&old)?.ok_or(Error::NotFound { address: old })?;
            let draft = Draft::next_version(&grain).derived_from(old);
            let draft = changes
                .into_iter()
                .fold(draft, |draft, (name, value)| draft.set(name, value));
            let stored = store.supersede(&old, new(store, draft)?, reason.as_deref())?;
            Ok(stored.to_string())
        }))
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn contradict(
        &self,
        of: String,
        reason: Option<String>,
        auth: Vec<Uint8Array>,
        abort: Option<&Abort>,
    ) -> Result<Promised<()>> {
        let address = address(&of)?;
        let auth = signatures(&auth);
        Ok(self.ask(abort, move |store| {
            let grounds = Justification {
                justification: reason.as_deref(),
                signatures: &auth,
            };
            store.contradict(&address, grounds)
        }))
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn verify(
        &self,
        of: String,
        status: String,
        reason: Option<String>,
        auth: Vec<Uint8Array>,
        abort: Option<&Abort>,
    ) -> Result<Promised<()>> {
        let address = address(&of)?;
        let status = named("verification", &status, Verification::named)?;
        let auth = signatures(&auth);
        Ok(self.ask(abort, move |store| {
            let grounds = Justification {
                justification: reason.as_deref(),
                signatures: &auth,
            };
            store.set_verification(&address, status, grounds)
        }))
    }

    /// Deletes grains and returns the error of each that was not.
    #[napi(ts_return_type = "Promise<(string | null)[]>")]
    pub fn delete(
        &self,
        of: Vec<String>,
        reason: String,
        authority: String,
        abort: Option<&Abort>,
    ) -> Result<Promised<Vec<Option<String>>>> {
        let addresses = addresses(&of)?;
        Ok(self.ask(abort, move |store| {
            let by = Authorization {
                reason: &reason,
                authority: &authority,
            };
            let outcomes = store.admin()?.delete_batch(&addresses, by)?;
            let outcomes = outcomes.into_iter();
            Ok(outcomes
                .map(|outcome| outcome.err().map(|it| failure::of(&it).reason.to_string()))
                .collect())
        }))
    }

    #[napi]
    pub fn as_actor(&self, did: String) -> Result<Self> {
        let did = value::did(&did)?;
        self.narrowed(|store| store.as_actor(&did))
    }

    #[napi]
    pub fn of_user(&self, user: String) -> Result<Self> {
        self.narrowed(|store| store.of_user(&user))
    }

    #[napi]
    pub fn in_namespace(&self, namespace: String) -> Result<Self> {
        self.narrowed(|store| store.in_namespace(&namespace))
    }

    #[napi]
    pub fn read_only(&self) -> Result<Self> {
        self.narrowed(Handle::read_only)
    }

    #[napi(ts_return_type = "Promise<string>")]
    pub fn store_id(&self) -> Promised<String> {
        self.ask(None, |store| {
            Ok(store.maintenance()?.stats()?.store_id.to_string())
        })
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn flush(&self, abort: Option<&Abort>) -> Promised<()> {
        self.ask(abort, |store| store.maintenance()?.flush_text())
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn backup(&self, path: String, abort: Option<&Abort>) -> Promised<()> {
        self.ask(abort, move |store| {
            store.maintenance()?.backup(path).map(drop)
        })
    }
}

/// Returns signatures as the library takes them.
fn signatures(given: &[Uint8Array]) -> Vec<Vec<u8>> {
    given.iter().map(|it| it.to_vec()).collect()
}

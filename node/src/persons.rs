//! Persons: their keys, what the store has about them, and their erasure.

use grainstore::ContentAddress;
use grainstore::store::{Authorization, ErasureScope, Person, PersonGrain};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::ask::{Abort, Promised};
use crate::signing::SigningKey;
use crate::store::Store;

/// A grain that names a person.
#[napi(object, object_from_js = false)]
pub struct Named {
    pub address: String,
    /// The fields by which it was found.
    pub found_by: Vec<String>,
    /// The rule that keeps it from being erased now; missing if none does.
    pub kept: Option<String>,
}

impl Named {
    fn of(grain: &PersonGrain) -> Self {
        Self {
            address: grain.address.to_string(),
            found_by: grain.found_by.clone(),
            kept: grain.kept.as_ref().map(ToString::to_string),
        }
    }
}

/// Everything that a store has about a person.
#[napi(object, object_from_js = false)]
pub struct PersonReport {
    /// The grains about the person, which `erasePerson` erases.
    pub about: Vec<Named>,
    /// Other grains that name the person.
    pub mentions: Vec<Named>,
    /// The number of entries that were written in the person's name.
    pub written: f64,
    /// The number of entries of the ledger that were searched: all of them.
    pub entries: f64,
    /// The number of other sealed persons who are locked: their grains may mention this one.
    pub locked_persons: f64,
}

/// How far an erasure goes.
#[napi(object, object_to_js = false)]
pub struct Extent {
    pub mentions: bool,
    pub except_kept: bool,
    pub reseal_held: bool,
    pub reason: String,
    pub authority: String,
}

/// The outcome of the erasure of a person.
#[napi(object, object_from_js = false)]
pub struct ErasedPerson {
    /// The addresses of the grains that were erased.
    pub erased: Vec<String>,
    /// The grains that a rule keeps.
    pub kept: Vec<String>,
    /// Those of the kept grains that are under a hold key now.
    pub held: Vec<String>,
    /// The grains that mention the person and stay.
    pub mentions: Vec<String>,
    /// The number of entries that were blanked: grains, and entries about them.
    pub blanked: f64,
    /// The signed message of the receipt, if a key was given.
    pub message: Option<Uint8Array>,
    /// The number of other sealed persons who are locked: their grains may mention this one.
    pub locked_persons: f64,
    /// Whether it is unknown whether the person has a key: if so, their sealed grains are still there.
    pub is_vault_damaged: bool,
}

#[napi]
impl Store {
    #[napi(ts_return_type = "Promise<void>")]
    pub fn add_keys(&self, users: Vec<String>, abort: Option<&Abort>) -> Promised<()> {
        self.ask(abort, move |store| {
            let users: Vec<&str> = users.iter().map(String::as_str).collect();
            store.admin()?.vault().add(&users).map(drop)
        })
    }

    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn users(&self, abort: Option<&Abort>) -> Promised<Vec<String>> {
        self.ask(abort, |store| {
            let users = store.admin()?.vault().list()?;
            Ok(users.into_iter().map(|it| it.user).collect())
        })
    }

    #[napi(ts_return_type = "Promise<number>")]
    pub fn seal(&self, user: String, abort: Option<&Abort>) -> Promised<f64> {
        self.ask(abort, move |store| {
            Ok(store.admin()?.vault().seal(&user)? as f64)
        })
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn unlock(&self, user: String, abort: Option<&Abort>) -> Promised<()> {
        self.ask(abort, move |store| store.admin()?.unlock(&user))
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn lock(&self, user: String, abort: Option<&Abort>) -> Promised<()> {
        self.ask(abort, move |store| store.admin()?.lock(&user))
    }

    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn is_unlocked(&self, user: String, abort: Option<&Abort>) -> Promised<bool> {
        self.ask(abort, move |store| Ok(store.admin()?.is_unlocked(&user)))
    }

    #[napi(ts_return_type = "Promise<PersonReport>")]
    pub fn person_report(&self, ids: Vec<String>, abort: Option<&Abort>) -> Promised<PersonReport> {
        self.ask(abort, move |store| {
            let report = store.admin()?.person_report(&person(&ids))?;
            Ok(PersonReport {
                about: report.about.iter().map(Named::of).collect(),
                mentions: report.mentions.iter().map(Named::of).collect(),
                written: report.written as f64,
                entries: report.entries as f64,
                locked_persons: report.locked_persons as f64,
            })
        })
    }

    #[napi(ts_return_type = "Promise<ErasedPerson>")]
    pub fn erase_person(
        &self,
        ids: Vec<String>,
        extent: Extent,
        key: Option<&SigningKey>,
        abort: Option<&Abort>,
    ) -> Promised<ErasedPerson> {
        let key = key.map(SigningKey::shared);
        self.ask(abort, move |store| {
            let scope = ErasureScope {
                mentions: extent.mentions,
                except_kept: extent.except_kept,
                reseal_held: extent.reseal_held,
            };
            let by = Authorization {
                reason: &extent.reason,
                authority: &extent.authority,
            };
            let admin = store.admin()?;
            let done = admin.erase_person(&person(&ids), scope, by)?;
            let message = key.map(|key| admin.erasure_receipt(&done, &key, &key.did()));
            let message = message.transpose()?;
            let texts = |of: &[ContentAddress]| of.iter().map(ToString::to_string).collect();
            let kept = done.kept.iter().map(|(address, _)| address.to_string());
            Ok(ErasedPerson {
                erased: texts(&done.erased),
                kept: kept.collect(),
                held: texts(&done.held),
                mentions: texts(&done.mentions),
                blanked: done.blanked as f64,
                message: message.map(Uint8Array::from),
                locked_persons: done.locked_persons as f64,
                is_vault_damaged: done.is_vault_damaged,
            })
        })
    }
}

fn person(ids: &[String]) -> Person {
    let first = ids.first().map_or("", String::as_str);
    ids.iter().skip(1).fold(Person::new(first), Person::also)
}

//! Persons: their keys, what the store has about them, and their erasure.

use grainstore::ContentAddress;
use grainstore::crypto;
use grainstore::store::{Authorization, ErasureScope, Person, PersonGrain};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::signing::SigningKey;
use crate::store::Store;

/// An address, the fields by which it was found, and the rule that keeps it from being erased.
type Named = (String, Vec<String>, Option<String>);

/// The grains about a person and those that name them; the entries in their name, those that were searched,
/// and the other persons who are locked.
type Reported = (Vec<Named>, Vec<Named>, u64, u64, u64);

/// The grains that were erased, those that are kept, those of them that are under a hold key and those
/// that stay as they only mention the person, the number of entries that were blanked, the receipt, the
/// number of other persons who are locked, and whether the vault is damaged.
type Erased<'py> = (
    Vec<String>,
    Vec<String>,
    Vec<String>,
    Vec<String>,
    u64,
    Option<Bound<'py, PyBytes>>,
    u64,
    bool,
);

fn named(grain: &PersonGrain) -> Named {
    let kept = grain.kept.as_ref().map(ToString::to_string);
    (grain.address.to_string(), grain.found_by.clone(), kept)
}

#[pymethods]
impl Store {
    fn add_keys(&self, py: Python<'_>, users: Vec<String>) -> PyResult<()> {
        let users: Vec<&str> = users.iter().map(String::as_str).collect();
        self.ask(py, |store| store.admin()?.vault().add(&users).map(drop))
    }

    fn users(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let users = self.ask(py, |store| store.admin()?.vault().list())?;
        Ok(users.into_iter().map(|it| it.user).collect())
    }

    fn seal(&self, py: Python<'_>, user: &str) -> PyResult<u64> {
        self.ask(py, |store| store.admin()?.vault().seal(user))
    }

    fn unlock(&self, py: Python<'_>, user: &str) -> PyResult<()> {
        self.ask(py, |store| store.admin()?.unlock(user))
    }

    fn lock(&self, py: Python<'_>, user: &str) -> PyResult<()> {
        self.ask(py, |store| store.admin()?.lock(user))
    }

    fn is_unlocked(&self, py: Python<'_>, user: &str) -> PyResult<bool> {
        self.ask(py, |store| Ok(store.admin()?.is_unlocked(user)))
    }

    fn person_report(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<Reported> {
        let person = person(&ids);
        let report = self.ask(py, |store| store.admin()?.person_report(&person))?;
        let about = report.about.iter().map(named).collect();
        let mentions = report.mentions.iter().map(named).collect();
        Ok((
            about,
            mentions,
            report.written,
            report.entries,
            report.locked_persons,
        ))
    }

    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn erase_person<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<String>,
        mentions: bool,
        except_kept: bool,
        reseal_held: bool,
        reason: &str,
        authority: &str,
        key: Option<&Bound<'_, SigningKey>>,
    ) -> PyResult<Erased<'py>> {
        let person = person(&ids);
        let scope = ErasureScope {
            mentions,
            except_kept,
            reseal_held,
        };
        let by = Authorization { reason, authority };
        let key = key.map(|key| key.get().key());
        let (done, receipt) = self.ask(py, |store| {
            let admin = store.admin()?;
            let done = admin.erase_person(&person, scope, by)?;
            let sign = |key: &crypto::SigningKey| admin.erasure_receipt(&done, key, &key.did());
            let receipt = key.map(sign).transpose()?;
            Ok((done, receipt))
        })?;
        let texts = |of: &[ContentAddress]| of.iter().map(ToString::to_string).collect();
        let kept = done.kept.iter().map(|(address, _)| address.to_string());
        Ok((
            texts(&done.erased),
            kept.collect(),
            texts(&done.held),
            texts(&done.mentions),
            done.blanked,
            receipt.map(|message| PyBytes::new(py, &message)),
            done.locked_persons,
            done.is_vault_damaged,
        ))
    }
}

fn person(ids: &[String]) -> Person {
    let first = ids.first().map_or("", String::as_str);
    ids.iter().skip(1).fold(Person::new(first), Person::also)
}

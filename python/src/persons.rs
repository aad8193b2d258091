//! Persons: their keys, what the store has about them, and their erasure.

use grainstore::store::{Authorization, ErasureScope, Person, PersonGrain};
use pyo3::prelude::*;

use crate::store::Store;

/// An address, the fields by which it was found, and the rule that keeps it from being erased.
type Named = (String, Vec<String>, Option<String>);

/// The grains that were erased, those that are kept and those that stay as they only mention the person,
/// and the number of entries that were blanked.
type Erased = (Vec<String>, Vec<String>, Vec<String>, u64);

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

    fn seal(&self, py: Python<'_>, user: &str) -> PyResult<u64> {
        self.ask(py, |store| store.admin()?.vault().seal(user))
    }

    fn unlock(&self, py: Python<'_>, user: &str) -> PyResult<()> {
        self.ask(py, |store| store.unlock(user))
    }

    fn lock(&self, py: Python<'_>, user: &str) -> PyResult<()> {
        self.ask(py, |store| store.lock(user))
    }

    fn is_unlocked(&self, py: Python<'_>, user: &str) -> PyResult<bool> {
        self.ask(py, |store| Ok(store.is_unlocked(user)))
    }

    fn person_report(
        &self,
        py: Python<'_>,
        ids: Vec<String>,
    ) -> PyResult<(Vec<Named>, Vec<Named>, u64, u64)> {
        let person = person(&ids);
        let report = self.ask(py, |store| store.admin()?.person_report(&person))?;
        let about = report.about.iter().map(named).collect();
        let mentions = report.mentions.iter().map(named).collect();
        Ok((about, mentions, report.written, report.entries))
    }

    fn erase_person(
        &self,
        py: Python<'_>,
        ids: Vec<String>,
        mentions: bool,
        except_kept: bool,
        reason: &str,
        authority: &str,
    ) -> PyResult<Erased> {
        let person = person(&ids);
        let scope = ErasureScope {
            mentions,
            except_kept,
            ..ErasureScope::default()
        };
        let by = Authorization { reason, authority };
        let done = self.ask(py, |store| store.admin()?.erase_person(&person, scope, by))?;
        let erased = done.erased.iter().map(ToString::to_string).collect();
        let kept = done
            .kept
            .iter()
            .map(|(address, _)| address.to_string())
            .collect();
        let mentioned = done.mentions.iter().map(ToString::to_string).collect();
        Ok((erased, kept, mentioned, done.blanked))
    }
}

fn person(ids: &[String]) -> Person {
    let first = ids.first().map_or("", String::as_str);
    ids.iter().skip(1).fold(Person::new(first), Person::also)
}

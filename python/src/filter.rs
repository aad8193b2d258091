//! Conditions of a query as keyword arguments.

use grainstore::grain::Verification;
use grainstore::query::{Sort, SortBy};
use grainstore::{Filter, Type};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::value::{address, time};

/// Returns the filter that a dict of conditions describes; `None` values are no conditions.
pub(crate) fn filter(conditions: Option<&Bound<'_, PyDict>>) -> PyResult<Filter> {
    let mut filter = Filter::new();
    for (name, given) in conditions.into_iter().flat_map(|dict| dict.iter()) {
        let name = name.cast::<PyString>()?;
        if !given.is_none() {
            filter = narrowed(filter, name.to_str()?, &given)?;
        }
    }
    Ok(filter)
}

fn narrowed(filter: Filter, name: &str, given: &Bound<'_, PyAny>) -> PyResult<Filter> {
    type Set = fn(Filter, String) -> Filter;
    let texts: [(&str, Set); 15] = [
        ("namespace", Filter::namespace),
        ("user", Filter::user),
        ("subject", Filter::subject),
        ("relation", Filter::relation),
        ("object", Filter::object),
        ("session", Filter::session),
        ("run", Filter::run),
        ("observer_type", Filter::observer_type),
        ("observer", Filter::observer),
        ("author", Filter::author),
        ("subject_did", Filter::subject_did),
        ("entity", Filter::entity),
        ("source_type", Filter::source_type),
        ("epistemic_status", Filter::epistemic_status),
        ("recall_priority", Filter::recall_priority),
    ];
    if let Some((_, set)) = texts.iter().find(|(known, _)| *known == name) {
        return Ok(set(filter, given.extract()?));
    }
    Ok(match name {
        "type" => filter.of_type(named(name, given, Type::named)?),
        "tag" => texts_of(given)?.into_iter().fold(filter, Filter::tag),
        "without_tag" => texts_of(given)?
            .into_iter()
            .fold(filter, Filter::without_tag),
        "since" => filter.since(time(given)?),
        "until" => filter.until(time(given)?),
        "valid_at" => filter.valid_at(time(given)?),
        "known_at" => filter.known_at(time(given)?),
        "derived_from" => filter.derived_from(address(given)?),
        "among" => {
            let addresses = given.try_iter()?.map(|item| address(&item?));
            filter.among(addresses.collect::<PyResult<Vec<_>>>()?)
        }
        "confidence" | "importance" => {
            let (from, to) = given.extract::<(Option<f64>, Option<f64>)>()?;
            match name {
                "confidence" => filter.confidence(from, to),
                _ => filter.importance(from, to),
            }
        }
        "verification" => filter.verification(named(name, given, Verification::named)?),
        "superseded" => match given.extract::<&str>()? {
            "exclude" => filter,
            "include" => filter.with_superseded(),
            "only" => filter.only_superseded(),
            other => return Err(unknown(name, other)),
        },
        "verified" if given.is_truthy()? => filter.verified(),
        "unreviewed" if given.is_truthy()? => filter.with_unreviewed(),
        "expired" if given.is_truthy()? => filter.with_expired(),
        "verified" | "unreviewed" | "expired" => filter,
        _ => {
            return Err(PyTypeError::new_err(format!(
                "there is no condition {name}"
            )));
        }
    })
}

/// Returns the order of a name, descending after `-`; that of the filter for none.
pub(crate) fn sort(name: Option<&str>, filter: &Filter) -> PyResult<Sort> {
    let Some(name) = name else {
        return Ok(Sort::of(filter));
    };
    let (key, descends) = match name.strip_prefix('-') {
        Some(key) => (key, true),
        None => (name, false),
    };
    let sort = Sort::by(SortBy::named(key).ok_or_else(|| unknown("sort", name))?);
    Ok(if descends { sort.descending() } else { sort })
}

/// Returns what a name stands for.
pub(crate) fn named<T>(
    what: &str,
    given: &Bound<'_, PyAny>,
    named: impl Fn(&str) -> Option<T>,
) -> PyResult<T> {
    let text = given.extract::<&str>()?;
    named(text).ok_or_else(|| unknown(what, text))
}

pub(crate) fn unknown(what: &str, given: &str) -> PyErr {
    PyValueError::new_err(format!("there is no {what} {given:?}"))
}

/// Returns one text or several.
fn texts_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match given.cast::<PyString>() {
        Ok(text) => Ok(vec![text.to_str()?.to_owned()]),
        Err(_) => given.extract(),
    }
}

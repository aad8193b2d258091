//! Conditions of a query as members of an object.

use grainstore::codec::{Map, Value};
use grainstore::grain::Verification;
use grainstore::query::{Sort, SortBy};
use grainstore::{Filter, Type};
use napi::bindgen_prelude::{Result, Unknown};

use crate::failure::{self, unknown};
use crate::value::{address, members, time};

/// Returns the filter that an object of conditions describes; null is no condition.
pub(crate) fn filter(conditions: Option<Unknown<'_>>) -> Result<Filter> {
    filter_of(&members(conditions)?)
}

/// Returns the filter of conditions.
pub(crate) fn filter_of(conditions: &Map) -> Result<Filter> {
    let mut filter = Filter::new();
    for (name, given) in conditions.iter() {
        filter = narrowed(filter, name, given)?;
    }
    Ok(filter)
}

fn narrowed(filter: Filter, name: &str, given: &Value) -> Result<Filter> {
    type Set = fn(Filter, String) -> Filter;
    let texts: [(&str, Set); 15] = [
        ("namespace", Filter::namespace),
        ("user", Filter::user),
        ("subject", Filter::subject),
        ("relation", Filter::relation),
        ("object", Filter::object),
        ("session", Filter::session),
        ("run", Filter::run),
        ("observerType", Filter::observer_type),
        ("observer", Filter::observer),
        ("author", Filter::author),
        ("subjectDid", Filter::subject_did),
        ("entity", Filter::entity),
        ("sourceType", Filter::source_type),
        ("epistemicStatus", Filter::epistemic_status),
        ("recallPriority", Filter::recall_priority),
    ];
    if let Some((_, set)) = texts.iter().find(|(known, _)| *known == name) {
        return Ok(set(filter, text(name, given)?.to_owned()));
    }
    Ok(match name {
        "type" => filter.of_type(named(name, text(name, given)?, Type::named)?),
        "tag" => texts_of(name, given)?.into_iter().fold(filter, Filter::tag),
        "withoutTag" => texts_of(name, given)?
            .into_iter()
            .fold(filter, Filter::without_tag),
        "since" => filter.since(time(given)?),
        "until" => filter.until(time(given)?),
        "validAt" => filter.valid_at(time(given)?),
        "knownAt" => filter.known_at(time(given)?),
        "derivedFrom" => filter.derived_from(address(text(name, given)?)?),
        "among" => {
            let addresses = texts_of(name, given)?;
            let addresses = addresses.iter().map(|text| address(text));
            filter.among(addresses.collect::<Result<Vec<_>>>()?)
        }
        "confidence" | "importance" => {
            let (from, to) = bounds(name, given)?;
            match name {
                "confidence" => filter.confidence(from, to),
                _ => filter.importance(from, to),
            }
        }
        "verification" => {
            filter.verification(named(name, text(name, given)?, Verification::named)?)
        }
        "superseded" => match text(name, given)? {
            "exclude" => filter,
            "include" => filter.with_superseded(),
            "only" => filter.only_superseded(),
            other => return Err(unknown(name, other)),
        },
        "verified" if is_true(name, given)? => filter.verified(),
        "unreviewed" if is_true(name, given)? => filter.with_unreviewed(),
        "expired" if is_true(name, given)? => filter.with_expired(),
        "verified" | "unreviewed" | "expired" => filter,
        _ => return Err(failure::kind(&format!("there is no condition {name}"))),
    })
}

/// Returns the order of a name, descending after `-`; that of the filter for none.
pub(crate) fn sort(name: Option<&str>, filter: &Filter) -> Result<Sort> {
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
pub(crate) fn named<T>(what: &str, text: &str, named: impl Fn(&str) -> Option<T>) -> Result<T> {
    named(text).ok_or_else(|| unknown(what, text))
}

fn text<'a>(name: &str, given: &'a Value) -> Result<&'a str> {
    match given {
        Value::Text(text) => Ok(text),
        _ => Err(failure::kind(&format!("the condition {name} is a string"))),
    }
}

fn is_true(name: &str, given: &Value) -> Result<bool> {
    match given {
        Value::Bool(flag) => Ok(*flag),
        _ => Err(failure::kind(&format!("the condition {name} is a boolean"))),
    }
}

/// Returns one text or several.
fn texts_of(name: &str, given: &Value) -> Result<Vec<String>> {
    match given {
        Value::Array(items) => items
            .iter()
            .map(|item| text(name, item).map(ToOwned::to_owned))
            .collect(),
        one => Ok(vec![text(name, one)?.to_owned()]),
    }
}

/// Returns from and to, of which either may be null.
fn bounds(name: &str, given: &Value) -> Result<(Option<f64>, Option<f64>)> {
    let bound = |value: &Value| match value {
        Value::Nil => Ok(None),
        Value::Float(number) => Ok(Some(*number)),
        Value::Int(int) => Ok(int.as_i64().map(|it| it as f64)),
        _ => Err(failure::kind(&format!("the bounds of {name} are numbers"))),
    };
    match given {
        Value::Array(items) => match items.as_slice() {
            [from, to] => Ok((bound(from)?, bound(to)?)),
            _ => Err(failure::range(&format!("{name} has two bounds"))),
        },
        _ => Err(failure::kind(&format!("{name} is [from, to]"))),
    }
}

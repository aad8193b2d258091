//! ADD, SUPERSEDE and REVERT: their fields and their REASON.

use super::is_open;
use crate::code::Code;
use crate::condition::Value;
use crate::error::Error;
use crate::place::{At, Placed};
use crate::statement::{Add, Setting, Supersede};
use crate::time;
use crate::vocabulary::{Kind, closed_values};

pub(super) fn add(add: &Add) -> Result<(), Error> {
    let at = add.grain_type.at;
    let (more, required): (&[&str], &[&str]) = match add.grain_type.it {
        Kind::Belief => (&[], &[]),
        Kind::Goal => (
            &["goal_state", "assigned_agent", "deadline", "depends_on"],
            &[],
        ),
        // OMS requires an observer of an observation (ruling CAL9).
        Kind::Observation => {
            let observer: &[&str] = &["observer_id", "observer_type"];
            (observer, observer)
        }
        kind => {
            let message = format!(
                "ADD takes a belief, an observation or a goal, no {}",
                kind.singular()
            );
            return Err(Error::new(Code::NotAddable, at, message));
        }
    };
    settings(&add.set, &[BASE, more].concat())?;
    for name in TRIPLE.iter().chain(required) {
        if !add.set.iter().any(|one| one.field.it == *name) {
            let message = format!("{name} is missing");
            let error = Error::new(Code::MissingField, at, message);
            return Err(error.suggest(format!("add SET {name} = ..")));
        }
    }
    reason(add.reason.as_ref(), at)
}

pub(super) fn supersede(it: &Supersede) -> Result<(), Error> {
    if it.set.is_empty() {
        let message = "SUPERSEDE changes a field";
        return Err(Error::new(Code::NoSet, it.target.at, message).suggest("add SET object = .."));
    }
    settings(&it.set, &["object", "confidence", "importance", "tags"])?;
    reason(it.reason.as_ref(), it.target.at)
}

pub(super) fn reason(reason: Option<&Placed<Value>>, at: At) -> Result<(), Error> {
    let Some(reason) = reason else {
        let error = Error::new(Code::NoReason, at, "a change has a REASON");
        return Err(error.suggest("add REASON \"..\""));
    };
    match &reason.it {
        Value::Text(text) if text.chars().count() > REASON_MAX => {
            let message = format!("a REASON has at most {REASON_MAX} characters");
            Err(Error::new(Code::ReasonTooLong, reason.at, message))
        }
        Value::Text(_) | Value::Param { .. } => Ok(()),
        _ => Err(Error::new(
            Code::Unexpected,
            reason.at,
            "a REASON is a text",
        )),
    }
}

fn settings(set: &[Setting], known: &[&str]) -> Result<(), Error> {
    for (n, one) in set.iter().enumerate() {
        let (name, at) = (one.field.it.as_str(), one.field.at);
        if !known.contains(&name) {
            let error = Error::new(
                Code::UnknownSetField,
                at,
                format!("SET does not take {name}"),
            );
            return Err(error.did_you_mean(name, known.iter().copied()));
        }
        if set.iter().take(n).any(|other| other.field.it == name) {
            let message = format!("{name} is set twice");
            return Err(Error::new(Code::Unexpected, at, message));
        }
        let is_fit = match name {
            _ if is_open(&one.value) => true,
            "confidence" | "importance" => one
                .value
                .as_number()
                .is_some_and(|n| (0.0..=1.0).contains(&n)),
            "tags" => matches!(&one.value, Value::Array(tags)
                if tags.iter().all(|tag| is_open(tag) || tag.as_text().is_some())),
            "deadline" => time::within(&one.value, time::ANY_DAY).is_some(),
            "depends_on" => matches!(
                one.value,
                Value::Array(_) | Value::Hash { .. } | Value::Text(_)
            ),
            _ => one.value.as_text().is_some(),
        };
        if let ("goal_state", Value::Text(state), Some((code, known))) =
            (name, &one.value, closed_values(name))
            && !known.contains(&state.as_str())
        {
            let message = format!("{state} is no goal_state");
            return Err(Error::new(code, at, message).did_you_mean(state, known.iter().copied()));
        }
        if !is_fit {
            let message = format!("{name} does not take this value");
            return Err(Error::new(Code::Incompatible, at, message));
        }
    }
    Ok(())
}

const TRIPLE: &[&str] = &["subject", "relation", "object"];
const BASE: &[&str] = &[
    "subject",
    "relation",
    "object",
    "confidence",
    "importance",
    "tags",
];
const REASON_MAX: usize = 500;

//! The stages of a recall: how many, what each takes, and what the next one gets.

use crate::code::Code;
use crate::condition::{Extract, Value};
use crate::error::Error;
use crate::place::{At, Placed};
use crate::recall::{Recall, Stage};
use crate::vocabulary::{Field, GROUPABLE, Kind, NOT_PROJECTABLE, SORTABLE};

pub(super) fn check(recall: &Recall) -> Result<(), Error> {
    if let Some(sixth) = recall.pipeline.get(STAGES_MAX) {
        let message = format!("there are at most {STAGES_MAX} stages");
        return Err(Error::new(Code::TooManyStages, sixth.at, message));
    }
    if let Some(recent) = &recall.recent {
        count(&recent.it, recent.at)?;
    }
    let mut has = Has::Grains;
    for stage in &recall.pipeline {
        has = one(stage, has, recall)?;
    }
    Ok(())
}

/// The kind of rows that a stage gets from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Has {
    Grains,
    Values,
    Groups,
    Number,
}

fn one(stage: &Placed<Stage>, has: Has, recall: &Recall) -> Result<Has, Error> {
    let at = stage.at;
    let needs_grains = !matches!(
        stage.it,
        Stage::Limit { .. } | Stage::Offset { .. } | Stage::Count {} | Stage::First {}
    );
    if has == Has::Number || (needs_grains && has != Has::Grains) {
        let message = "the stage before returns no grains";
        return Err(Error::new(Code::StageMismatch, at, message));
    }
    match &stage.it {
        Stage::Select { fields } => {
            for field in fields {
                if NOT_PROJECTABLE.contains(&field.it.as_str()) {
                    return Err(no_stage(field, "SELECT"));
                }
                common(field, "SELECT")?;
            }
        }
        Stage::OrderBy { field, .. } => {
            common(field, "ORDER BY")?;
            if !SORTABLE.contains(&field.it.as_str()) {
                return Err(no_stage(field, "ORDER BY").expecting(SORTABLE.iter().copied()));
            }
        }
        Stage::GroupBy { field } => {
            common(field, "GROUP BY")?;
            if !GROUPABLE.contains(&field.it.as_str()) {
                return Err(no_stage(field, "GROUP BY").expecting(GROUPABLE.iter().copied()));
            }
            return Ok(Has::Groups);
        }
        Stage::Limit { count: n } => count(n, at)?,
        Stage::Offset { count: n } => whole(n, at)?,
        Stage::Count {} => return Ok(Has::Number),
        Stage::First {} => {}
        Stage::Extract { of } => {
            let kind = recall
                .grain_type
                .as_ref()
                .map_or(Kind::Belief, |kind| kind.it);
            if *of != Extract::Hashes && kind != Kind::Belief {
                let message = format!("{} have no subjects and objects", kind.plural());
                return Err(Error::new(Code::NotBeliefs, at, message));
            }
            return Ok(Has::Values);
        }
        Stage::Project { content, attr } => {
            for field in content {
                projected(field, false)?;
            }
            for field in attr {
                projected(field, true)?;
            }
        }
    }
    Ok(has)
}

/// Checks the name of a field that PROJECT shows.
fn projected(field: &Placed<String>, is_attribute: bool) -> Result<(), Error> {
    let name = field.it.as_str();
    let is_attr = is_attribute && (ATTRIBUTES.contains(&name) || name.starts_with("x_"));
    if name.contains(':') || is_attr {
        return Ok(());
    }
    if NOT_PROJECTABLE.contains(&name) {
        return Err(no_stage(field, "PROJECT"));
    }
    match Field::named(name) {
        Some(_) => Ok(()),
        None => Err(unknown(field)),
    }
}

/// Checks that a field is one of all types.
fn common(field: &Placed<String>, stage: &str) -> Result<(), Error> {
    match Field::named(&field.it) {
        Some(Field { kind: None, .. }) => Ok(()),
        None if !field.it.contains(':') => Err(unknown(field)),
        _ => Err(no_stage(field, stage)),
    }
}

fn unknown(field: &Placed<String>) -> Error {
    let message = format!("no field has the name {}", field.it);
    let error = Error::new(Code::UnknownField, field.at, message);
    error.did_you_mean(&field.it, Field::usable(None))
}

fn no_stage(field: &Placed<String>, stage: &str) -> Error {
    let message = format!("{stage} does not take {}", field.it);
    Error::new(Code::StageMismatch, field.at, message)
}

fn count(value: &Value, at: At) -> Result<(), Error> {
    whole(value, at)?;
    match value {
        Value::Int(n) if *n > LIMIT_MAX => {
            let message = format!("at most {LIMIT_MAX} grains are returned");
            Err(Error::new(Code::LimitTooLarge, at, message))
        }
        _ => Ok(()),
    }
}

fn whole(value: &Value, at: At) -> Result<(), Error> {
    match value {
        Value::Int(0..) | Value::Param { .. } => Ok(()),
        _ => Err(Error::new(Code::BadNumber, at, "a count is a whole number")),
    }
}

/// The attributes of formatted output that are no fields.
const ATTRIBUTES: &[&str] = &[
    "state", "tool", "phase", "observer", "action", "grantor", "grantee", "count", "source",
    "observed",
];

const STAGES_MAX: usize = 5;
const LIMIT_MAX: i64 = 1_000;

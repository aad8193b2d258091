//! The conditions of WHERE: that the field exists and belongs to the type, and takes the operator
//! and the value.

use super::no_time;
use super::{Check, is_open, values};
use crate::code::Code;
use crate::condition::{Condition, Op, Operand, Value};
use crate::error::Error;
use crate::place::At;
use crate::recall::{Recall, Stage};
use crate::time;
use crate::vocabulary::{CATEGORIES, DOMAINS, Field, Kind, OTHER_RELATIONS, Takes, closed_values};

impl Check {
    pub(super) fn condition(&mut self, one: &Condition, recall: &Recall) -> Result<(), Error> {
        if let Operand::Subquery(sub) = &one.value {
            self.recall(&sub.recall)?;
            self.extract(&sub.recall, Some(sub.extract), one.at)?;
        }
        if one.op == Op::In && values(&one.value).len() > IN_MAX {
            let message = format!("IN takes at most {IN_MAX} values");
            return Err(Error::new(Code::SetTooLarge, one.at, message));
        }
        if let Some((prefix, _)) = one.field.it.split_once(':') {
            self.domain(prefix, one, recall);
            return match one.op {
                Op::Is => Err(no_operator(one, &["=", "!=", ">=", "<=", ">", "<", "IN"])),
                _ => Ok(()),
            };
        }
        let Some(field) = Field::named(&one.field.it) else {
            let message = format!("no field has the name {}", one.field.it);
            let kind = recall.grain_type.as_ref().map(|kind| kind.it);
            return Err(Error::new(Code::UnknownField, one.field.at, message)
                .did_you_mean(&one.field.it, Field::usable(kind)));
        };
        if let Some(kind) = field.kind {
            of_type(field.name, kind, recall, one.field.at)?;
        }
        if !field.ops.contains(&one.op) {
            let ops: Vec<&str> = field.ops.iter().map(|op| op.as_str()).collect();
            return Err(no_operator(one, &ops));
        }
        self.relation(one);
        let mut all = values(&one.value).iter();
        all.try_for_each(|value| fits(field, value, one))
    }

    /// Checks that what is taken of a recall is there.
    pub(super) fn extract(
        &self,
        recall: &Recall,
        extract: Option<crate::condition::Extract>,
        at: At,
    ) -> Result<(), Error> {
        use crate::condition::Extract;
        let kind = recall
            .grain_type
            .as_ref()
            .map_or(Kind::Belief, |kind| kind.it);
        let is_value = |stage: &Stage| {
            matches!(
                stage,
                Stage::Count {} | Stage::GroupBy { .. } | Stage::Extract { .. }
            )
        };
        if extract.is_some() && recall.pipeline.iter().any(|stage| is_value(&stage.it)) {
            let message = "grains are needed, and a stage before returns none";
            return Err(Error::new(Code::StageMismatch, at, message));
        }
        match extract {
            Some(Extract::Subjects | Extract::Objects) if kind != Kind::Belief => {
                let message = format!("{} have no subjects and objects", kind.plural());
                Err(Error::new(Code::NotBeliefs, at, message).suggest("recall beliefs"))
            }
            _ => Ok(()),
        }
    }

    fn domain(&mut self, prefix: &str, one: &Condition, recall: &Recall) {
        let at = one.field.at;
        if !DOMAINS.contains(&prefix) {
            let message = format!("{prefix}: is no domain, so that nothing matches");
            self.warnings
                .push(Error::new(Code::UnknownPrefix, at, message));
            return;
        }
        let is_profile = |value: &Value| {
            value
                .as_text()
                .is_some_and(|text| text.starts_with("profile:"))
        };
        let mut tags = recall
            .conditions
            .iter()
            .filter(|other| other.op == Op::Include);
        if !tags.any(|tags| values(&tags.value).iter().any(is_profile)) {
            let message = format!("{} is used without a tag profile:..", one.field.it);
            self.warnings.push(Error::new(Code::NoProfile, at, message));
        }
    }

    fn relation(&mut self, one: &Condition) {
        if one.field.it != "relation" || one.op == Op::Is {
            return;
        }
        for text in values(&one.value).iter().filter_map(Value::as_text) {
            let mut known = CATEGORIES
                .iter()
                .flat_map(|(_, all)| *all)
                .chain(OTHER_RELATIONS);
            if text.starts_with("mg:") && !known.any(|it| *it == text) {
                let message = format!("{text} is no relation of the specification");
                self.warnings
                    .push(Error::new(Code::UnknownRelation, one.at, message));
            }
        }
    }
}

/// Checks that a field belongs to the type that a recall names.
pub(super) fn of_type(name: &str, kind: Kind, recall: &Recall, at: At) -> Result<(), Error> {
    let plural = kind.plural();
    match recall.grain_type.as_ref().map(|kind| kind.it) {
        Some(named) if named == kind => Ok(()),
        Some(named) => {
            let message = format!("{name} is a field of {plural}, not of {}", named.plural());
            Err(Error::new(Code::NotApplicable, at, message).expecting(Field::usable(Some(named))))
        }
        None => {
            let message = format!("{name} is a field of {plural} only");
            let suggestion = format!("write RECALL {plural}");
            Err(Error::new(Code::FieldWithoutType, at, message).suggest(suggestion))
        }
    }
}

fn no_operator(one: &Condition, ops: &[&str]) -> Error {
    let message = format!("{} does not take {}", one.field.it, one.op.as_str());
    let suggestion = format!("it takes {}", ops.join(", "));
    let error = Error::new(Code::Incompatible, one.at, message);
    error.suggest(suggestion).expecting(ops.iter().copied())
}

/// Checks that a field takes a value.
fn fits(field: &Field, value: &Value, one: &Condition) -> Result<(), Error> {
    if is_open(value) {
        return Ok(());
    }
    let is_fit = match field.takes {
        _ if field.name == "depends_on" => {
            matches!(value, Value::Text(_) | Value::Hash { .. })
        }
        Takes::Text | Takes::Tags => value.as_text().is_some(),
        Takes::Number => value.as_number().is_some(),
        Takes::Share => value.as_number().is_some_and(|n| (0.0..=1.0).contains(&n)),
        Takes::Bool => matches!(value, Value::Bool(_)),
        Takes::Time => time::within(value, time::ANY_DAY).is_some(),
        Takes::Hash => matches!(value, Value::Hash { .. }),
    };
    if !is_fit {
        if field.takes == Takes::Time {
            return Err(no_time(one.at));
        }
        let wants = match field.takes {
            Takes::Text | Takes::Tags => "a text",
            Takes::Number => "a number",
            Takes::Share => "a number from 0 to 1",
            Takes::Bool => "true or false",
            Takes::Time => "a time",
            Takes::Hash => "an address",
        };
        let message = format!("{} takes {wants}", field.name);
        return Err(Error::new(Code::Incompatible, one.at, message));
    }
    let text = value.as_text().unwrap_or_default();
    if field.name == "type" && Kind::named(text).is_none() {
        let names = Kind::ALL.iter().map(|kind| kind.singular());
        let error = Error::new(
            Code::UnknownType,
            one.at,
            format!("{text} is no type of grain"),
        );
        return Err(error.did_you_mean(text, names));
    }
    match closed_values(field.name) {
        Some((code, known)) if !known.contains(&text) => {
            let message = format!("{} has no value {text}", field.name);
            let error = Error::new(code, one.at, message);
            Err(error.did_you_mean(text, known.iter().copied()))
        }
        _ => Ok(()),
    }
}

const IN_MAX: usize = 100;

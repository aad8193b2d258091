//! The values of a statement, and the parameters that are put in their place before it is checked.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use crate::code::Code;
use crate::condition::{Condition, Op, Operand, Value};
use crate::error::Error;
use crate::lexer::{self, normalised};
use crate::place::{At, Placed};
use crate::recall::{Opt, Recall, Stage, Thread, Within};
use crate::statement::{Let, Query, Setting, Statement};

impl Query {
    /// Returns the statement with the value of each parameter in its place.
    ///
    /// ```
    /// let query = grainstore_cal::parse("RECALL WHERE subject = $who")?;
    /// let values = serde_json::json!({"who": "alice"});
    /// let bound = query.bound(values.as_object().unwrap())?;
    /// assert_eq!(bound.to_string(), "RECALL WHERE subject = \"alice\"");
    /// # Ok::<(), grainstore_cal::Error>(())
    /// ```
    ///
    /// # Errors
    /// CAL-E008 for a parameter without a value; CAL-E009 for one that is named as a LET; CAL-E020
    /// for a value that is none of CAL; CAL-E030 for more than 20 parameters.
    pub fn bound(mut self, values: &Map<String, Json>) -> Result<Self, Error> {
        let lets: Vec<String> = self.lets.iter().map(|one| one.name.it.clone()).collect();
        let is_given = |one: &&Let| values.contains_key(&one.name.it);
        if let Some(one) = self.lets.iter().find(is_given) {
            let message = format!("${} is a parameter and a LET", one.name.it);
            return Err(Error::new(Code::DuplicateParameter, one.name.at, message));
        }
        let mut named = BTreeSet::new();
        let mut bind = |value: &mut Value, wants: Wants| {
            let Value::Param { name, at } = &*value else {
                return Ok(());
            };
            if lets.contains(name) {
                return Ok(());
            }
            named.insert(name.clone());
            if named.len() > PARAMETERS_MAX {
                let message = format!("a statement has at most {PARAMETERS_MAX} parameters");
                return Err(Error::new(Code::BudgetExceeded, *at, message));
            }
            let given = values.get(name).ok_or_else(|| {
                let message = format!("${name} has no value");
                Error::new(Code::UnboundParameter, *at, message)
            })?;
            *value = of_json(name, *at, given, wants)?;
            Ok(())
        };
        for one in &mut self.lets {
            one.recall.each_value(&mut bind)?;
        }
        self.statement.each_value(&mut bind)?;
        Ok(self)
    }
}

/// The kind of value that a place of a statement takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// An address, also as text.
    Address,
    /// The value as it is.
    Value,
}

fn of_json(name: &str, at: At, given: &Json, wants: Wants) -> Result<Value, Error> {
    let refused = || {
        let message = format!("the value of ${name} is no text, number, truth value or array");
        Error::new(Code::Incompatible, at, message)
    };
    let value: Value = serde_json::from_value(given.clone()).map_err(|_| refused())?;
    read(value, at, wants)?.ok_or_else(refused)
}

/// Returns a value as a statement has it; `None` for a parameter in it.
fn read(value: Value, at: At, wants: Wants) -> Result<Option<Value>, Error> {
    Ok(Some(match value {
        Value::Param { .. } => return Ok(None),
        Value::Array(values) => {
            let read = values.into_iter().map(|value| read(value, at, wants));
            let read: Result<Option<Vec<Value>>, Error> = read.collect();
            return Ok(read?.map(Value::Array));
        }
        Value::Text(text) => match text.strip_prefix("sha256:") {
            Some(digits) if wants == Wants::Address => address(digits, at)?,
            _ => Value::Text(normalised(&text, at)?),
        },
        Value::Hash { digits } => address(&digits, at)?,
        value => value,
    }))
}

fn address(digits: &str, at: At) -> Result<Value, Error> {
    match lexer::is_address(digits) {
        true => Ok(Value::Hash {
            digits: digits.to_owned(),
        }),
        false => Err(Error::new(Code::BadHash, at, lexer::ADDRESS)),
    }
}

type Visit<'a> = &'a mut dyn FnMut(&mut Value, Wants) -> Result<(), Error>;

fn one(value: &mut Value, wants: Wants, visit: Visit<'_>) -> Result<(), Error> {
    match value {
        Value::Array(values) => values
            .iter_mut()
            .try_for_each(|value| one(value, wants, visit)),
        value => visit(value, wants),
    }
}

fn maybe(value: &mut Option<Placed<Value>>, wants: Wants, visit: Visit<'_>) -> Result<(), Error> {
    value
        .as_mut()
        .map_or(Ok(()), |value| one(&mut value.it, wants, visit))
}

fn within(within: &mut Option<Placed<Within>>, visit: Visit<'_>) -> Result<(), Error> {
    match within.as_mut().map(|within| &mut within.it) {
        Some(Within::Namespace(value) | Within::Scope(value)) => one(value, Wants::Value, visit),
        None => Ok(()),
    }
}

fn conditions(conditions: &mut [Condition], visit: Visit<'_>) -> Result<(), Error> {
    conditions.iter_mut().try_for_each(|condition| {
        let wants = match condition.field.it.as_str() {
            "hash" | "depends_on" => Wants::Address,
            _ => Wants::Value,
        };
        match &mut condition.value {
            Operand::Subquery(sub) => sub.recall.each_value(visit),
            Operand::Value(value) => {
                one(value, wants, visit)?;
                if condition.op == Op::In {
                    splice(value);
                }
                Ok(())
            }
        }
    })
}

/// Puts the values of an array among those that it stands between: `IN ($names)`.
fn splice(value: &mut Value) {
    if let Value::Array(values) = value {
        let spliced = std::mem::take(values)
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(inner) => inner,
                value => vec![value],
            });
        *values = spliced.collect();
    }
}

fn options(options: &mut [Placed<Opt>], visit: Visit<'_>) -> Result<(), Error> {
    let args = options.iter_mut().flat_map(|opt| &mut opt.it.args);
    let mut values = args.filter_map(|arg| arg.value.as_mut());
    values.try_for_each(|value| one(value, Wants::Value, visit))
}

fn settings(set: &mut [Setting], visit: Visit<'_>) -> Result<(), Error> {
    set.iter_mut().try_for_each(|setting| {
        let wants = match setting.field.it.as_str() {
            "depends_on" => Wants::Address,
            _ => Wants::Value,
        };
        one(&mut setting.value, wants, visit)
    })
}

impl Recall {
    /// Visits each value that may be a parameter.
    pub(crate) fn each_value(&mut self, visit: Visit<'_>) -> Result<(), Error> {
        within(&mut self.within, visit)?;
        for value in [
            &mut self.about,
            &mut self.like,
            &mut self.since,
            &mut self.recent,
        ] {
            maybe(value, Wants::Value, visit)?;
        }
        if let Some(between) = &mut self.between {
            let mut both = between.it.iter_mut();
            both.try_for_each(|value| one(value, Wants::Value, visit))?;
        }
        match self.thread.as_mut().map(|thread| &mut thread.it) {
            Some(Thread::Session(value)) => one(value, Wants::Value, visit)?,
            Some(Thread::From(value)) => one(value, Wants::Address, visit)?,
            None => {}
        }
        conditions(&mut self.conditions, visit)?;
        options(&mut self.with, visit)?;
        for stage in &mut self.pipeline {
            if let Stage::Limit { count } | Stage::Offset { count } = &mut stage.it {
                one(count, Wants::Value, visit)?;
            }
        }
        Ok(())
    }
}

impl Statement {
    fn each_value(&mut self, visit: Visit<'_>) -> Result<(), Error> {
        match self {
            Self::Recall(recall) => recall.each_value(visit),
            Self::Assemble(assemble) => {
                maybe(&mut assemble.intent, Wants::Value, visit)?;
                for recall in assemble
                    .sources
                    .iter_mut()
                    .filter_map(|it| it.recall.as_mut())
                {
                    recall.each_value(visit)?;
                }
                if let Some(budget) = &mut assemble.budget {
                    one(&mut budget.it.amount, Wants::Value, visit)?;
                }
                options(&mut assemble.with, visit)
            }
            Self::SetOp(it) => {
                it.left.each_value(visit)?;
                it.right.each_value(visit)
            }
            Self::Exists(exists) => one(&mut exists.hash.it, Wants::Address, visit),
            Self::History(history) => {
                maybe(&mut history.hash, Wants::Address, visit)?;
                maybe(&mut history.diff, Wants::Address, visit)?;
                within(&mut history.within, visit)?;
                conditions(&mut history.conditions, visit)?;
                maybe(&mut history.as_of, Wants::Value, visit)
            }
            Self::Explain(explain) => explain.of.each_value(visit),
            Self::Describe(_) | Self::DefineTemplate(_) => Ok(()),
            Self::Batch(batch) => {
                let mut entries = batch.entries.iter_mut();
                entries.try_for_each(|entry| entry.entry.each_value(visit))
            }
            Self::Coalesce(coalesce) => {
                let mut branches = coalesce.branches.iter_mut();
                branches.try_for_each(|branch| branch.each_value(visit))
            }
            Self::Add(add) => {
                settings(&mut add.set, visit)?;
                maybe(&mut add.reason, Wants::Value, visit)
            }
            Self::Supersede(it) => {
                one(&mut it.target.it, Wants::Address, visit)?;
                settings(&mut it.set, visit)?;
                maybe(&mut it.reason, Wants::Value, visit)
            }
            Self::Revert(it) => {
                one(&mut it.target.it, Wants::Address, visit)?;
                maybe(&mut it.reason, Wants::Value, visit)
            }
        }
    }
}

/// A statement has so many parameters.
const PARAMETERS_MAX: usize = 20;

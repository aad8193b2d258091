//! The values of a statement, and the parameters that are put in their place before it is checked.

use serde_json::{Map, Value as Json};

use crate::code::Code;
use crate::condition::{Condition, Operand, Value};
use crate::error::Error;
use crate::lexer::normalised;
use crate::place::{At, Placed};
use crate::recall::{Opt, Recall, Stage, Thread, Within};
use crate::statement::{Query, Setting, Statement};

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
        let names: Vec<String> = self.lets.iter().map(|one| one.name.it.clone()).collect();
        if let Some(name) = names.iter().find(|name| values.contains_key(*name)) {
            let message = format!("${name} is a parameter and a LET");
            return Err(Error::new(Code::DuplicateParameter, At::default(), message));
        }
        if values.len() > PARAMETERS_MAX {
            let message = format!("a statement has at most {PARAMETERS_MAX} parameters");
            return Err(Error::new(Code::BudgetExceeded, At::default(), message));
        }
        let mut bind = |value: &mut Value| {
            let Value::Param { name } = &*value else {
                return Ok(());
            };
            if names.contains(name) {
                return Ok(());
            }
            let given = values.get(name).ok_or_else(|| {
                let message = format!("${name} has no value");
                Error::new(Code::UnboundParameter, At::default(), message)
            })?;
            *value = of_json(name, given)?;
            Ok(())
        };
        for one in &mut self.lets {
            one.recall.each_value(&mut bind)?;
        }
        self.statement.each_value(&mut bind)?;
        Ok(self)
    }
}

fn of_json(name: &str, given: &Json) -> Result<Value, Error> {
    let refused = || {
        let message = format!("the value of ${name} is no text, number, truth value or array");
        Error::new(Code::Incompatible, At::default(), message)
    };
    let value: Value = serde_json::from_value(given.clone()).map_err(|_| refused())?;
    match value {
        Value::Param { .. } => Err(refused()),
        Value::Text(text) => normalised(&text, At::default()).map(Value::Text),
        // An address comes as text or as its object; both are read as in a statement.
        value => Ok(value),
    }
}

type Visit<'a> = &'a mut dyn FnMut(&mut Value) -> Result<(), Error>;

fn each(values: &mut [Value], visit: Visit<'_>) -> Result<(), Error> {
    values.iter_mut().try_for_each(|value| one(value, visit))
}

fn one(value: &mut Value, visit: Visit<'_>) -> Result<(), Error> {
    match value {
        Value::Array(values) => each(values, visit),
        value => visit(value),
    }
}

fn maybe(value: &mut Option<Placed<Value>>, visit: Visit<'_>) -> Result<(), Error> {
    value
        .as_mut()
        .map_or(Ok(()), |value| one(&mut value.it, visit))
}

fn within(within: &mut Option<Placed<Within>>, visit: Visit<'_>) -> Result<(), Error> {
    match within.as_mut().map(|within| &mut within.it) {
        Some(Within::Namespace(value) | Within::Scope(value)) => one(value, visit),
        None => Ok(()),
    }
}

fn conditions(conditions: &mut [Condition], visit: Visit<'_>) -> Result<(), Error> {
    conditions
        .iter_mut()
        .try_for_each(|condition| match &mut condition.value {
            Operand::Subquery(sub) => sub.recall.each_value(visit),
            Operand::Value(value) => one(value, visit),
        })
}

fn options(options: &mut [Placed<Opt>], visit: Visit<'_>) -> Result<(), Error> {
    let args = options.iter_mut().flat_map(|opt| &mut opt.it.args);
    let mut values = args.filter_map(|arg| arg.value.as_mut());
    values.try_for_each(|value| one(value, visit))
}

fn settings(set: &mut [Setting], visit: Visit<'_>) -> Result<(), Error> {
    let mut values = set.iter_mut().map(|setting| &mut setting.value);
    values.try_for_each(|value| one(value, visit))
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
            maybe(value, visit)?;
        }
        if let Some(between) = &mut self.between {
            each(&mut between.it, visit)?;
        }
        match self.thread.as_mut().map(|thread| &mut thread.it) {
            Some(Thread::Session(value) | Thread::From(value)) => one(value, visit)?,
            None => {}
        }
        conditions(&mut self.conditions, visit)?;
        options(&mut self.with, visit)?;
        for stage in &mut self.pipeline {
            if let Stage::Limit { count } | Stage::Offset { count } = &mut stage.it {
                one(count, visit)?;
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
                maybe(&mut assemble.intent, visit)?;
                for recall in assemble
                    .sources
                    .iter_mut()
                    .filter_map(|it| it.recall.as_mut())
                {
                    recall.each_value(visit)?;
                }
                if let Some(budget) = &mut assemble.budget {
                    one(&mut budget.it.amount, visit)?;
                }
                options(&mut assemble.with, visit)
            }
            Self::SetOp(it) => {
                it.left.each_value(visit)?;
                it.right.each_value(visit)
            }
            Self::Exists(exists) => one(&mut exists.hash.it, visit),
            Self::History(history) => {
                maybe(&mut history.hash, visit)?;
                maybe(&mut history.diff, visit)?;
                within(&mut history.within, visit)?;
                conditions(&mut history.conditions, visit)?;
                maybe(&mut history.as_of, visit)
            }
            Self::Explain(explain) => explain.of.each_value(visit),
            Self::Describe(_) => Ok(()),
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
                maybe(&mut add.reason, visit)
            }
            Self::Supersede(it) => {
                one(&mut it.target.it, visit)?;
                settings(&mut it.set, visit)?;
                maybe(&mut it.reason, visit)
            }
            Self::Revert(it) => {
                one(&mut it.target.it, visit)?;
                maybe(&mut it.reason, visit)
            }
        }
    }
}

/// A statement has so many parameters.
const PARAMETERS_MAX: usize = 20;

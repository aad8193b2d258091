//! The other statements: set operations, EXISTS, HISTORY, BATCH, COALESCE.

use std::collections::BTreeMap;

use grainstore::query::Found;
use serde_json::Value as Json;

use super::Run;
use super::answer::{Answer, Body, Grains, fields};
use super::facade::Facade;
use super::failure::Failure;
use super::fetch::{Fetch, Order};
use super::plan::Plan;
use super::recall::not_found;
use crate::check::no_time;
use crate::code::Code;
use crate::condition::Value;
use crate::error::Error;
use crate::place::{At, Placed};
use crate::recall::{Direction, Recall};
use crate::statement::{Batch, Coalesce, History, SetOp, SetOperator, Statement};
use crate::time;

impl<F: Facade> Run<'_, F> {
    pub(super) fn statement(&mut self, statement: &Statement) -> Result<Body, Failure> {
        match statement {
            Statement::Recall(recall) => self.recall(recall),
            Statement::SetOp(it) => self.set_op(it),
            Statement::Exists(exists) => {
                let digits = digits(&exists.hash)?;
                let found = self.address(digits, exists.hash.at)?;
                Ok(Body::Exists(found.is_some()))
            }
            Statement::History(history) => self.history(history),
            Statement::Explain(explain) => self.explain(&explain.of),
            Statement::Describe(describe) => Ok(Body::Description(self.describe(describe)?)),
            Statement::Batch(batch) => self.batch(batch),
            Statement::Coalesce(it) => self.coalesce(it),
            Statement::Assemble(it) => self.assemble(it),
            // CAL 1.1: they are read, and executed where changes are enabled.
            Statement::Add(it) => Err(tier_1(it.grain_type.at)),
            Statement::Supersede(it) => Err(tier_1(it.target.at)),
            Statement::Revert(it) => Err(tier_1(it.target.at)),
            Statement::DefineTemplate(it) => self.define(it),
        }
    }

    fn set_op(&mut self, it: &SetOp) -> Result<Body, Failure> {
        let mut found = self.operand(&Statement::SetOp(it.clone()))?;
        found.sort_by(|a, b| Order::Score.cmp(a, b));
        let total = found.len() as u64;
        found.truncate(SET_MAX);
        Ok(Body::Grains(Grains {
            found,
            total,
            ..Grains::default()
        }))
    }

    /// Returns the grains of an operand, each once.
    fn operand(&mut self, statement: &Statement) -> Result<Vec<Found>, Failure> {
        let it = match statement {
            Statement::SetOp(it) => it,
            Statement::Recall(recall) => return self.all(recall),
            _ => return Ok(Vec::new()),
        };
        let left = self.operand(&it.left)?;
        let mut right: BTreeMap<[u8; 32], Found> = BTreeMap::new();
        for found in self.operand(&it.right)? {
            right.insert(*found.address.as_bytes(), found);
        }
        let mut both = Vec::new();
        for mut found in left {
            let other = right.remove(found.address.as_bytes());
            let score = other.as_ref().map(|other| other.score);
            match (it.op, score) {
                // CAL 8: the larger of two scores, or the smaller.
                (SetOperator::Union, Some(score)) => found.score = found.score.max(score),
                (SetOperator::Intersect, Some(score)) => found.score = found.score.min(score),
                (SetOperator::Union | SetOperator::Except, None) => {}
                (SetOperator::Intersect, None) | (SetOperator::Except, Some(_)) => continue,
            }
            both.push(found);
        }
        if it.op == SetOperator::Union {
            both.extend(right.into_values());
        }
        Ok(both)
    }

    fn batch(&mut self, batch: &Batch) -> Result<Body, Failure> {
        let mut slots = Vec::new();
        for entry in &batch.entries {
            let warnings = std::mem::take(&mut self.warnings);
            let scanned = std::mem::take(&mut self.scanned);
            let text = entry.entry.to_string();
            let slot = self.statement(&entry.entry).map(|body| Answer {
                statement: entry.entry.name(),
                body,
                warnings: std::mem::take(&mut self.warnings),
                query_hash: grainstore::ContentAddress::of(text.as_bytes()),
                grains_scanned: self.scanned,
                duration: std::time::Duration::ZERO,
            });
            self.warnings = warnings;
            self.scanned = self.scanned.saturating_add(scanned);
            slots.push((entry.label.it.clone(), slot));
        }
        Ok(Body::Batch(slots))
    }

    /// Answers with the first recall that finds something, else with the last.
    fn coalesce(&mut self, it: &Coalesce) -> Result<Body, Failure> {
        let mut last = Body::Grains(Grains::default());
        for branch in &it.branches {
            last = self.recall(branch)?;
            let is_found = match &last {
                Body::Grains(grains) => !grains.found.is_empty(),
                Body::Count(count) => *count > 0,
                Body::Values(values) => !values.is_empty(),
                Body::Groups { groups, .. } => !groups.is_empty(),
                _ => false,
            };
            if is_found {
                break;
            }
        }
        Ok(last)
    }

    fn history(&mut self, history: &History) -> Result<Body, Failure> {
        let Some(hash) = &history.hash else {
            return self.history_of_pair(history);
        };
        let address = self.address(digits(hash)?, hash.at)?;
        let address = address.ok_or_else(|| not_found(hash.at))?;
        let bytes = self.options.bytes_max;
        let (mut versions, older) = self.facade.get_history(&address, bytes)?;
        for version in &mut versions {
            self.hide_successor(&mut version.status)?;
        }
        self.scanned = self.scanned.saturating_add(versions.len() as u64);
        if let Some(other) = &history.diff {
            let to = self.address(digits(other)?, other.at)?;
            let to = to.ok_or_else(|| not_found(other.at))?;
            let grain = |of| {
                let mut grains = versions.iter().map(|version| &version.grain);
                grains.find(|grain| grain.address() == of)
            };
            let (Some(from), Some(to)) = (grain(address), grain(to)) else {
                let message = "the two are no versions of one grain";
                return Err(Error::new(Code::TargetNotFound, other.at, message).into());
            };
            return Ok(Body::Diff(differences(&fields(from), &fields(to))));
        }
        versions.reverse();
        let more = older + versions.len().saturating_sub(VERSIONS_MAX) as u64;
        versions.truncate(VERSIONS_MAX);
        Ok(Body::History { versions, more })
    }

    /// Returns the versions of a subject and a relation, or those that held at a moment.
    fn history_of_pair(&mut self, history: &History) -> Result<Body, Failure> {
        let recall = Recall {
            within: history.within.clone(),
            conditions: history.conditions.clone(),
            ..Recall::default()
        };
        let mut plan = Plan::of(&recall, self.asker())?;
        plan.filter = match &history.as_of {
            Some(as_of) => {
                let window = time::within(&as_of.it, self.options.now);
                let window = window.ok_or_else(|| no_time(as_of.at))?;
                plan.filter.known_at(grainstore::Time::from_ms(window.to))
            }
            None => plan.filter.with_superseded().with_expired(),
        };
        let order = Order::Field("time".into(), Direction::Desc);
        let fetch = Fetch {
            facade: self.facade,
            plan: &plan,
            order: &order,
            len: Some(VERSIONS_MAX),
            deadline: self.deadline,
            bytes_max: self.options.bytes_max,
        };
        let rows = fetch.rows()?;
        self.scanned = self.scanned.saturating_add(rows.scanned);
        Ok(Body::Grains(Grains {
            found: rows.found,
            total: rows.total,
            total_is_lower_bound: rows.total_is_lower_bound,
            ..Grains::default()
        }))
    }
}

fn tier_1(at: At) -> Failure {
    let error = Error::new(
        Code::Tier1NotEnabled,
        at,
        "a change is prepared, then executed",
    );
    error.suggest("EXPLAIN shows what it would do").into()
}

pub(super) fn digits(value: &Placed<Value>) -> Result<&str, Error> {
    match &value.it {
        Value::Hash { digits } => Ok(digits),
        _ => Err(Error::new(Code::BadHash, value.at, "an address is needed")),
    }
}

/// Returns the members in which two objects differ; an absent one is null.
fn differences(from: &Json, to: &Json) -> Vec<(String, Json, Json)> {
    let (Json::Object(from), Json::Object(to)) = (from, to) else {
        return Vec::new();
    };
    let mut names: Vec<&String> = from.keys().chain(to.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let value = |object: &serde_json::Map<String, Json>, name: &String| {
        object.get(name).cloned().unwrap_or(Json::Null)
    };
    let pairs = names
        .into_iter()
        .map(|name| (name.clone(), value(from, name), value(to, name)));
    pairs.filter(|(_, from, to)| from != to).collect()
}

/// A set operation returns so many grains: it has no LIMIT of its own.
const SET_MAX: usize = 1_000;
const VERSIONS_MAX: usize = 100;

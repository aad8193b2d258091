//! The answer to a statement, and its envelope in JSON (CAL 1.11, OMS 28.1).

use std::time::Duration;

use grainstore::query::Found;
use grainstore::store::Version;
use grainstore::{ContentAddress, Grain};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::field::{Cell, cells};
use crate::assemble::Unit;
use crate::error::Error;
use crate::recall::Format;

/// The answer to a statement.
///
/// ```
/// use grainstore::{Draft, Options as StoreOptions, Store, Time};
/// use grainstore_cal::{Cal, Options};
///
/// let store = Store::in_memory(StoreOptions::default())?;
/// store.put(Draft::belief("alice", "mg:prefers", "tea").confidence(0.9))?;
/// let options = Options::at(Time::from_ms(1_768_471_200_000));
/// let answer = store.cal("RECALL beliefs ABOUT \"alice\"", &options).unwrap();
/// let json = answer.to_json();
/// assert_eq!(json["results"][0]["grain"]["object"], "tea");
/// assert_eq!(json["total"], 1);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug)]
pub struct Answer {
    /// The kind of statement, such as `recall`.
    pub statement: &'static str,
    /// The content.
    pub body: Body,
    /// The parts of the statement that have no effect.
    pub warnings: Vec<Error>,
    /// The address of its canonical text, with the names of parameters.
    pub query_hash: ContentAddress,
    /// How many grains were read.
    pub grains_scanned: u64,
    /// How long it took.
    pub duration: Duration,
}

/// The content of an answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Body {
    /// Grains.
    Grains(Grains),
    /// The values of an extractor.
    Values(Vec<Value>),
    /// How many grains there are of each value of a field.
    Groups {
        /// The field.
        field: String,
        /// The values with the number of their grains.
        groups: Vec<(Value, u64)>,
    },
    /// The number of grains.
    Count(u64),
    /// Whether there is a grain.
    Exists(bool),
    /// The versions of a grain, the newest first.
    History {
        /// The versions.
        versions: Vec<Version>,
        /// How many more there are.
        more: u64,
    },
    /// The fields in which two versions differ, each with both values.
    Diff(Vec<(String, Value, Value)>),
    /// The name of the template that was defined.
    Defined(String),
    /// How a statement would be answered.
    Plan(Value),
    /// The description that DESCRIBE asks for.
    Description(Value),
    /// The grain that a change stored.
    Changed {
        /// Its address.
        address: ContentAddress,
        /// The grain that it replaced.
        replaced: Option<ContentAddress>,
    },
    /// An assembled context.
    Context(Context),
    /// The answers of a batch, by their labels.
    Batch(Vec<(String, Result<Answer, Failure>)>),
}

/// The grains of an answer.
#[derive(Debug, Default)]
pub struct Grains {
    /// The grains, in their order.
    pub found: Vec<Found>,
    /// How many pass the conditions.
    pub total: u64,
    /// Whether `total` is a lower bound.
    pub total_is_lower_bound: bool,
    /// The fields that SELECT keeps.
    pub select: Option<Vec<String>>,
    /// The fields of the text and of the attributes that PROJECT chooses.
    pub project: Option<[Vec<String>; 2]>,
    /// The text that AS asks for, and its format.
    pub formatted: Option<(Format, String)>,
    /// The members that options of WITH add to each grain.
    pub(crate) adds: Adds,
}

/// An assembled context.
#[derive(Debug)]
pub struct Context {
    /// The format of the text.
    pub format: Format,
    /// The text.
    pub text: String,
    /// The budget.
    pub budget: usize,
    /// How much of it is used: tokens by [`grainstore::render::tokens`], or grains.
    pub used: usize,
    /// The unit of the budget.
    pub unit: Unit,
    /// How much of each grain is shown: `summary`, `standard` or `full`.
    pub level: &'static str,
    /// The sources, the most important first.
    pub sources: Vec<SourceUse>,
}

/// The use that a context makes of a source.
#[derive(Debug)]
pub struct SourceUse {
    /// The label.
    pub label: String,
    /// How many grains the source has.
    pub found: usize,
    /// The grains that the context has of it.
    pub used: Vec<ContentAddress>,
    /// The tokens of their lines.
    pub tokens: usize,
    /// Why it has none, if it failed.
    pub failure: Option<Failure>,
}

/// The members that options of WITH add to each grain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Adds {
    pub(crate) explanation: bool,
    pub(crate) provenance: bool,
    pub(crate) contradiction: bool,
}

impl Answer {
    /// Returns the text of AS, or of an assembled context.
    pub fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Grains(grains) => grains.formatted.as_ref().map(|(_, text)| text.as_str()),
            Body::Context(context) => Some(&context.text),
            _ => None,
        }
    }

    /// Returns whether something was found.
    pub fn is_found(&self) -> bool {
        match &self.body {
            Body::Grains(grains) => !grains.found.is_empty(),
            Body::Values(values) => !values.is_empty(),
            Body::Groups { groups, .. } => !groups.is_empty(),
            Body::Count(count) => *count > 0,
            Body::Exists(exists) => *exists,
            Body::History { versions, .. } => !versions.is_empty(),
            Body::Changed { .. }
            | Body::Defined(_)
            | Body::Diff(_)
            | Body::Plan(_)
            | Body::Description(_) => true,
            Body::Context(context) => context.sources.iter().any(|source| !source.used.is_empty()),
            Body::Batch(slots) => slots
                .iter()
                .any(|(_, slot)| slot.as_ref().is_ok_and(Self::is_found)),
        }
    }

    /// Returns the envelope of CAL.
    pub fn to_json(&self) -> Value {
        let mut envelope = Map::new();
        envelope.insert("_cal".into(), self.head());
        match self.body.to_json() {
            Value::Object(members) => envelope.extend(members),
            other => {
                envelope.insert("result".into(), other);
            }
        }
        if !self.warnings.is_empty() {
            let warnings = self.warnings.iter();
            let warnings: Vec<Value> = warnings
                .map(|warning| json!({"code": warning.code.as_str(), "message": warning.message}))
                .collect();
            envelope.insert("warnings".into(), warnings.into());
        }
        Value::Object(envelope)
    }

    fn head(&self) -> Value {
        let returned = match &self.body {
            Body::Grains(grains) => grains.found.len(),
            Body::History { versions, .. } => versions.len(),
            Body::Context(context) => context.sources.iter().map(|source| source.used.len()).sum(),
            _ => 0,
        };
        json!({
            "version": "1.0",
            "statement_type": self.statement,
            "tier": u8::from(matches!(self.body, Body::Changed { .. })),
            "query_hash": format!("sha256:{}", self.query_hash),
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            "budget": {
                "tokens_used": match &self.body {
                    Body::Context(context) => grainstore::render::tokens(&context.text),
                    Body::Grains(Grains { formatted: Some((_, text)), .. }) => {
                        grainstore::render::tokens(text)
                    }
                    _ => 0,
                },
                "grains_returned": returned,
                "grains_scanned": self.grains_scanned,
            },
        })
    }
}

impl Body {
    fn to_json(&self) -> Value {
        match self {
            Self::Grains(grains) => grains.to_json(),
            Self::Values(values) => json!({"values": values, "total": values.len()}),
            Self::Groups { field, groups } => {
                let rows = groups.iter();
                let rows: Vec<Value> = rows
                    .map(|(value, count)| json!({field: value, "count": count}))
                    .collect();
                json!({"groups": rows, "total": groups.len()})
            }
            Self::Count(count) => json!({"count": count, "total": count}),
            Self::Exists(exists) => json!({"exists": exists}),
            Self::History { versions, more } => {
                let rows: Vec<Value> = versions.iter().map(version).collect();
                json!({"versions": rows, "total": versions.len() as u64 + more})
            }
            Self::Diff(changes) => {
                let rows = changes.iter();
                let rows: Vec<Value> = rows
                    .map(|(field, from, to)| json!({"field": field, "from": from, "to": to}))
                    .collect();
                json!({"changes": rows})
            }
            Self::Changed { address, replaced } => json!({
                "content_address": address.to_string(),
                "supersedes": replaced.map(|old| old.to_string()),
            }),
            Self::Defined(name) => json!({"template": name}),
            Self::Plan(plan) => json!({"plan": plan}),
            Self::Description(description) => description.clone(),
            Self::Context(context) => context.to_json(),
            Self::Batch(slots) => {
                let slots = slots.iter().map(|(label, slot)| {
                    let slot = match slot {
                        Ok(answer) => answer.to_json(),
                        Err(failure) => json!({"error": failure.to_json("")}),
                    };
                    (label.clone(), slot)
                });
                json!({"results": slots.collect::<Map<String, Value>>()})
            }
        }
    }
}

impl Context {
    fn to_json(&self) -> Value {
        let sources = self.sources.iter().map(|source| {
            let used: Vec<String> = source.used.iter().map(ToString::to_string).collect();
            let mut row = json!({
                "label": source.label,
                "grains_found": source.found,
                "grains_used": used.len(),
                "tokens_used": source.tokens,
                "truncated": source.used.len() < source.found,
                "content_addresses": used,
            });
            if let Some(failure) = &source.failure {
                row["error"] = failure.to_json("");
            }
            row
        });
        let unit = match self.unit {
            Unit::Tokens => "tokens",
            Unit::Grains => "grains",
        };
        json!({
            "formatted_context": {"format": self.format.as_str(), "text": self.text},
            "budget": {
                "total": self.budget,
                "used": self.used,
                "remaining": self.budget.saturating_sub(self.used),
                "unit": unit,
            },
            "disclosure": self.level,
            "sources": sources.collect::<Vec<Value>>(),
        })
    }
}

impl Grains {
    fn to_json(&self) -> Value {
        let results: Vec<Value> = self.found.iter().map(|found| self.row(found)).collect();
        let mut object = json!({"results": results, "total": self.total, "next_cursor": null});
        if self.total_is_lower_bound {
            object["total_is_lower_bound"] = true.into();
        }
        if let Some((format, text)) = &self.formatted {
            object["format"] = format.as_str().into();
            object["formatted"] = text.as_str().into();
        }
        object
    }

    fn row(&self, found: &Found) -> Value {
        let grain = match &self.select {
            Some(fields) => {
                let members = fields
                    .iter()
                    .filter_map(|field| Some((field.clone(), value(found, field)?)));
                Value::Object(members.collect())
            }
            None => fields(&found.grain),
        };
        let mut row = json!({
            "grain": grain,
            "score": found.score,
            "matched_fields": found.matched_fields,
            "content_address": found.address.to_string(),
        });
        if let Some(by) = found.status.superseded_by {
            row["superseded_by"] = by.to_string().into();
        }
        if self.adds.explanation {
            let parts = found.explanation.iter();
            let parts = parts.map(|(name, part)| ((*name).to_owned(), Value::from(*part)));
            row["score_breakdown"] = Value::Object(parts.collect());
        }
        if self.adds.contradiction {
            row["contradicted"] = found.status.contradicted.into();
        }
        if self.adds.provenance {
            row["provenance"] = provenance(&found.grain);
        }
        row
    }
}

fn version(version: &Version) -> Value {
    let mut row = json!({
        "grain": fields(&version.grain),
        "content_address": version.grain.address().to_string(),
        "stored_at": version.stored_at.to_string(),
        "is_current": version.status.is_current(),
    });
    if let Some(by) = version.status.superseded_by {
        row["superseded_by"] = by.to_string().into();
    }
    row
}

fn provenance(grain: &Grain) -> Value {
    let names = [
        "source_type",
        "author_did",
        "created_at",
        "derived_from",
        "provenance_chain",
    ];
    let members = names.iter().filter_map(|name| {
        let value = json_of(grain.field(name)?);
        Some(((*name).to_owned(), value))
    });
    Value::Object(members.collect())
}

/// Returns the value of a field that SELECT keeps: one value, or an array.
fn value(found: &Found, field: &str) -> Option<Value> {
    let cells = cells(found, field);
    match cells.as_slice() {
        [] => None,
        [one] if field != "tags" => Some(one.to_json()),
        all => Some(all.iter().map(Cell::to_json).collect()),
    }
}

/// Returns the fields of a grain.
pub(crate) fn fields(grain: &Grain) -> Value {
    json_of(grain)
}

/// Returns a value of the library, which always has a form in JSON.
pub(crate) fn json_of(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

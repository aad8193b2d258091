//! The stages of a recall, from left to right, and the rows that they need.

use std::collections::{BTreeMap, BTreeSet};

use grainstore::query::Found;
use serde_json::Value as Json;

use super::answer::Body;
use super::fetch::Order;
use super::field::cells;
use super::plan::Plan;
use crate::condition::{Extract, Value};
use crate::place::Placed;
use crate::recall::Stage;

/// The rows that the stages of a plan need, and in which order.
#[derive(Debug)]
pub(super) struct Need {
    pub(super) order: Order,
    /// How many; `None` for all.
    pub(super) len: Option<usize>,
    /// Whether nothing but their number is needed.
    pub(super) only_counts: bool,
}

impl Need {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut order = match plan.is_thread {
            true => Order::Said,
            false => Order::Score,
        };
        let (mut skipped, mut is_sorted) = (0_usize, false);
        let mut len = None;
        for stage in &plan.stages {
            match stage {
                Stage::OrderBy { field, dir } if !is_sorted && skipped == 0 => {
                    order = Order::Field(field.it.clone(), *dir);
                    is_sorted = true;
                }
                Stage::Select { .. } | Stage::Project { .. } => {}
                Stage::Offset { count } => skipped = skipped.saturating_add(number(count)),
                Stage::Limit { count } => {
                    len = Some(skipped.saturating_add(number(count)));
                    break;
                }
                Stage::First {} => {
                    len = Some(skipped.saturating_add(1));
                    break;
                }
                Stage::Count {} => {
                    let only_counts = skipped == 0;
                    return Self {
                        order,
                        len: None,
                        only_counts,
                    };
                }
                Stage::OrderBy { .. } | Stage::Extract { .. } | Stage::GroupBy { .. } => {
                    return Self {
                        order,
                        len: None,
                        only_counts: false,
                    };
                }
            }
        }
        Self {
            order,
            len: len.or(Some(skipped.saturating_add(LIMIT_DEFAULT))),
            only_counts: false,
        }
    }
}

pub(super) const fn limits(stage: &Stage) -> bool {
    matches!(stage, Stage::Limit { .. } | Stage::First {})
}

fn number(value: &Value) -> usize {
    match value {
        Value::Int(n) => usize::try_from(*n).unwrap_or(0),
        _ => 0,
    }
}

/// Applies a stage to what the stage before returned; the checker knows which fit.
pub(super) fn staged(body: Body, stage: &Stage) -> Body {
    match (body, stage) {
        (Body::Grains(mut grains), stage) => match stage {
            Stage::Select { fields } => {
                grains.select = Some(fields.iter().map(|field| field.it.clone()).collect());
                Body::Grains(grains)
            }
            Stage::OrderBy { field, dir } => {
                let order = Order::Field(field.it.clone(), *dir);
                grains.found.sort_by(|a, b| order.cmp(a, b));
                Body::Grains(grains)
            }
            Stage::Limit { count } => {
                grains.found.truncate(number(count));
                Body::Grains(grains)
            }
            Stage::Offset { count } => {
                let skipped = number(count).min(grains.found.len());
                grains.found.drain(..skipped);
                Body::Grains(grains)
            }
            Stage::First {} => {
                grains.found.truncate(1);
                Body::Grains(grains)
            }
            Stage::Count {} => Body::Count(grains.found.len() as u64),
            Stage::Extract { of } => {
                let values = extracted(&grains.found, *of).into_iter();
                Body::Values(values.map(json).collect())
            }
            Stage::GroupBy { field } => grouped(&grains.found, &field.it),
            Stage::Project { content, attr } => {
                let names = |fields: &[Placed<String>]| {
                    fields.iter().map(|field| field.it.clone()).collect()
                };
                grains.project = Some([names(content), names(attr)]);
                Body::Grains(grains)
            }
        },
        (Body::Values(mut values), stage) => match stage {
            Stage::Count {} => Body::Count(values.len() as u64),
            stage => {
                cut(&mut values, stage);
                Body::Values(values)
            }
        },
        (Body::Groups { field, mut groups }, stage) => match stage {
            Stage::Count {} => Body::Count(groups.len() as u64),
            stage => {
                cut(&mut groups, stage);
                Body::Groups { field, groups }
            }
        },
        (body, _) => body,
    }
}

fn cut<T>(rows: &mut Vec<T>, stage: &Stage) {
    match stage {
        Stage::Limit { count } => rows.truncate(number(count)),
        Stage::First {} => rows.truncate(1),
        Stage::Offset { count } => {
            rows.drain(..number(count).min(rows.len()));
        }
        _ => {}
    }
}

/// Counts the grains of each value of a field; those without it are not counted.
fn grouped(found: &[Found], field: &str) -> Body {
    let mut counts: BTreeMap<String, (Json, u64)> = BTreeMap::new();
    for found in found {
        for cell in cells(found, field) {
            let value = cell.to_json();
            let key = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            counts.entry(key).or_insert((value, 0)).1 += 1;
        }
    }
    let mut groups: Vec<(Json, u64)> = counts.into_values().collect();
    groups.sort_by(|(_, a), (_, b)| b.cmp(a));
    let field = field.to_owned();
    Body::Groups { field, groups }
}

/// Returns the values of grains, each once, in the order of the grains.
pub(super) fn extracted(found: &[Found], extract: Extract) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut values = Vec::new();
    for found in found {
        let text = match extract {
            Extract::Hashes => Some(found.address.to_string()),
            // Ruling A9: other grains have none.
            _ if found.grain.type_() != grainstore::Type::Belief => None,
            Extract::Subjects => first(found, "subject"),
            Extract::Objects => first(found, "object"),
        };
        let Some(text) = text.filter(|text| seen.insert(text.clone())) else {
            continue;
        };
        values.push(match extract {
            Extract::Hashes => Value::Hash { digits: text },
            _ => Value::Text(text),
        });
    }
    values
}

fn first(found: &Found, field: &str) -> Option<String> {
    let cells = cells(found, field);
    cells
        .first()
        .and_then(|cell| cell.as_text())
        .map(str::to_owned)
}

fn json(value: Value) -> Json {
    match value {
        Value::Hash { digits } => format!("sha256:{digits}").into(),
        Value::Text(text) => text.into(),
        value => value.to_string().into(),
    }
}

/// So many grains are returned where no LIMIT is written.
pub(super) const LIMIT_DEFAULT: usize = 20;

//! A condition that the index cannot answer: it is evaluated on each grain.

use std::collections::BTreeSet;

use grainstore::Time;
use grainstore::query::Found;

use super::field::{Cell, cells, digits_of};
use crate::condition::{Op, Value};
use crate::time::{self, Window};

/// A condition on the value that a grain has for a field. A grain without a value fails it, also
/// `!=` (CAL 7).
#[derive(Debug)]
pub(crate) struct Test {
    field: String,
    check: Check,
}

#[derive(Debug)]
enum Check {
    Is(Value),
    Not(Value),
    Ordered(Op, Value),
    Among(BTreeSet<String>),
    /// All of these are there.
    Has(Vec<String>),
    /// None of these is there.
    HasNot(Vec<String>),
    Within(Window),
    Never,
}

impl Test {
    pub(crate) fn new(field: &str, op: Op, values: &[Value], now: Time) -> Self {
        let texts = || values.iter().map(|value| text_of(field, value));
        let first = || values.first().cloned().unwrap_or(Value::Bool(false));
        let is_time = matches!(field, "deadline" | "expires_at" | "time");
        let check = match op {
            Op::Eq | Op::Between if is_time => {
                let window = match op {
                    Op::Eq => time::within(&first(), now),
                    _ => time::between(values, now),
                };
                window.map_or(Check::Never, Check::Within)
            }
            Op::Eq => Check::Is(renamed(field, first())),
            Op::Ne => Check::Not(renamed(field, first())),
            Op::Ge | Op::Le | Op::Gt | Op::Lt => Check::Ordered(op, first()),
            Op::In => Check::Among(texts().collect()),
            Op::Include => Check::Has(texts().collect()),
            Op::Exclude => Check::HasNot(texts().collect()),
            Op::Between => Check::Never,
            Op::Is => Check::Never,
        };
        let field = field.to_owned();
        Self { field, check }
    }

    /// Returns whether a grain passes.
    pub(crate) fn holds(&self, found: &Found) -> bool {
        let cells = cells(found, &self.field);
        if cells.is_empty() {
            return false;
        }
        let equals = |cell: &Cell, value: &Value| match (cell, value) {
            (Cell::Text(text), Value::Text(wanted)) => text == wanted,
            (Cell::Text(text), Value::Hash { digits }) => text.starts_with(&**digits),
            (Cell::Bool(it), Value::Bool(wanted)) => it == wanted,
            (Cell::Number(n), value) => value.as_number() == Some(*n),
            _ => false,
        };
        let text = |cell: &Cell| match cell {
            Cell::Text(text) => text.clone(),
            cell => cell.to_json().to_string(),
        };
        match &self.check {
            Check::Is(value) => cells.iter().any(|cell| equals(cell, value)),
            Check::Not(value) => !cells.iter().any(|cell| equals(cell, value)),
            Check::Ordered(op, value) => cells.iter().any(|cell| is_ordered(*op, cell, value)),
            Check::Among(texts) => cells.iter().any(|cell| texts.contains(&text(cell))),
            Check::Has(texts) => texts
                .iter()
                .all(|it| cells.iter().any(|cell| text(cell) == *it)),
            Check::HasNot(texts) => !cells.iter().any(|cell| texts.contains(&text(cell))),
            Check::Within(window) => cells.iter().any(|cell| match cell {
                Cell::Time(ms) => (window.from..=window.to).contains(ms),
                _ => false,
            }),
            Check::Never => false,
        }
    }
}

fn is_ordered(op: Op, cell: &Cell, value: &Value) -> bool {
    let order = match (cell, value) {
        (Cell::Number(n), value) => value.as_number().and_then(|of| n.partial_cmp(&of)),
        (Cell::Text(text), Value::Text(of)) => Some(text.as_str().cmp(of)),
        _ => None,
    };
    order.is_some_and(|order| match op {
        Op::Ge => order.is_ge(),
        Op::Le => order.is_le(),
        Op::Gt => order.is_gt(),
        _ => order.is_lt(),
    })
}

/// Returns the value as OMS names it (ruling CAL8).
pub(super) fn renamed(field: &str, value: Value) -> Value {
    let state = match (field, value.as_text()) {
        ("goal_state", Some("completed")) => "satisfied",
        ("goal_state", Some("abandoned")) => "failed",
        ("goal_state", Some("blocked")) => "suspended",
        ("depends_on", Some(text)) => digits_of(text),
        _ => return value,
    };
    Value::Text(state.to_owned())
}

fn text_of(field: &str, value: &Value) -> String {
    match value {
        Value::Text(text) if field == "depends_on" => digits_of(text).to_owned(),
        Value::Text(text) => text.clone(),
        Value::Hash { digits } => digits.clone(),
        value => value.to_string(),
    }
}

//! The value that a grain has for a field of a statement (CAL, appendix E and rulings C4 to C16).

use grainstore::codec::Value as Stored;
use grainstore::query::Found;
use grainstore::{Grain, Type};

use crate::time::whole;

/// A value of a grain, as conditions and sorts compare it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Number(f64),
    Bool(bool),
    /// Milliseconds since 1970.
    Time(i64),
}

impl Cell {
    fn of(value: &Stored) -> Option<Self> {
        Some(match value {
            Stored::Text(text) => Self::Text(text.clone()),
            Stored::Bool(it) => Self::Bool(*it),
            Stored::Int(_) | Stored::Float(_) => Self::Number(value.as_f64()?),
            Stored::Nil => return None,
            other => Self::Text(other.to_json()),
        })
    }

    /// Returns the text of a text.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Compares two values for a sort: numbers by size, texts by code points.
    pub(crate) fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Bool(_) => 0,
            Self::Number(_) => 1,
            Self::Time(_) => 2,
            Self::Text(_) => 3,
        }
    }

    /// Returns the value in JSON.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Number(n) if n.fract() == 0.0 && n.abs() < 9e15 => whole(*n).into(),
            Self::Number(n) => (*n).into(),
            Self::Bool(it) => (*it).into(),
            Self::Time(ms) => (*ms).into(),
        }
    }
}

/// Returns the values of a field: none where the grain does not have it, several for a list.
pub(crate) fn cells(found: &Found, name: &str) -> Vec<Cell> {
    let grain = &found.grain;
    let text = |text: &str| vec![Cell::Text(text.to_owned())];
    match name {
        "score" => vec![Cell::Number(found.score)],
        "type" => grain.type_().name().map(text).unwrap_or_default(),
        "time" => vec![Cell::Time(grain.event_time().ms())],
        "hash" => text(&found.address.to_string()),
        "contradicted" => vec![Cell::Bool(found.status.contradicted)],
        // OMS 1.3 keeps it beside the grain (correction M15).
        "verification_status" => text(found.status.verification.name()),
        "tags" => of_field(grain, "structural_tags"),
        name => of_grain(grain, name),
    }
}

fn of_grain(grain: &Grain, name: &str) -> Vec<Cell> {
    if let Some((_, member)) = name.split_once(':') {
        return domain(grain, name, member);
    }
    match name {
        // Ruling C6.
        "reasoning_type" => of_field(grain, "inference_method"),
        // Ruling C9: a complete action has no phase.
        "action_phase" if grain.type_() == Type::Action => match of_field(grain, name) {
            none if none.is_empty() => vec![Cell::Text("complete".into())],
            some => some,
        },
        // Ruling C8: the name of the state.
        "context" => state_name(grain).map(Cell::Text).into_iter().collect(),
        // Ruling C5: what OMS calls otherwise.
        "consent_action" if grain.type_() == Type::Consent => {
            let withdraws = grain.field("is_withdrawal").and_then(Stored::as_bool) == Some(true);
            vec![Cell::Text(
                if withdraws { "withdraw" } else { "grant" }.into(),
            )]
        }
        "grantor_did" => of_field(grain, "subject_did"),
        "expires_at" => times(grain, "valid_to"),
        "deadline" => times(grain, name),
        "purpose" => purpose(grain).map(Cell::Text).into_iter().collect(),
        "depends_on" => of_field(grain, name)
            .iter()
            .filter_map(Cell::as_text)
            .map(|text| Cell::Text(digits_of(text).to_owned()))
            .collect(),
        // As the index has them: of another value its JSON.
        "subject" | "relation" | "object" => match grain.field(name) {
            Some(Stored::Text(text)) => vec![Cell::Text(text.clone())],
            Some(other) => vec![Cell::Text(other.to_json())],
            None => Vec::new(),
        },
        name => of_field(grain, name),
    }
}

fn of_field(grain: &Grain, name: &str) -> Vec<Cell> {
    match grain.field(name) {
        Some(Stored::Array(items)) => items.iter().filter_map(Cell::of).collect(),
        Some(value) => Cell::of(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn times(grain: &Grain, name: &str) -> Vec<Cell> {
    let time = grain.field(name).and_then(Stored::as_i64);
    time.map(Cell::Time).into_iter().collect()
}

/// Returns the values of a field of a domain profile: of the payload, else of `context` (OMS A.7).
fn domain(grain: &Grain, name: &str, member: &str) -> Vec<Cell> {
    let whole = of_field(grain, name);
    if !whole.is_empty() {
        return whole;
    }
    let context = grain.field("context").and_then(Stored::as_map);
    let value = context.and_then(|context| context.get(name).or_else(|| context.get(member)));
    match value {
        Some(Stored::Array(items)) => items.iter().filter_map(Cell::of).collect(),
        Some(value) => Cell::of(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Returns the name of a state: the label or name of its context, else its subject (ruling C8).
pub(crate) fn state_name(grain: &Grain) -> Option<String> {
    let context = grain.field("context").and_then(Stored::as_map);
    let member = |name| context.and_then(|context| context.get(name)?.as_text());
    let named = member("label").or_else(|| member("name"));
    named.or_else(|| grain.text("subject")).map(str::to_owned)
}

/// Returns what a consent is for: its purpose, else its object, else its scope (ruling C5).
pub(crate) fn purpose(grain: &Grain) -> Option<String> {
    let said = grain.text("purpose").or_else(|| grain.text("object"));
    said.map(str::to_owned).or_else(|| {
        let scope = grain.field("scope").into_iter().flat_map(Stored::texts);
        let scope: Vec<&str> = scope.collect();
        (!scope.is_empty()).then(|| scope.join(", "))
    })
}

/// Returns the digits of an address as a field or a statement writes it.
pub(crate) fn digits_of(text: &str) -> &str {
    let text = text.strip_prefix("grain://").unwrap_or(text);
    text.strip_prefix("sha256:").unwrap_or(text)
}

//! The content projection: the text and the attributes of a grain, by its type (CAL 10.3.2).

use std::borrow::Cow;

use grainstore::codec::Value as Stored;
use grainstore::query::Found;
use grainstore::render::escaped;
use grainstore::{Grain, Time, Type};

use super::Style;
use crate::run::{Cell, cells, purpose, state_name};
use crate::time::ago;
use crate::vocabulary::Kind;

/// How much of a grain is shown (CAL 14.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Summary,
    #[default]
    Standard,
    Full,
}

impl Level {
    /// Returns the word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    /// Returns the level of a word of WITH progressive_disclosure (ruling C3).
    pub(crate) fn named(word: &str) -> Self {
        match word {
            "summary" => Self::Summary,
            "full" => Self::Full,
            _ => Self::Standard,
        }
    }
}

/// A grain as formatted output shows it; its texts are each one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// The attributes in their order.
    pub(crate) attributes: Vec<(String, Shown)>,
    /// The relation and the object of a belief.
    pub(crate) said: Option<(String, String)>,
}

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    Text(String),
    Number(f64),
    /// A number from 0 to 1.
    Share(f64),
}

impl Item {
    /// Returns the text of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.to_string())
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(n) => write!(f, "{n}"),
            // SML 2.3: at least one digit behind the point.
            Self::Share(n) if n.fract() == 0.0 => write!(f, "{n:.1}"),
            Self::Share(n) => write!(f, "{n}"),
        }
    }
}

/// Returns a grain as formatted output shows it; `None` for one without a text, or of a type that
/// CAL does not have.
pub(crate) fn item(found: &Found, style: Style<'_>) -> Option<Item> {
    let kind = Kind::of(found.grain.type_())?;
    if let Some((content, attributes)) = style.project {
        return projected(found, kind, content, attributes, style);
    }
    let text = one_line(&text_of(&found.grain));
    if text.is_empty() {
        return None;
    }
    let mut attributes = Vec::new();
    for (name, level) in columns(kind) {
        if *level <= style.level
            && let Some(value) = attribute(found, name, style.now)
        {
            attributes.push(((*name).to_owned(), value));
        }
    }
    if style.level == Level::Full {
        for name in ["source", "observed", "importance", "tags", "verification"] {
            if let Some(value) = attribute(found, name, style.now) {
                attributes.push((name.to_owned(), value));
            }
        }
    }
    Some(Item {
        kind,
        text,
        attributes,
        said: said_of(found, kind),
    })
}

/// Returns the relation and the object of a belief.
fn said_of(found: &Found, kind: Kind) -> Option<(String, String)> {
    let relation = found
        .grain
        .text("relation")
        .filter(|_| kind == Kind::Belief)?;
    let object = cells(found, "object");
    let object = object.first().and_then(Cell::as_text)?;
    Some((one_line(&humanised(relation)), one_line(object)))
}

fn projected(
    found: &Found,
    kind: Kind,
    content: &[String],
    attributes: &[String],
    style: Style<'_>,
) -> Option<Item> {
    let parts = content.iter().filter_map(|name| match name.as_str() {
        "relation" => found.grain.text("relation").map(humanised),
        name => attribute(found, name, style.now).map(|value| value.to_string()),
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    let text = match content.is_empty() {
        true => one_line(&text_of(&found.grain)),
        false => one_line(&parts.join(" ")),
    };
    let shown = attributes.iter().filter(|name| !is_internal(name));
    let shown = shown.filter_map(|name| {
        let value = attribute(found, name, style.now)?;
        Some((name.clone(), value))
    });
    let item = Item {
        kind,
        text,
        attributes: shown.collect(),
        said: None,
    };
    (!item.text.is_empty()).then_some(item)
}

/// Whether formatted output leaves a field out (correction W1).
fn is_internal(name: &str) -> bool {
    matches!(name, "hash" | "namespace")
}

/// The attributes of each type, with the level from which they are shown.
pub(crate) fn columns(kind: Kind) -> &'static [(&'static str, Level)] {
    use Level::{Standard, Summary};
    match kind {
        Kind::Belief => &[("subject", Summary), ("confidence", Standard)],
        Kind::Event => &[("role", Summary), ("time", Standard)],
        Kind::Goal => &[
            ("subject", Summary),
            ("state", Standard),
            ("deadline", Standard),
        ],
        Kind::Action => &[("tool", Summary), ("phase", Standard)],
        Kind::Observation => &[("observer", Standard)],
        Kind::Reasoning => &[("type", Standard)],
        Kind::State => &[("context", Standard)],
        Kind::Workflow => &[("trigger", Standard)],
        Kind::Consensus => &[("threshold", Standard), ("count", Standard)],
        Kind::Consent => &[
            ("action", Summary),
            ("grantor", Summary),
            ("grantee", Summary),
        ],
    }
}

/// Returns an attribute by its name in formatted output, or that of a field.
fn attribute(found: &Found, name: &str, now: Time) -> Option<Shown> {
    let grain = &found.grain;
    let text = |text: &str| Some(Shown::Text(one_line(text)));
    let value = match name {
        "hash" | "namespace" => None,
        "time" => text(&ago(grain.event_time(), now)),
        "observed" => text(&ago(grain.created_at(), now)),
        "deadline" | "expires_at" => match cells(found, name).first() {
            // A date is no full time.
            Some(Cell::Time(ms)) => text(&date(*ms)),
            _ => None,
        },
        "state" => first(found, "goal_state"),
        "tool" => first(found, "tool_name"),
        "phase" => phase(grain).and_then(text),
        "observer" => first(found, "observer_id"),
        "type" if grain.type_() == Type::Reasoning => first(found, "reasoning_type"),
        "context" => state_name(grain).as_deref().and_then(text),
        "count" => first(found, "agreement_count"),
        "action" => match grain.field("is_withdrawal").and_then(Stored::as_bool) {
            Some(true) => text("withdrawn"),
            _ => text("granted"),
        },
        "grantor" => first(found, "grantor_did"),
        "grantee" => first(found, "grantee_did"),
        // The last word of `user_explicit`.
        "source" => grain
            .text("source_type")
            .and_then(|source| text(source.rsplit('_').next().unwrap_or(source))),
        "verification" => match found.status.verification {
            grainstore::grain::Verification::Unverified => None,
            status => text(status.name()),
        },
        "tags" => {
            let tags = cells(found, "tags");
            let tags: Vec<&str> = tags.iter().filter_map(Cell::as_text).collect();
            (!tags.is_empty()).then(|| Shown::Text(one_line(&tags.join(","))))
        }
        name => first(found, name),
    };
    value.filter(|value| !matches!(value, Shown::Text(text) if text.is_empty()))
}

fn first(found: &Found, name: &str) -> Option<Shown> {
    Some(match cells(found, name).first()? {
        Cell::Text(text) => Shown::Text(one_line(text)),
        Cell::Number(n) if SHARES.contains(&name) => Shown::Share(*n),
        Cell::Number(n) => Shown::Number(*n),
        Cell::Bool(it) => Shown::Text(it.to_string()),
        Cell::Time(ms) => Shown::Text(date(*ms)),
    })
}

const SHARES: &[&str] = &["confidence", "importance", "score"];

fn phase(grain: &Grain) -> Option<&'static str> {
    if grain.field("is_error").and_then(Stored::as_bool) == Some(true) {
        return Some("error");
    }
    // Ruling C9.
    match grain.text("action_phase") {
        None | Some("result") => Some("completed"),
        Some("call") => Some("pending"),
        Some("definition") => Some("definition"),
        Some(_) => None,
    }
}

/// Returns the text of a grain as natural language, by the fallbacks of ruling C10.
fn text_of(grain: &Grain) -> String {
    let field = |name: &str| match grain.field(name)? {
        Stored::Text(text) => Some(text.clone()),
        Stored::Array(_) | Stored::Map(_) => None,
        other => Some(other.to_json()),
    };
    let json = |name: &str| grain.field(name).map(Stored::to_json);
    let said = match grain.type_() {
        Type::Belief => {
            let relation = grain.text("relation").map(humanised);
            let object = field("object").or_else(|| json("object"));
            let parts = [relation, object].into_iter().flatten();
            Some(parts.collect::<Vec<String>>().join(" ")).filter(|text| !text.is_empty())
        }
        Type::Event => grain.message_text().map(Cow::into_owned),
        Type::Goal => field("object").or_else(|| field("description")),
        Type::Action => ["object", "content"]
            .into_iter()
            .find_map(field)
            .or_else(|| json("content"))
            .or_else(|| ["error", "stdout"].into_iter().find_map(field)),
        Type::Observation => field("object").or_else(|| field("content")),
        Type::Reasoning => field("conclusion").or_else(|| field("thinking_content")),
        Type::State => joined(grain, "plan").or_else(|| state_name(grain)),
        Type::Workflow => numbered(grain),
        Type::Consensus => field("object").or_else(|| field("agreed_content")),
        Type::Consent => purpose(grain),
        Type::Opaque(_) => None,
    };
    let said = said.filter(|text| !text.trim().is_empty());
    said.unwrap_or_else(|| grain.sentence())
}

fn joined(grain: &Grain, name: &str) -> Option<String> {
    let texts: Vec<&str> = grain.field(name)?.texts().collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Returns the steps of a workflow: `1. a  2. b`.
fn numbered(grain: &Grain) -> Option<String> {
    let steps = grain.field("steps")?.texts().enumerate();
    let steps: Vec<String> = steps
        .map(|(n, step)| format!("{}. {}", n + 1, one_line(step)))
        .collect();
    (!steps.is_empty()).then(|| steps.join("  "))
}

/// Returns a relation as words: without its namespace (CAL 10.1).
pub(crate) fn humanised(relation: &str) -> String {
    let name = relation.rsplit_once(':').map_or(relation, |(_, name)| name);
    name.replace('_', " ")
}

fn date(ms: i64) -> String {
    let time = Time::from_ms(ms).to_string();
    time.split_once('T')
        .map_or(time.clone(), |(date, _)| date.to_owned())
}

/// Returns a text in one line, with what is not seen of it as escapes: stored text can end no line,
/// and hide nothing from a person that a model reads.
pub(crate) fn one_line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let parts: Vec<&str> = text
        .split(is_break)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    escaped(&parts.join(" ")).into_owned()
}

//! The rules of OMI-AI: the schemas, the prose, and the level that makes each an error.

use crate::code::ErrorCode;
use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::formats::shape::Rule::{
    self, Filled, Is, Items, Object, OneOf, Text, Unit,
};
use crate::interchange::formats::shape::{Member, Shape, nullable, optional, required};
use crate::interchange::model::rfc3339::parse_rfc3339;
use crate::interchange::{Error, Place};

use self::Weight::{Prose, Schema};
use super::code;

/// The name of the format, as each envelope gives it.
pub(super) const FORMAT: &str = "open-memory-interchange";

/// The conformance level of a file (OMI 3.1).
///
/// ```
/// use grainstore::interchange::omi::Level;
///
/// assert_eq!(Level::named("L1"), Some(Level::L1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Core, as the schema of Appendix B.1 has it.
    L0,
    /// Interchange: types, unique ids, effective subjects.
    L1,
}

impl Level {
    /// Returns the level of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "L0" => Some(Self::L0),
            "L1" => Some(Self::L1),
            _ => None,
        }
    }
}

/// A rule of a member: the error of its violation, and how a level takes that.
type Ruled = (Member, ErrorCode, Weight);

/// How a level takes a violation.
#[derive(Clone, Copy)]
enum Weight {
    /// An error at every level.
    Prose,
    /// An error of the schemas, which the prose allows.
    Schema,
}

/// The envelope (OMI 5.2), but for its records.
static ENVELOPE: [Ruled; 7] = [
    (required("format", OneOf(&[FORMAT])), code::FORMAT, Prose),
    (
        required("version", Is("a version 0.x", is_known_version)),
        code::VERSION,
        Prose,
    ),
    (optional("generated_at", MOMENT), code::GENERATED_AT, Prose),
    (optional("generator", Text), code::GENERATOR, Schema),
    (optional("id_namespace", Filled), code::ID_NAMESPACE, Schema),
    (optional("ext", Object(&ANY)), code::ENVELOPE_EXT, Schema),
    (optional("subject", Object(&ANY)), code::SUBJECT, Schema),
];

/// A record (OMI 6.2).
static RECORD: [Ruled; 15] = [
    (required("id", Filled), code::ID, Prose),
    (required("content", Text), code::CONTENT, Prose),
    (required("created", MOMENT), code::CREATED, Prose),
    (optional("updated", MOMENT), code::UPDATED, Prose),
    (optional("valid_from", BOUNDARY), code::VALID_FROM, Prose),
    (nullable("valid_to", BOUNDARY), code::VALID_TO, Prose),
    (optional("type", Text), code::TYPE, Schema),
    (optional("subject", Object(&ANY)), code::SUBJECT, Schema),
    (optional("confidence", Unit), code::CONFIDENCE, Schema),
    (
        optional("lang", Is("a language tag of BCP 47", is_language)),
        code::LANG,
        Schema,
    ),
    (optional("tags", Items(&Text, 0)), code::TAGS, Schema),
    (optional("source", Object(&SOURCE)), code::SOURCE, Schema),
    (
        optional("entities", Items(&Object(&ENTITY), 0)),
        code::ENTITIES,
        Schema,
    ),
    (
        optional("relations", Items(&Object(&RELATION), 0)),
        code::RELATIONS,
        Schema,
    ),
    (optional("ext", Object(&ANY)), code::EXT, Schema),
];

static SUBJECT: [Ruled; 3] = [
    (required("id", Filled), code::SUBJECT_ID, Schema),
    (optional("type", Filled), code::SUBJECT, Schema),
    (optional("label", Text), code::SUBJECT, Schema),
];

static SOURCE: Shape = open(&[
    optional("platform", Text),
    optional("ref", Text),
    optional("method", Text),
]);

static ENTITY: Shape = open(&[
    required("id", Filled),
    optional("label", Text),
    optional("type", Text),
]);

static RELATION: Shape = open(&[
    required("type", Filled),
    required("target", Filled),
    optional("label", Text),
]);

static ANY: Shape = open(&[]);

const MOMENT: Rule = Is("an RFC 3339 date and time with an offset", |text| {
    time(text).is_some()
});
const BOUNDARY: Rule = Is(
    "an RFC 3339 date, or a date and time with an offset",
    |text| time(text).is_some() || is_day(text),
);

const fn open(members: &'static [Member]) -> Shape {
    Shape {
        members,
        is_open: true,
    }
}

/// Collects the violations of a document at a level.
pub(super) struct Validator {
    /// `None`: as an import reads, which is L0 by the prose of section 15.2 (the schema of that
    /// level asks for more, so the text contradicts itself).
    pub(super) level: Option<Level>,
    pub(super) faults: Vec<Error>,
    pub(super) findings: Vec<(Place, String)>,
}

impl Validator {
    pub(super) const fn new(level: Option<Level>) -> Self {
        Self {
            level,
            faults: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Notes a violation at L1 alone.
    pub(super) fn interchange(&mut self, code: ErrorCode, at: &Place, message: &str) {
        if self.level == Some(Level::L1) {
            self.faults.push(fault(code, at, "", message));
        }
    }

    pub(super) fn envelope(&mut self, map: &Map) {
        self.object(&ENVELOPE, map, &Place::File);
    }

    pub(super) fn record(&mut self, map: &Map, at: &Place, has_default_subject: bool) {
        self.object(&RECORD, map, at);
        if !map.contains("type") {
            self.interchange(code::TYPE, at, "type is missing");
        }
        if !has_default_subject && !map.contains("subject") {
            let message = "neither the record nor the envelope has a subject";
            self.interchange(code::EFFECTIVE_SUBJECT, at, message);
        }
    }

    /// Validates the members of an object, and of the subject in it.
    fn object(&mut self, rules: &[Ruled], map: &Map, place: &Place) {
        self.members(rules, map, "", place);
        if let Some(Value::Map(subject)) = map.get("subject") {
            self.members(&SUBJECT, subject, "/subject", place);
        }
    }

    fn members(&mut self, rules: &[Ruled], map: &Map, within: &str, place: &Place) {
        for (member, code, weight) in rules {
            member.validate(map, within, &mut |at, message| {
                let name = at.strip_prefix('/').unwrap_or(&at);
                let error = fault(*code, place, name, &message);
                match (weight, self.level) {
                    (Schema, None) => {
                        let finding = format!("{code}: {message}");
                        self.findings.push((error.place().clone(), finding));
                    }
                    _ => self.faults.push(error),
                }
            });
        }
    }
}

/// Returns the time of a member that is one.
pub(super) fn moment(value: &Value) -> Option<Time> {
    time(value.as_text()?)
}

/// Returns a time in the form of the schema's pattern: capital T and Z.
fn time(text: &str) -> Option<Time> {
    if text.contains(['t', 'z']) {
        return None;
    }
    parse_rfc3339(text).ok()
}

/// Returns a date without a time, which is not its midnight (OMI 4.3).
pub(super) fn day(value: &Value) -> Option<&str> {
    value.as_text().filter(|text| is_day(text))
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && parse_rfc3339(&format!("{text}T00:00:00Z")).is_ok()
}

pub(super) fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    (2..=8).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// The one major version; later minor versions add members that may be ignored.
fn is_known_version(version: &str) -> bool {
    let minor = version.strip_prefix("0.").unwrap_or_default();
    !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn fault(code: ErrorCode, at: &Place, name: &str, message: &str) -> Error {
    let (place, message) = match (at, name) {
        (at, "") => (at.clone(), message.to_owned()),
        (Place::File, name) => (Place::Pointer(format!("/{name}")), message.to_owned()),
        (Place::Pointer(at), name) => (Place::Pointer(format!("{at}/{name}")), message.to_owned()),
        (place, name) => (place.clone(), format!("{name} {message}")),
    };
    Error::format(code, place, message)
}

//! The rules of OMI-AI: the schemas, the prose, and the level that makes each an error.

use crate::code::ErrorCode;
use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::model::rfc3339::parse_rfc3339;
use crate::interchange::{Error, Place};

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

    /// Notes a violation at every level.
    pub(super) fn must(&mut self, code: ErrorCode, at: &Place, name: &str, message: &str) {
        self.faults.push(fault(code, at, name, message));
    }

    /// Notes a violation of the schemas that the prose allows.
    pub(super) fn schema(&mut self, code: ErrorCode, at: &Place, name: &str, message: &str) {
        let error = fault(code, at, name, message);
        match self.level {
            Some(_) => self.faults.push(error),
            None => self
                .findings
                .push((error.place().clone(), format!("{code}: {message}"))),
        }
    }

    /// Notes a violation at L1 alone.
    pub(super) fn interchange(&mut self, code: ErrorCode, at: &Place, message: &str) {
        if self.level == Some(Level::L1) {
            self.faults.push(fault(code, at, "", message));
        }
    }

    /// Validates the envelope (OMI 5.2), but for its records.
    pub(super) fn envelope(&mut self, map: &Map) {
        let at = &Place::File;
        if map.get("format").and_then(Value::as_text) != Some(FORMAT) {
            self.must(
                code::FORMAT,
                at,
                "format",
                "is not \"open-memory-interchange\"",
            );
        }
        if !map
            .get("version")
            .and_then(Value::as_text)
            .is_some_and(is_known_version)
        {
            self.must(code::VERSION, at, "version", "is not a version 0.x");
        }
        self.moment(map, at, "generated_at", code::GENERATED_AT);
        if map
            .get("generator")
            .is_some_and(|it| it.as_text().is_none())
        {
            self.schema(code::GENERATOR, at, "generator", "must be a string");
        }
        let namespace = map.get("id_namespace").map(Value::as_text);
        if namespace.is_some_and(|it| it.is_none_or(str::is_empty)) {
            let message = "must be a string that is not empty";
            self.schema(code::ID_NAMESPACE, at, "id_namespace", message);
        }
        self.ext(map, at, code::ENVELOPE_EXT);
        self.subject(map, at);
    }

    /// Validates a record (OMI 6.2).
    pub(super) fn record(&mut self, map: &Map, at: &Place, has_default_subject: bool) {
        if map
            .get("id")
            .and_then(Value::as_text)
            .is_none_or(str::is_empty)
        {
            self.must(code::ID, at, "id", "must be a string that is not empty");
        }
        if map.get("content").and_then(Value::as_text).is_none() {
            self.must(code::CONTENT, at, "content", "must be a string");
        }
        if !map.contains("created") {
            self.must(code::CREATED, at, "created", "is missing");
        }
        self.moment(map, at, "created", code::CREATED);
        self.moment(map, at, "updated", code::UPDATED);
        for (name, code) in [
            ("valid_from", code::VALID_FROM),
            ("valid_to", code::VALID_TO),
        ] {
            self.boundary(map, at, name, code);
        }
        match map.get("type") {
            None => self.interchange(code::TYPE, at, "type is missing"),
            Some(Value::Text(_)) => {}
            Some(_) => self.schema(code::TYPE, at, "type", "must be a string"),
        }
        if !has_default_subject && !map.contains("subject") {
            let message = "neither the record nor the envelope has a subject";
            self.interchange(code::EFFECTIVE_SUBJECT, at, message);
        }
        self.subject(map, at);
        self.described(map, at);
        self.ext(map, at, code::EXT);
    }

    /// Validates the members that only the schema describes at L0.
    fn described(&mut self, map: &Map, at: &Place) {
        if map.get("confidence").is_some_and(|it| unit(it).is_none()) {
            let message = "must be a number from 0 to 1";
            self.schema(code::CONFIDENCE, at, "confidence", message);
        }
        let lang = map.get("lang").map(Value::as_text);
        if lang.is_some_and(|lang| !lang.is_some_and(is_language)) {
            self.schema(code::LANG, at, "lang", "must be a language tag of BCP 47");
        }
        let are_texts = |items: &[Value]| items.iter().all(|item| item.as_text().is_some());
        if map
            .get("tags")
            .is_some_and(|it| !it.as_array().is_some_and(are_texts))
        {
            self.schema(code::TAGS, at, "tags", "must be an array of strings");
        }
        if map.get("source").is_some_and(|it| !is_source(it)) {
            let message = "must be an object whose platform, ref and method are strings";
            self.schema(code::SOURCE, at, "source", message);
        }
        let entities = [("id", true), ("label", false), ("type", false)];
        if map
            .get("entities")
            .is_some_and(|it| !are_objects(it, &entities, 1))
        {
            let message = "must be an array of objects with an id";
            self.schema(code::ENTITIES, at, "entities", message);
        }
        let relations = [("type", true), ("target", true), ("label", false)];
        if map
            .get("relations")
            .is_some_and(|it| !are_objects(it, &relations, 1))
        {
            let message = "must be an array of objects with a type and a target";
            self.schema(code::RELATIONS, at, "relations", message);
        }
    }

    fn subject(&mut self, map: &Map, at: &Place) {
        match map.get("subject") {
            None => {}
            Some(Value::Map(subject)) => {
                if subject
                    .get("id")
                    .and_then(Value::as_text)
                    .is_none_or(str::is_empty)
                {
                    let message = "must be a string that is not empty";
                    self.schema(code::SUBJECT_ID, at, "subject/id", message);
                }
                let kind = subject.get("type").map(Value::as_text);
                let label = subject.get("label").map(Value::as_text);
                if kind.is_some_and(|kind| kind.is_none_or(str::is_empty)) || label == Some(None) {
                    self.schema(
                        code::SUBJECT,
                        at,
                        "subject",
                        "type and label must be strings",
                    );
                }
            }
            Some(_) => self.schema(code::SUBJECT, at, "subject", "must be an object"),
        }
    }

    fn ext(&mut self, map: &Map, at: &Place, code: ErrorCode) {
        if map.get("ext").is_some_and(|ext| ext.as_map().is_none()) {
            self.schema(code, at, "ext", "must be an object");
        }
    }

    fn moment(&mut self, map: &Map, at: &Place, name: &str, code: ErrorCode) {
        if map.get(name).is_some_and(|it| moment(it).is_none()) {
            let message = "must be an RFC 3339 date and time with an offset";
            self.must(code, at, name, message);
        }
    }

    fn boundary(&mut self, map: &Map, at: &Place, name: &str, code: ErrorCode) {
        let fits = match map.get(name) {
            None => true,
            Some(Value::Nil) => name == "valid_to",
            Some(value) => moment(value).is_some() || day(value).is_some(),
        };
        if !fits {
            let message = "must be an RFC 3339 date, or a date and time with an offset";
            self.must(code, at, name, message);
        }
    }
}

/// Returns a time in the form of the schema's pattern: capital T and Z.
pub(super) fn moment(value: &Value) -> Option<Time> {
    let text = value.as_text()?;
    if text.contains(['t', 'z']) {
        return None;
    }
    parse_rfc3339(text).ok()
}

/// Returns a date without a time, which is not its midnight (OMI 4.3).
pub(super) fn day(value: &Value) -> Option<&str> {
    let text = value.as_text()?;
    let is_day = text.len() == 10 && parse_rfc3339(&format!("{text}T00:00:00Z")).is_ok();
    is_day.then_some(text)
}

pub(super) fn unit(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Float(float) => *float,
        Value::Int(int) => int.to_f64(),
        _ => return None,
    };
    (0.0..=1.0).contains(&number).then_some(number)
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

fn is_source(value: &Value) -> bool {
    let is_text = |name: &&str| {
        let member = value.as_map().and_then(|map| map.get(name));
        member.is_none_or(|member| member.as_text().is_some())
    };
    value.as_map().is_some() && ["platform", "ref", "method"].iter().all(is_text)
}

fn are_objects(value: &Value, members: &[(&str, bool)], len_min: usize) -> bool {
    let fits = |item: &Value| {
        item.as_map().is_some_and(|map| {
            members
                .iter()
                .all(|(name, is_required)| match map.get(name) {
                    None => !is_required,
                    Some(Value::Text(text)) => !is_required || text.len() >= len_min,
                    Some(_) => false,
                })
        })
    };
    value.as_array().is_some_and(|items| items.iter().all(fits))
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

//! Writing what other memory stores import: the graph of the reference MCP server, memories of Mem0, and rows
//! of a LangGraph store. They have facts, and neither history nor conversations.

use std::io::Write;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{ENVELOPE_TAG, Grain, Type};
use crate::interchange::export::{Entry, count_lost};
use crate::interchange::model::embedded_grain::summary_text;
use crate::interchange::model::rfc3339::to_rfc3339;
use crate::interchange::{Entries, Error, Format, Loss, Place, Written, each, surveyed};

/// Writes the current facts of a store in a format of these.
///
/// # Errors
/// `ERR_IO`; those of the entries.
pub(crate) fn write<E: Entries + ?Sized>(
    format: Format,
    out: &mut impl Write,
    entries: &E,
) -> Result<Written, E::Error> {
    match format {
        Format::McpMemory => graph(out, entries),
        Format::Mem0 => list(out, entries),
        _ => rows(out, entries),
    }
}

/// A fact as these formats have it.
struct Fact {
    address: ContentAddress,
    subject: String,
    relation: String,
    object: String,
    /// All of it in words.
    text: String,
    user: Option<String>,
    session: Option<String>,
    created: Value,
    tags: Vec<String>,
    loss: Loss,
}

impl Fact {
    /// Returns the fact of a current belief; what another grain is, or has beside it, is counted.
    fn of((grain, status): &Entry, loss: &mut Loss) -> Option<Self> {
        if tags(grain).iter().any(|tag| tag == ENVELOPE_TAG) {
            // It is about a file.
            return None;
        }
        if !status.is_current() {
            loss.count("superseded");
            return None;
        }
        let text = |name: &str| grain.text(name);
        let (Some(subject), Some(relation), Some(value), Type::Belief) = (
            text("subject"),
            text("relation"),
            grain.field("object"),
            grain.type_(),
        ) else {
            loss.count(grain.type_().name().unwrap_or("grain"));
            return None;
        };
        let object = value
            .as_text()
            .map_or_else(|| value.to_json(), str::to_owned);
        let mut fact = Self {
            address: grain.address(),
            subject: subject.strip_prefix(OWNER).unwrap_or(subject).to_owned(),
            relation: relation.to_owned(),
            text: match relation {
                IN_WORDS => object.clone(),
                _ => summary_text(grain),
            },
            object,
            user: text("user_id").map(str::to_owned),
            session: text("session_id").map(str::to_owned),
            created: to_rfc3339(grain.created_at()).map_or(Value::Nil, Value::from),
            tags: tags(grain),
            loss: Loss::default(),
        };
        count_lost(grain, SAID, &mut fact.loss);
        Some(fact)
    }

    /// Returns the observation about its subject that it is.
    fn observation(&self) -> String {
        match self.relation.as_str() {
            NOTE | IN_WORDS => self.object.clone(),
            relation => format!("{} {}", relation.replace('_', " "), self.object),
        }
    }
}

pub(super) fn tags(grain: &Grain) -> Vec<String> {
    let tags = grain.field("structural_tags").into_iter();
    tags.flat_map(Value::texts).map(str::to_owned).collect()
}

/// Writes `{"results": [...]}`, as `get_all` of Mem0 returns it.
fn list<E: Entries + ?Sized>(out: &mut impl Write, entries: &E) -> Result<Written, E::Error> {
    put(out, "{\"results\":[")?;
    let mut is_first = true;
    let written = facts(entries, |fact| {
        let members = [
            ("id", Value::from(fact.address.to_string())),
            ("memory", fact.text.as_str().into()),
            (
                "user_id",
                fact.user.as_deref().map_or(Value::Nil, Value::from),
            ),
            (
                "run_id",
                fact.session.as_deref().map_or(Value::Nil, Value::from),
            ),
            ("created_at", fact.created.clone()),
            ("updated_at", Value::Nil),
            (
                "categories",
                fact.tags
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .into(),
            ),
            ("metadata", metadata(&fact)),
        ];
        let comma = if is_first { "\n" } else { ",\n" };
        is_first = false;
        put(out, comma)?;
        put(out, &Value::Map(members.into_iter().collect()).to_json())
    })?;
    put(out, "\n]}\n")?;
    Ok(written)
}

/// The parts of a statement, of which the text is a sentence.
fn metadata(fact: &Fact) -> Value {
    let mut map = Map::new();
    if fact.relation != IN_WORDS {
        map.insert("subject", fact.subject.as_str());
        map.insert("relation", fact.relation.as_str());
        map.insert("object", fact.object.as_str());
    }
    Value::Map(map)
}

/// Writes a row a line, with the values that LangMem has.
fn rows<E: Entries + ?Sized>(out: &mut impl Write, entries: &E) -> Result<Written, E::Error> {
    facts(entries, |fact| {
        let content: Map = match fact.relation.as_str() {
            IN_WORDS => [("content", fact.text.as_str())].into_iter().collect(),
            relation => [
                ("subject", fact.subject.as_str()),
                ("predicate", relation),
                ("object", fact.object.as_str()),
                ("context", fact.text.as_str()),
            ]
            .into_iter()
            .collect(),
        };
        let kind = if fact.relation == IN_WORDS {
            "Memory"
        } else {
            "Triple"
        };
        let value = [
            ("kind", Value::from(kind)),
            ("content", Value::Map(content)),
        ];
        let user = fact.user.as_deref().unwrap_or("local");
        let members = [
            // A point parts the labels of a namespace.
            (
                "prefix",
                Value::from(format!("memories.{}", user.replace('.', "_"))),
            ),
            ("key", fact.address.to_string().into()),
            ("value", Value::Map(value.into_iter().collect())),
            ("created_at", fact.created.clone()),
            ("updated_at", fact.created.clone()),
        ];
        put(out, &Value::Map(members.into_iter().collect()).to_json())?;
        put(out, "\n")
    })
}

/// Writes each fact, and counts those that are written and what is lost of them.
fn facts<E: Entries + ?Sized>(
    entries: &E,
    mut write: impl FnMut(Fact) -> Result<(), Error>,
) -> Result<Written, E::Error> {
    let mut written = Written::default();
    let make = |_, entry: Entry| {
        let mut loss = Loss::default();
        let fact = Fact::of(&entry, &mut loss);
        Ok((fact, loss))
    };
    each(entries, 0..entries.count(), make, |(fact, lost)| {
        written.loss.merge(&lost);
        if let Some(fact) = fact {
            written.loss.merge(&fact.loss);
            written.records = written.records.saturating_add(1);
            write(fact)?;
        }
        Ok::<(), E::Error>(())
    })?;
    Ok(written)
}

/// Writes an entity for each subject with what is said of it, and relations between those.
fn graph<E: Entries + ?Sized>(out: &mut impl Write, entries: &E) -> Result<Written, E::Error> {
    let subjects = surveyed(entries, || {
        let mut subjects = Vec::new();
        let make = |number, entry: Entry| {
            let fact = Fact::of(&entry, &mut Loss::default());
            Ok(fact.map(|fact| (key(&fact.subject), number)))
        };
        each(entries, 0..entries.count(), make, |subject| {
            subjects.extend(subject);
            Ok::<(), E::Error>(())
        })?;
        subjects.sort_unstable();
        Ok(subjects)
    })?;
    let mut written = Written::default();
    // Other grains than facts are counted once, here.
    let make = |_, entry: Entry| {
        let mut loss = Loss::default();
        let fact = Fact::of(&entry, &mut loss);
        // The graph has no times, persons and conversations.
        if let Some(fact) = fact {
            loss.merge(&fact.loss);
            fact.session.iter().for_each(|_| loss.count("session_id"));
            fact.tags.iter().for_each(|_| loss.count("structural_tags"));
            loss.count("created_at");
        }
        Ok(loss)
    };
    each(entries, 0..entries.count(), make, |loss| {
        written.loss.merge(&loss);
        Ok::<(), E::Error>(())
    })?;
    for group in subjects.chunk_by(|(one, _), (other, _)| one == other) {
        let count = entity(out, entries, (&subjects, group), &mut written.loss)?;
        written.records = written.records.saturating_add(count);
    }
    Ok(written)
}

type Subjects = [([u8; 32], u32)];

fn key(subject: &str) -> [u8; 32] {
    *ContentAddress::of(subject.as_bytes()).as_bytes()
}

/// Writes what is said of one subject; returns the number of facts.
fn entity<E: Entries + ?Sized>(
    out: &mut impl Write,
    entries: &E,
    (subjects, group): (&Subjects, &Subjects),
    loss: &mut Loss,
) -> Result<u64, E::Error> {
    let is_subject = |name: &str| {
        subjects
            .binary_search_by(|(it, _)| it.cmp(&key(name)))
            .is_ok()
    };
    let make = |_, entry: Entry| Ok(Fact::of(&entry, &mut Loss::default()));
    let numbers = || group.iter().map(|(_, number)| *number);
    let (mut name, mut kind, mut count, mut lost) = (String::new(), None, 0_u64, 0_u64);
    each(entries, numbers(), make, |fact| {
        let Some(fact) = fact else { return Ok(()) };
        count = count.saturating_add(1);
        if fact.relation == KIND && kind.is_none() {
            kind = Some(fact.object);
        } else if !is_subject(&fact.object) || fact.relation == NOTE {
            if name.is_empty() {
                put(out, "{\"observations\":[")?;
            } else {
                put(out, ",")?;
            }
            fact.subject.clone_into(&mut name);
            put(out, &Value::from(fact.observation()).to_json())?;
        }
        Ok::<(), E::Error>(())
    })?;
    let mut relations = Vec::new();
    each(entries, numbers(), make, |fact| {
        let Some(fact) = fact else { return Ok(()) };
        if name.is_empty() {
            put(out, "{\"observations\":[")?;
            fact.subject.clone_into(&mut name);
        }
        let is_relation =
            is_subject(&fact.object) && ![NOTE, KIND].contains(&fact.relation.as_str());
        if is_relation && relations.len() >= RELATIONS_MAX {
            lost = lost.saturating_add(1);
        } else if is_relation {
            let members = [
                ("type", "relation"),
                ("from", &fact.subject),
                ("to", &fact.object),
                ("relationType", &fact.relation),
            ];
            let members = members.map(|(name, text)| (name, Value::from(text)));
            relations.push(Value::Map(members.into_iter().collect()).to_json());
        }
        Ok::<(), E::Error>(())
    })?;
    if name.is_empty() {
        // All of it was erased meanwhile.
        return Ok(0);
    }
    close(out, &name, kind.as_deref(), &relations)?;
    (0..lost).for_each(|_| loss.count("relation"));
    Ok(count.saturating_sub(lost))
}

/// Ends the line of an entity, and writes its relations.
fn close(
    out: &mut impl Write,
    name: &str,
    kind: Option<&str>,
    relations: &[String],
) -> Result<(), Error> {
    let members = [
        ("type", Value::from("entity")),
        ("name", name.into()),
        ("entityType", kind.unwrap_or("entity").into()),
    ];
    let members = Value::Map(members.into_iter().collect()).to_json();
    put(out, "],")?;
    put(out, members.strip_prefix('{').unwrap_or(&members))?;
    put(out, "\n")?;
    for relation in relations {
        put(out, relation)?;
        put(out, "\n")?;
    }
    Ok(())
}

pub(super) fn put(out: &mut impl Write, text: &str) -> Result<(), Error> {
    out.write_all(text.as_bytes()).map_err(|source| Error::Io {
        place: Place::File,
        source,
    })
}

/// The subject of a fact about a user, before the name; the relation of a fact in words.
pub(super) const OWNER: &str = "pam:owner:";
pub(super) const IN_WORDS: &str = "pam:fact";
pub(super) const NOTE: &str = "note";
pub(super) const KIND: &str = "is_a";

/// The fields that these formats have a place for.
const SAID: &[&str] = &[
    "subject",
    "relation",
    "object",
    "user_id",
    "session_id",
    "structural_tags",
    "embedding_text",
];

/// More relations of one entity are not held in memory.
const RELATIONS_MAX: usize = 100_000;

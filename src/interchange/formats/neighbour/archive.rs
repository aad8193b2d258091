//! Writing an archive of Cognee (COGX 0.1): a file of JSON lines for each kind of record.
//!
//! A statement is a fact, a fact in words a memory, the type of a thing its entity, the turns of a session an
//! episode, and another text a document. A subject is named by its name, which is the id of its entity too.

use std::collections::BTreeMap;
use std::io::Write;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{ENVELOPE_TAG, Grain, Time, Type};
use crate::interchange::export::{Entry, Files, count_lost};
use crate::interchange::model::rfc3339::to_rfc3339;
use crate::interchange::{Entries, Loss, Written, each, surveyed};

use super::write::{IN_WORDS, KIND, NOTE, OWNER, put, tags};

/// Writes the current grains of a store as an archive.
///
/// # Errors
/// `ERR_IO`; those of the entries.
pub(crate) fn write_archive<E: Entries + ?Sized>(
    files: &mut impl Files<E::Error>,
    entries: &E,
    now: Option<Time>,
) -> Result<Written, E::Error> {
    let survey = surveyed(entries, || survey(entries))?;
    // Also those without records: an older archive in the folder has none left.
    for kind in KINDS {
        files.write(kind.file(), &mut |mut out| match kind {
            Kind::Episode => episodes(&mut out, entries, &survey.turns),
            kind => lines(&mut out, entries, kind),
        })?;
    }
    let manifest = manifest(&survey, now).to_json();
    files.write("manifest.json", &mut |mut out| {
        put(&mut out, &manifest)?;
        put(&mut out, "\n")?;
        Ok(())
    })?;
    Ok(Written {
        records: survey.counts.values().sum(),
        loss: survey.loss,
    })
}

/// The kinds of records that are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Document,
    Entity,
    Episode,
    Fact,
    Memory,
}

const KINDS: [Kind; 5] = [
    Kind::Document,
    Kind::Entity,
    Kind::Episode,
    Kind::Fact,
    Kind::Memory,
];

impl Kind {
    /// Returns the kind of a current grain; `None` for one that no record says.
    fn of(grain: &Grain) -> Option<Self> {
        if tags(grain).iter().any(|tag| tag == ENVELOPE_TAG) {
            return None;
        }
        let has = |name: &str| grain.text(name).is_some_and(|text| !text.is_empty());
        match grain.type_() {
            Type::Belief if !(has("subject") && has("relation")) => None,
            Type::Belief => Some(match grain.text("relation") {
                Some(IN_WORDS) => Self::Memory,
                Some(KIND) if has("object") => Self::Entity,
                _ => Self::Fact,
            }),
            Type::Event => {
                grain.message_text().filter(|text| !text.is_empty())?;
                let is_turn = has("session_id") && has("role");
                Some(if is_turn {
                    Self::Episode
                } else {
                    Self::Document
                })
            }
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Entity => "entity",
            Self::Episode => "episode",
            Self::Fact => "fact",
            Self::Memory => "memory",
        }
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Document => "documents.jsonl",
            Self::Entity => "entities.jsonl",
            Self::Episode => "episodes.jsonl",
            Self::Fact => "facts.jsonl",
            Self::Memory => "memories.jsonl",
        }
    }
}

/// The records that the grains come to.
#[derive(Default)]
struct Survey {
    counts: BTreeMap<Kind, u64>,
    /// The turns: a hash of the session of each and its number, sorted.
    turns: Vec<([u8; 32], u32)>,
    loss: Loss,
}

fn survey<E: Entries + ?Sized>(entries: &E) -> Result<Survey, E::Error> {
    let mut survey = Survey::default();
    let make = |number, (grain, status): Entry| {
        let mut loss = Loss::default();
        let kind = match Kind::of(&grain) {
            Some(_) if !status.is_current() => {
                loss.count("superseded");
                None
            }
            Some(kind) => {
                lost(&grain, kind, &mut loss);
                Some((kind, session_key(&grain), number))
            }
            None if tags(&grain).iter().any(|tag| tag == ENVELOPE_TAG) => None,
            None => {
                loss.count(&grain.type_().to_string());
                None
            }
        };
        Ok((kind, loss))
    };
    each(entries, 0..entries.count(), make, |(kind, loss)| {
        survey.loss.merge(&loss);
        if let Some((kind, session, number)) = kind {
            let count = survey.counts.entry(kind).or_default();
            *count = count.saturating_add(1);
            if kind == Kind::Episode {
                survey.turns.push((session, number));
            }
        }
        Ok::<(), E::Error>(())
    })?;
    survey.turns.sort_unstable();
    if let Some(count) = survey.counts.get_mut(&Kind::Episode) {
        let sessions = survey.turns.chunk_by(|(one, _), (other, _)| one == other);
        *count = u64::try_from(sessions.count()).unwrap_or(u64::MAX);
    }
    Ok(survey)
}

/// Counts what a record does not say of its grain.
fn lost(grain: &Grain, kind: Kind, loss: &mut Loss) {
    let common = ["user_id", "session_id", "structural_tags", "derived_from"];
    let said: &[&str] = match kind {
        Kind::Document => &["content"],
        // The turns of an episode are in their order.
        Kind::Episode => &["content", "role", "parent_message_id"],
        Kind::Entity => &["subject", "relation", "object"],
        Kind::Memory => &["subject", "relation", "object", "confidence"],
        Kind::Fact => &[
            "subject",
            "relation",
            "object",
            "confidence",
            "embedding_text",
            "valid_from",
            "valid_to",
        ],
    };
    let blocks = grain.field("content_blocks").and_then(Value::as_array);
    let is_text = |block: &Value| {
        let kind = block.as_map().and_then(|block| block.get("type"));
        kind.and_then(Value::as_text) == Some("text")
    };
    let has_only_text = blocks.is_some_and(|blocks| blocks.iter().all(is_text));
    let blocks = has_only_text.then_some("content_blocks");
    let said: Vec<_> = said.iter().chain(&common).copied().chain(blocks).collect();
    count_lost(grain, &said, loss);
}

fn session_key(grain: &Grain) -> [u8; 32] {
    let of = |name: &str| grain.text(name).unwrap_or_default();
    let named = Value::from(vec![of("user_id"), of("session_id")]).to_json();
    *ContentAddress::of(named.as_bytes()).as_bytes()
}

/// Writes the records of one kind that are a grain each.
fn lines<E: Entries + ?Sized>(
    out: &mut impl Write,
    entries: &E,
    kind: Kind,
) -> Result<(), E::Error> {
    let make = |_, (grain, status): Entry| {
        let is_of_it = status.is_current() && Kind::of(&grain) == Some(kind);
        Ok(is_of_it.then(|| Value::Map(record(&grain, kind)).to_json()))
    };
    each(entries, 0..entries.count(), make, |line| {
        if let Some(line) = line {
            put(out, &line)?;
            put(out, "\n")?;
        }
        Ok::<(), E::Error>(())
    })
}

fn record(grain: &Grain, kind: Kind) -> Map {
    let text = |name: &str| grain.text(name).unwrap_or_default();
    let subject = text("subject");
    let subject = subject.strip_prefix(OWNER).unwrap_or(subject);
    let object = grain.field("object").map(|value| match value.as_text() {
        Some(text) => text.to_owned(),
        None => value.to_json(),
    });
    let object = object.unwrap_or_default();
    let mut map = common(grain, kind, &grain.address().to_string());
    let tags = tags(grain);
    match kind {
        Kind::Document => {
            map.insert(
                "content",
                grain.message_text().unwrap_or_default().into_owned(),
            );
        }
        Kind::Entity => {
            map.insert("external_id", subject);
            map.insert("name", subject);
            map.insert("entity_type", object);
        }
        Kind::Memory => {
            map.insert("content", object);
            map.insert("categories", tags.clone());
        }
        Kind::Fact | Kind::Episode => {
            map.insert("subject_ref", subject);
            map.insert("predicate", text("relation"));
            let said = match (grain.text("embedding_text"), text("relation")) {
                (Some(said), _) => said.to_owned(),
                (None, NOTE) => object.clone(),
                (None, _) => grain.sentence(),
            };
            map.insert("fact_text", said);
            map.insert("object_ref", object);
            for (name, field) in [("valid_at", "valid_from"), ("invalid_at", "valid_to")] {
                let time = grain.field(field).and_then(Value::as_i64);
                if let Some(time) = time.and_then(|ms| to_rfc3339(Time::from_ms(ms))) {
                    map.insert(name, time);
                }
            }
            if let Some(confidence) = grain.field("confidence") {
                map.insert("confidence", confidence.clone());
            }
            let sources: Vec<_> = grain.derived_from().map(|it| it.to_string()).collect();
            if !sources.is_empty() {
                map.insert("provenance", sources);
            }
        }
    }
    if kind != Kind::Memory && !tags.is_empty() {
        let tags: Map = [("tags", tags)].into_iter().collect();
        map.insert("metadata", tags);
    }
    map
}

/// Returns the members that all records have.
fn common(grain: &Grain, kind: Kind, id: &str) -> Map {
    let mut map = Map::new();
    map.insert("kind", kind.name());
    map.insert("external_system", "grainstore");
    map.insert("external_id", id);
    let scope = ["user_id", "session_id"].into_iter();
    let scope: Map = scope
        .filter_map(|name| Some((name, grain.text(name)?)))
        .collect();
    map.insert("scope", scope);
    if let Some(time) = to_rfc3339(grain.created_at()) {
        map.insert("created_at", time);
    }
    map
}

/// Writes an episode for each session, turn by turn.
fn episodes<E: Entries + ?Sized>(
    out: &mut impl Write,
    entries: &E,
    turns: &[([u8; 32], u32)],
) -> Result<(), E::Error> {
    for session in turns.chunk_by(|(one, _), (other, _)| one == other) {
        let numbers = session.iter().map(|(_, number)| *number);
        let make = |_, (grain, _): Entry| {
            let episode = grain.text("session_id").unwrap_or_default();
            let mut episode = common(&grain, Kind::Episode, episode);
            let title = grain.field("context").and_then(Value::as_map);
            let title = title
                .and_then(|it| it.get("title"))
                .and_then(Value::as_text);
            if let Some(title) = title {
                episode.insert("title", title);
            }
            let role = grain.text("role").unwrap_or_default();
            let content = grain.message_text().unwrap_or_default();
            let turn = [("role", role), ("content", &content)];
            let mut turn: Map = turn.into_iter().collect();
            if let Some(time) = to_rfc3339(grain.created_at()) {
                turn.insert("occurred_at", time);
            }
            Ok((Value::Map(episode).to_json(), Value::Map(turn).to_json()))
        };
        let mut is_first = true;
        each(entries, numbers, make, |(episode, turn)| {
            if is_first {
                put(out, episode.strip_suffix('}').unwrap_or(&episode))?;
                put(out, ",\"turns\":[")?;
            } else {
                put(out, ",")?;
            }
            is_first = false;
            put(out, &turn)?;
            Ok::<(), E::Error>(())
        })?;
        if !is_first {
            put(out, "]}\n")?;
        }
    }
    Ok(())
}

fn manifest(survey: &Survey, now: Option<Time>) -> Value {
    let counts = survey.counts.iter();
    let counts: Map = counts
        .map(|(kind, count)| {
            (
                kind.name(),
                Value::from(i64::try_from(*count).unwrap_or(i64::MAX)),
            )
        })
        .collect();
    let notes = survey.loss.iter();
    let notes: Vec<_> = notes
        .map(|(name, count)| format!("not written: {count} {name}"))
        .collect();
    let members = [
        ("cogx_version", Value::from("0.1")),
        ("source_system", "grainstore".into()),
        (
            "exported_at",
            now.and_then(to_rfc3339).map_or(Value::Nil, Value::from),
        ),
        ("counts", Value::Map(counts)),
        ("notes", notes.into()),
    ];
    Value::Map(members.into_iter().collect())
}

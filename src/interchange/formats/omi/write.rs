//! Writing a document or lines.

use std::io::Write;

use crate::codec::{Map, Value};
use crate::grain::{Grain, Status, Time, Type};
use crate::interchange::export::GENERATOR;
use crate::interchange::model::embedded_grain;
use crate::interchange::model::rfc3339::{envelope_time, insert_optional, insert_required};
use crate::interchange::{Entry, Error, Loss, Place, WriteOptions, Written, aimem, pam};

use super::extension::{add_side, extension, settle};
use super::graph;
use super::residual::{inherited, is_relation, residual};
use super::validate::FORMAT;

/// Writes one JSON document.
///
/// Records that came from OMI are written as they came. Grains of any other origin become records
/// whose `ext` embeds the whole grain, so that reading the file gives the same grains with the same
/// status. One envelope is written as it came; if there are several, records keep what they
/// inherited from theirs.
///
/// # Errors
/// `ERR_IO`.
pub fn write(
    out: &mut impl Write,
    entries: &[Entry],
    options: &WriteOptions,
) -> Result<Written, Error> {
    let mut file = File::new(entries, options);
    let is_stream = file.envelope.get("serialization").and_then(Value::as_text) == Some("jsonl");
    if is_stream {
        file.envelope.insert("serialization", "json");
    }
    let written = file.written();
    let memories: Vec<Value> = file.memories.into_iter().map(Value::Map).collect();
    file.envelope.insert("memories", memories);
    writeln!(out, "{}", Value::Map(file.envelope).to_json())?;
    Ok(written)
}

/// Writes JSON lines.
///
/// # Errors
/// As [`write()`].
pub fn write_lines(
    out: &mut impl Write,
    entries: &[Entry],
    options: &WriteOptions,
) -> Result<Written, Error> {
    let mut file = File::new(entries, options);
    file.envelope.remove("memories");
    file.envelope.insert("serialization", "jsonl");
    let written = file.written();
    writeln!(out, "{}", Value::Map(file.envelope).to_json())?;
    for memory in file.memories {
        writeln!(out, "{}", Value::Map(memory).to_json())?;
    }
    Ok(written)
}

/// A file before it is serialized.
struct File {
    envelope: Map,
    memories: Vec<Map>,
    loss: Loss,
}

/// A record, the parts it inherited from its envelope if it came from one, and its grain.
pub(super) struct Line<'a> {
    pub(super) map: Map,
    inherited: Option<Map>,
    pub(super) grain: &'a Grain,
    status: &'a Status,
}

impl File {
    fn new(entries: &[Entry], options: &WriteOptions) -> Self {
        let mut loss = Loss::default();
        let (mut envelopes, mut lines, mut sides) = (Vec::new(), Vec::new(), Vec::new());
        for (grain, status) in entries {
            // A relation is a member of its record.
            if is_relation(grain) {
                continue;
            }
            let (map, inherited) = match residual(grain) {
                Some(Value::Map(map)) if grain.type_() == Type::State => {
                    envelopes.push((grain, map));
                    continue;
                }
                Some(Value::Map(mut map)) => {
                    settle(&mut map, &mut loss, |validator, map| {
                        validator.record(map, &Place::Pointer(String::new()), true);
                    });
                    if *status != Status::default() {
                        extend(&mut map, grain, status);
                    }
                    (map, Some(inherited(grain)))
                }
                _ if embedded_grain::is_side(grain) => {
                    sides.push((grain, status));
                    continue;
                }
                _ => (record(grain, status, &mut loss), None),
            };
            lines.push(Line {
                map,
                inherited,
                grain,
                status,
            });
        }
        let mut envelope = match envelopes.as_slice() {
            [(_, only)] => only.clone(),
            _ => common_envelope(&lines, &envelopes, options, entries),
        };
        // Records inherit from it as it is read again.
        let given = envelope.clone();
        settle(&mut envelope, &mut loss, |validator, map| {
            validator.envelope(map);
        });
        if envelopes.len() > 1 {
            for (grain, map) in &envelopes {
                // One of ours says nothing that is not said again.
                let generator = map.get("generator").and_then(Value::as_text);
                if generator.is_none_or(|name| !name.starts_with("grainstore/")) {
                    add_side(
                        &mut envelope,
                        embedded_grain::pack(grain, &Status::default()),
                    );
                }
            }
        }
        graph::add_sides(&mut envelope, &mut lines, &sides, &mut loss);
        let memories = lines
            .into_iter()
            .map(|line| uninherit(line, &given))
            .collect();
        Self {
            envelope,
            memories,
            loss,
        }
    }

    fn written(&mut self) -> Written {
        Written {
            records: u64::try_from(self.memories.len()).unwrap_or(u64::MAX),
            loss: std::mem::take(&mut self.loss),
        }
    }
}

/// Returns an envelope with the parts that all records inherited.
fn common_envelope(
    lines: &[Line<'_>],
    envelopes: &[(&Grain, Map)],
    options: &WriteOptions,
    entries: &[Entry],
) -> Map {
    let mut envelope = Map::new();
    envelope.insert("format", FORMAT);
    envelope.insert("version", "0.1");
    envelope.insert("generator", GENERATOR);
    envelope.insert("generated_at", envelope_time(options.now_for(entries)));
    for name in ["subject", "id_namespace"] {
        let mut all = lines.iter().filter_map(|line| line.inherited.as_ref());
        let first = all.next().and_then(|map| map.get(name));
        if let Some(first) = first
            && all.all(|map| map.get(name) == Some(first))
        {
            envelope.insert(name, first.clone());
        }
    }
    // An extension that two envelopes have is that of the first; both stand beside the records.
    let mut all = Map::new();
    let given = envelopes
        .iter()
        .filter_map(|(_, map)| map.get("ext")?.as_map());
    for (name, value) in given.flat_map(Map::iter) {
        if !all.contains(name) {
            all.insert(name, value.clone());
        }
    }
    if !all.is_empty() {
        envelope.insert("ext", all);
    }
    envelope
}

/// Adds to a record what it inherited and the new envelope lacks: the subject, and in the extension
/// the whole grain, which knows its namespace.
fn uninherit(line: Line<'_>, envelope: &Map) -> Map {
    let (mut map, inherited) = (line.map, line.inherited.unwrap_or_default());
    let is_said = |(name, value): (&str, &Value)| envelope.get(name) == Some(value);
    if inherited.iter().all(is_said) {
        return map;
    }
    if let Some(subject) = inherited.get("subject") {
        map.insert("subject", subject.clone());
    }
    extend(&mut map, line.grain, line.status);
    map
}

/// Returns the record of a grain of another origin (OMI 14).
fn record(grain: &Grain, status: &Status, loss: &mut Loss) -> Map {
    let mut map = Map::new();
    map.insert("id", format!("urn:grainstore:{}", grain.address()));
    map.insert("content", embedded_grain::summary_text(grain));
    insert_required(&mut map, "created", grain.created_at(), loss);
    let record = pam::residual(grain).or_else(|| aimem::residual(grain));
    map.insert("type", kind(grain, record.as_ref()));
    let user = grain.text("user_id").map(|id| (id, Some("person")));
    let subject = user.or(grain.text("subject").map(|id| (id, None)));
    let (id, kind) = subject.unwrap_or(("grainstore", Some("system")));
    let kind = kind.map(|kind| ("type", kind));
    let subject: Map = [("id", id)].into_iter().chain(kind).collect();
    map.insert("subject", subject);
    // A record without one has none: what OMS requires of its grain is no statement of the source.
    let stated = record.is_none_or(|record| {
        let scores = record
            .as_map()
            .and_then(|map| map.get("confidence")?.as_map());
        scores.is_some_and(|scores| scores.contains("current") || scores.contains("initial"))
    });
    if let Some(confidence) = grain.field("confidence").filter(|_| stated) {
        map.insert("confidence", confidence.clone());
    }
    if let Some(tags) = grain.field("structural_tags") {
        map.insert("tags", tags.clone());
    }
    for name in ["valid_from", "valid_to"] {
        if let Some(ms) = grain.field(name).and_then(Value::as_i64) {
            insert_optional(&mut map, name, Time::from_ms(ms), loss);
        }
    }
    extend(&mut map, grain, status);
    map
}

/// Returns the type that the grain has in its own format, or the nearest of those that OMI 8
/// recommends.
fn kind(grain: &Grain, record: Option<&Value>) -> String {
    let said = |name: &str| {
        let text = record?.as_map()?.get(name)?.as_text();
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let is_steps = grain.text("relation") == Some("mg:requires_steps");
    let nearest = match grain.type_() {
        Type::Event => "episodic",
        Type::Workflow => "procedural",
        _ if is_steps => "procedural",
        _ => "semantic",
    };
    // A type of a message or a conversation is not one of a memory.
    let said = said("custom_type")
        .or_else(|| said("type"))
        .or_else(|| said("memory_type"));
    said.unwrap_or_else(|| nearest.to_owned())
}

/// Embeds the whole grain in the extension of a record.
fn extend(map: &mut Map, grain: &Grain, status: &Status) {
    if let Some(members) = extension(map) {
        for (name, value) in embedded_grain::pack(grain, status) {
            members.insert(&name, value);
        }
    }
}

//! Writing a document or lines.

use std::io::Write;

use crate::codec::{Map, Value};
use crate::grain::{Grain, Status, Time, Type};
use crate::interchange::export::GENERATOR;
use crate::interchange::model::embedded_grain;
use crate::interchange::model::rfc3339::{envelope_time, insert_optional, insert_required};
use crate::interchange::{Entry, Error, Loss, WriteOptions, Written};

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

impl File {
    fn new(entries: &[Entry], options: &WriteOptions) -> Self {
        let mut loss = Loss::default();
        let mut envelopes = Vec::new();
        let mut records: Vec<(Map, Option<Map>)> = Vec::new();
        for (grain, status) in entries {
            // A relation is a member of its record.
            if is_relation(grain) {
                continue;
            }
            match residual(grain) {
                Some(Value::Map(map)) if grain.type_() == Type::State => envelopes.push(map),
                Some(Value::Map(mut map)) => {
                    if *status != Status::default() {
                        extend(&mut map, grain, status);
                    }
                    records.push((map, Some(inherited(grain))));
                }
                _ => records.push((record(grain, status, &mut loss), None)),
            }
        }
        let envelope = match envelopes.len() {
            1 => envelopes.pop().unwrap_or_default(),
            _ => common_envelope(&records, options, entries),
        };
        let memories = records
            .into_iter()
            .map(|(map, inherited)| match inherited {
                Some(inherited) => settle(map, inherited, &envelope, &mut loss),
                None => map,
            })
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
    records: &[(Map, Option<Map>)],
    options: &WriteOptions,
    entries: &[Entry],
) -> Map {
    let mut envelope = Map::new();
    envelope.insert("format", FORMAT);
    envelope.insert("version", "0.1");
    envelope.insert("generator", GENERATOR);
    envelope.insert("generated_at", envelope_time(options.now_for(entries)));
    for name in ["subject", "id_namespace"] {
        let mut all = records
            .iter()
            .filter_map(|(_, inherited)| inherited.as_ref());
        let first = all.next().and_then(|map| map.get(name));
        if let Some(first) = first
            && all.all(|map| map.get(name) == Some(first))
        {
            envelope.insert(name, first.clone());
        }
    }
    envelope
}

/// Adds to a record what it inherited and the new envelope lacks.
fn settle(mut map: Map, inherited: Map, envelope: &Map, loss: &mut Loss) -> Map {
    for (name, value) in inherited {
        if envelope.get(&name) == Some(&value) {
            continue;
        }
        if name == "subject" {
            map.insert(name, value);
        } else {
            loss.count(&name);
        }
    }
    map
}

/// Returns the record of a grain of another origin (OMI 14).
fn record(grain: &Grain, status: &Status, loss: &mut Loss) -> Map {
    let mut map = Map::new();
    map.insert("id", format!("urn:grainstore:{}", grain.address()));
    map.insert("content", embedded_grain::summary_text(grain));
    insert_required(&mut map, "created", grain.created_at(), loss);
    let is_steps = grain.text("relation") == Some("mg:requires_steps");
    let kind = match grain.type_() {
        Type::Event => "episodic",
        Type::Workflow => "procedural",
        _ if is_steps => "procedural",
        _ => "semantic",
    };
    map.insert("type", kind);
    let user = grain.text("user_id").map(|id| (id, Some("person")));
    let subject = user.or(grain.text("subject").map(|id| (id, None)));
    let (id, kind) = subject.unwrap_or(("grainstore", Some("system")));
    let kind = kind.map(|kind| ("type", kind));
    let subject: Map = [("id", id)].into_iter().chain(kind).collect();
    map.insert("subject", subject);
    if let Some(confidence) = grain.field("confidence") {
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

/// Embeds the whole grain in the extensions of a record.
fn extend(map: &mut Map, grain: &Grain, status: &Status) {
    let mut ext = match map.remove("ext") {
        Some(Value::Map(ext)) => ext,
        _ => Map::new(),
    };
    ext.insert(embedded_grain::NAME, embedded_grain::pack(grain, status));
    map.insert("ext", ext);
}

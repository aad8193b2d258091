//! Writing a document or lines.

use std::io::Write;

use crate::codec::{Map, Value};
use crate::grain::{Grain, Status, Time, Type};
use crate::interchange::entries::{Newest, each, surveyed};
use crate::interchange::export::{GENERATOR, event_time};
use crate::interchange::model::embedded_grain;
use crate::interchange::model::normalize::normalize_text;
use crate::interchange::model::redaction::redact;
use crate::interchange::model::rfc3339::{envelope_time, insert_optional, insert_required};
use crate::interchange::{Entries, Entry, Error, Loss, Place, WriteOptions, Written, aimem, pam};

use super::extension::{add, add_side, extension, settle};
use super::graph::{LineNames, Records, Sides, id_of};
use super::residual::{has_residual, inherited, is_relation, residual};
use super::validate::FORMAT;

/// Writes one JSON document.
///
/// Records that came from OMI are written as they came. Grains of any other origin become records
/// whose `ext` embeds the whole grain, so that reading the file gives the same grains with the same
/// status. One envelope is written as it came; if there are several, records keep what they
/// inherited from theirs. The grains are read twice.
///
/// # Errors
/// `ERR_IO`; those of reading the grains.
pub fn write<E: Entries + ?Sized>(
    out: &mut impl Write,
    entries: &E,
    options: &WriteOptions,
) -> Result<Written, E::Error> {
    let mut file = surveyed(entries, || File::survey(entries, options))?;
    let is_stream = file.envelope.get("serialization").and_then(Value::as_text) == Some("jsonl");
    if is_stream {
        file.envelope.insert("serialization", "json");
    }
    file.envelope.remove("memories");
    let envelope = Value::Map(std::mem::take(&mut file.envelope)).to_json();
    // An envelope is never empty: it names its format.
    let open = envelope.strip_suffix('}').unwrap_or_default();
    put(out, &[open, ",\"memories\":["])?;
    let mut separator = "";
    let written = file.each_record(entries, |text| {
        put(out, &[separator, text])?;
        separator = ",";
        Ok(())
    })?;
    put(out, &["]}\n"])?;
    Ok(written)
}

/// Writes JSON lines.
///
/// # Errors
/// As [`write()`].
pub fn write_lines<E: Entries + ?Sized>(
    out: &mut impl Write,
    entries: &E,
    options: &WriteOptions,
) -> Result<Written, E::Error> {
    let mut file = surveyed(entries, || File::survey(entries, options))?;
    file.envelope.remove("memories");
    file.envelope.insert("serialization", "jsonl");
    let envelope = Value::Map(std::mem::take(&mut file.envelope)).to_json();
    put(out, &[&envelope, "\n"])?;
    file.each_record(entries, |text| put(out, &[text, "\n"]))
}

fn put(out: &mut impl Write, texts: &[&str]) -> Result<(), Error> {
    let mut texts = texts.iter();
    texts.try_for_each(|text| Ok(out.write_all(text.as_bytes())?))
}

/// A file whose records are known by their numbers, before they are written.
struct File {
    envelope: Map,
    /// The envelope that records inherit from when the file is read again.
    given: Map,
    /// The numbers of the grains that are records.
    lines: Vec<u32>,
    sides: Sides,
    loss: Loss,
    /// Whether it is to be shared (OMI 16.2).
    is_redacted: bool,
}

/// The kind of a grain, as the first reading finds it.
enum Kind {
    /// A relation, which is a member of its record.
    Member,
    Envelope(Box<(Map, Map)>),
    /// With the parts that it inherited from its envelope, if it came from one.
    Record(Box<(LineNames, Option<Map>)>),
    Side,
}

fn kind_of(grain: &Grain) -> Kind {
    if is_relation(grain) {
        return Kind::Member;
    }
    let is_record = has_residual(grain);
    if grain.type_() == Type::State
        && let Some(Value::Map(map)) = residual(grain)
    {
        let packed = embedded_grain::pack(grain, &Status::default());
        return Kind::Envelope(Box::new((map, packed)));
    }
    if !is_record && embedded_grain::is_side(grain) {
        return Kind::Side;
    }
    let inherited = is_record.then(|| inherited(grain));
    Kind::Record(Box::new((LineNames::of(grain), inherited)))
}

impl File {
    /// Reads the grains to learn which are records, and what all of them say.
    fn survey<E: Entries + ?Sized>(entries: &E, options: &WriteOptions) -> Result<Self, E::Error> {
        let mut loss = Loss::default();
        let mut envelopes = Vec::new();
        let (mut records, mut side_numbers) = (Records::default(), Vec::new());
        let (mut shared, mut newest) = (None, Newest::default());
        let mut replaced = Vec::new();
        let make = |number: u32, (grain, status): Entry| {
            let found = (grain.created_at(), kind_of(&grain), status.superseded_by);
            Ok((number, found))
        };
        each(entries, 0..entries.count(), make, |(number, found)| {
            let (time, kind, replacement) = found;
            newest.add(time);
            if let (Kind::Record(_), Some(new)) = (&kind, replacement) {
                replaced.push((number, new));
            }
            match kind {
                Kind::Member => {}
                Kind::Envelope(one) => envelopes.push(*one),
                Kind::Side => side_numbers.push(number),
                Kind::Record(one) => {
                    let (names, inherited) = *one;
                    records.add(number, &names);
                    if let Some(inherited) = inherited {
                        share(&mut shared, &inherited);
                    }
                }
            }
            Ok(())
        })?;
        let mut envelope = match envelopes.as_slice() {
            [(only, _)] => only.clone(),
            _ => common_envelope(
                shared.unwrap_or_default(),
                &envelopes,
                newest.or(options.now),
            ),
        };
        // Records inherit from it as it is read again.
        let given = envelope.clone();
        settle(&mut envelope, &mut loss, |validator, map| {
            validator.envelope(map);
        });
        if envelopes.len() > 1 {
            for (map, packed) in envelopes {
                // One of ours says nothing that is not said again.
                let generator = map.get("generator").and_then(Value::as_text);
                if generator.is_none_or(|name| !name.starts_with("grainstore/")) {
                    add_side(&mut envelope, packed);
                }
            }
        }
        let sides = Sides::find(
            entries,
            (&side_numbers, &replaced),
            &mut records,
            &mut envelope,
            &mut loss,
        )?;
        if options.redact {
            redact(&mut envelope, &OF_ENVELOPE, &mut loss);
        }
        Ok(Self {
            envelope,
            given,
            lines: records.lines,
            sides,
            loss,
            is_redacted: options.redact,
        })
    }

    /// Reads the grains again and passes the text of each record to `take`.
    fn each_record<E: Entries + ?Sized>(
        self,
        entries: &E,
        mut take: impl FnMut(&str) -> Result<(), Error>,
    ) -> Result<Written, E::Error> {
        let (mut loss, mut count) = (self.loss, 0_u64);
        let make = |number: u32, (grain, status): Entry| {
            let mut loss = Loss::default();
            let mut map = line(&grain, &status, &mut loss);
            self.sides.add_to(&mut map, number, entries)?;
            if has_residual(&grain) {
                map = uninherit(map, &grain, &status, &self.given);
            }
            if self.is_redacted {
                redact(&mut map, &OF_RECORD, &mut loss);
                return Ok((Value::Map(map).to_json(), loss));
            }
            let holds = entries.holds(&grain.address());
            if !holds.is_empty() {
                // A record that says all of its grain has no extension yet.
                extend(&mut map, &grain, &status);
                if let Some(packed) = extension(&mut map) {
                    embedded_grain::add_holds(packed, &grain, &holds);
                }
            }
            Ok((Value::Map(map).to_json(), loss))
        };
        each(entries, self.lines.iter().copied(), make, |(text, lost)| {
            count = count.saturating_add(1);
            loss.merge(&lost);
            Ok(take(&text)?)
        })?;
        Ok(Written {
            records: count,
            loss,
        })
    }
}

/// Returns the record of a grain, without what it inherits and without what stands beside it.
fn line(grain: &Grain, status: &Status, loss: &mut Loss) -> Map {
    let Some(Value::Map(mut map)) = residual(grain) else {
        return record(grain, status, loss);
    };
    settle(&mut map, loss, |validator, map| {
        validator.record(map, &Place::Pointer(String::new()), true);
    });
    if *status != Status::default() || !names_user(&map, grain) {
        extend(&mut map, grain, status);
    }
    if let Some(time) = ended(&map, status) {
        let mut said = Map::new();
        insert_optional(&mut said, "valid_to", time, loss);
        if let Some(time) = said.remove("valid_to") {
            add(&mut map, "valid_to", time);
        }
    }
    map
}

/// Returns whether a record names the user of its grain, who may be one that the importer named.
fn names_user(map: &Map, grain: &Grain) -> bool {
    let inherited = inherited(grain);
    let subject = map.get("subject").or_else(|| inherited.get("subject"));
    let subject = subject.and_then(Value::as_map);
    let member = |name: &str| subject.and_then(|subject| subject.get(name)?.as_text());
    let named = member("id").filter(|_| member("type") == Some("person"));
    let named = named.map(normalize_text).filter(|id| !id.is_empty());
    named.as_deref() == grain.text("user_id")
}

/// Returns when a grain stopped being held for true here, unless its record says an end itself.
fn ended(map: &Map, status: &Status) -> Option<Time> {
    let says_end = map.get("valid_to").is_some_and(|end| *end != Value::Nil);
    status.system_valid_to.filter(|_| !says_end)
}

/// Keeps of the parts that records inherited those that all of them did.
fn share(shared: &mut Option<Map>, inherited: &Map) {
    match shared {
        None => {
            let names = ["subject", "id_namespace"];
            let parts = inherited.iter().filter(|(name, _)| names.contains(name));
            *shared = Some(parts.map(|(name, value)| (name, value.clone())).collect());
        }
        Some(parts) => {
            for name in ["subject", "id_namespace"] {
                if parts.contains(name) && parts.get(name) != inherited.get(name) {
                    parts.remove(name);
                }
            }
        }
    }
}

/// Returns an envelope with the parts that all records inherited.
fn common_envelope(shared: Map, envelopes: &[(Map, Map)], now: Time) -> Map {
    let mut envelope = shared;
    envelope.insert("format", FORMAT);
    envelope.insert("version", "0.1");
    envelope.insert("generator", GENERATOR);
    envelope.insert("generated_at", envelope_time(now));
    // An extension that two envelopes have is that of the first; both stand beside the records.
    let mut all = Map::new();
    let given = envelopes
        .iter()
        .filter_map(|(map, _)| map.get("ext")?.as_map());
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
fn uninherit(mut map: Map, grain: &Grain, status: &Status, envelope: &Map) -> Map {
    let inherited = inherited(grain);
    let is_said = |(name, value): (&str, &Value)| envelope.get(name) == Some(value);
    if inherited.iter().all(is_said) {
        return map;
    }
    if let Some(subject) = inherited.get("subject") {
        map.insert("subject", subject.clone());
    }
    extend(&mut map, grain, status);
    map
}

/// Returns the record of a grain of another origin (OMI 14).
fn record(grain: &Grain, status: &Status, loss: &mut Loss) -> Map {
    let mut map = Map::new();
    map.insert("id", id_of(grain));
    map.insert("content", embedded_grain::summary_text(grain));
    insert_required(&mut map, "created", grain.created_at(), loss);
    let record = pam::residual(grain).or_else(|| aimem::residual(grain));
    map.insert("type", kind(grain, record.as_ref()));
    map.insert("subject", subject(grain));
    map.insert("source", source(grain));
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
    if let Some(time) = ended(&map, status) {
        insert_optional(&mut map, "valid_to", time, loss);
    }
    // An event is so from its time on; `created` is when it was recorded (OMI 6.2).
    if let Some(at) = event_time(grain).filter(|_| !map.contains("valid_from")) {
        insert_optional(&mut map, "valid_from", at, loss);
    }
    extend(&mut map, grain, status);
    map
}

/// Returns the subject of a record; of a message, its speaker (OMI 14: the subject is that of the row).
fn subject(grain: &Grain) -> Map {
    let speaker = match grain.text("role").filter(|_| grain.type_() == Type::Event) {
        Some("assistant") => Some((grain.text("model_id").unwrap_or("assistant"), "agent")),
        Some(role @ ("tool" | "system")) => Some((role, "system")),
        _ => None,
    };
    if let Some((id, kind)) = speaker {
        let role = grain.text("role").unwrap_or_default();
        return Map::from_iter([("id", id), ("type", kind), ("label", role)]);
    }
    let user = grain.text("user_id").map(|id| (id, Some("person")));
    let said = grain.type_() == Type::Event && grain.text("role") == Some("user");
    let user = user.or(said.then_some(("user", Some("person"))));
    let subject = user.or(grain.text("subject").map(|id| (id, None)));
    let (id, kind) = subject.unwrap_or(("grainstore", Some("system")));
    let kind = kind.map(|kind| ("type", kind));
    [("id", id)].into_iter().chain(kind).collect()
}

/// Returns where a record comes from (OMI 7): its platform, its session, and how it was made.
fn source(grain: &Grain) -> Map {
    let method = match grain.text("source_type") {
        Some("user_explicit") => "asserted",
        Some("llm_generated") => "extracted",
        Some("agent_inferred") => "derived",
        Some("imported") => "imported",
        _ => "observed",
    };
    let members = [
        (
            "platform",
            Some(grain.text("origin_namespace").unwrap_or("grainstore")),
        ),
        ("ref", grain.text("session_id")),
        ("method", Some(method)),
    ];
    let members = members.into_iter();
    members
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
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

/// Where a record stood on another platform (OMI 7.1), and the grains that are embedded whole.
const OF_RECORD: [&str; 2] = ["source/ref", "ext/io.github.grainstore.grainstore"];
const OF_ENVELOPE: [&str; 1] = ["ext/io.github.grainstore.grainstore"];

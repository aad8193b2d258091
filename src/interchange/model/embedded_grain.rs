//! A whole grain embedded in a foreign record, where its format has a place for extensions. Read
//! again, it is the grain that it was.

use crate::codec::{Map, Profile, Value};
use crate::grain::{ENVELOPE_TAG, Grain, Status, StatusChange, Triple, Type, Warning};
use crate::policy::RecordedAuthorization;

use crate::crypto::{from_delivery, to_delivery};
use crate::interchange::model::link::link_of;
use crate::interchange::model::normalize::normalize_text;
use crate::interchange::model::status;
use crate::interchange::{Entries, Place, Record};

/// The name of the extension: a domain name of this project, reversed.
pub(crate) const NAME: &str = "io.github.grainstore.grainstore";

/// Returns a grain in its delivery form, and its status, as the extension holds them.
pub(crate) fn pack(grain: &Grain, state: &Status) -> Map {
    let mut packed = Map::new();
    packed.insert("address", grain.address());
    // A grain that must be signed and is not must not travel (OMS 9.2): then the record is all.
    let bytes = to_delivery(grain).unwrap_or_default();
    packed.insert("blob", data_encoding::BASE64.encode(&bytes));
    if *state != Status::default() {
        packed.insert("status", status::write(grain.address(), state));
    }
    packed
}

/// Returns a packed grain with the legal holds on it.
pub(crate) fn pack_held<E: Entries + ?Sized>(grain: &Grain, state: &Status, entries: &E) -> Map {
    let mut packed = pack(grain, state);
    add_holds(&mut packed, grain, &entries.holds(&grain.address()));
    packed
}

/// Adds legal holds to the extension that holds their grain.
pub(crate) fn add_holds(packed: &mut Map, grain: &Grain, holds: &[RecordedAuthorization]) {
    if !holds.is_empty() {
        let holds = holds.iter();
        let holds = holds.map(|it| Value::Map(status::write_hold(grain.address(), it)));
        packed.insert("holds", holds.collect::<Vec<_>>());
    }
}

/// Returns the grains beside a record that the extension also holds: links, entities, envelopes.
pub(crate) fn unpack_sides(packed: Option<&Value>, profile: Profile) -> Vec<Unpacked> {
    let sides = packed.and_then(|packed| packed.as_map()?.get(SIDES)?.as_array());
    let sides = sides.unwrap_or_default().iter();
    // A memory must not hide where readers of the record do not see it.
    let sides = sides.filter_map(|side| read(side, profile).filter(|it| is_side(&it.grain)));
    sides.collect()
}

/// Returns whether a grain was made from a part of a file that is no memory, or says nothing.
pub(crate) fn is_side(grain: &Grain) -> bool {
    let tags = grain.field("structural_tags").into_iter();
    let is_envelope = tags.flat_map(Value::texts).any(|tag| tag == ENVELOPE_TAG);
    let relation = grain.text("relation").unwrap_or_default();
    let is_of_graph = link_of(grain).is_some()
        || relation.starts_with("aimem:entity")
        || relation == "aimem:mentions";
    let is_conversation = grain.type_() == Type::State && grain.is_record();
    is_envelope
        || is_conversation
        || says_nothing(grain)
        || (is_of_graph && grain.field("context").is_some())
}

/// The member of the extension that holds the grains beside a record.
pub(crate) const SIDES: &str = "beside";

/// A grain that was extracted.
pub(crate) struct Unpacked {
    pub(crate) grain: Grain,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) status: StatusChange,
    pub(crate) holds: Vec<RecordedAuthorization>,
}

impl Unpacked {
    /// Returns the record of the grain.
    pub(crate) fn into_record(self, place: Place) -> Record {
        Record {
            status: self.status,
            holds: self.holds,
            warnings: self.warnings,
            ..Record::new(self.grain, place)
        }
    }
}

/// Extracts the grain from an extension.
///
/// The grain must say the same as the record, or it is ignored: an editor who changes the record
/// and leaves the extension alone wants the edit to count, and a reader of the record must not be
/// shown one text and get another.
pub(crate) fn unpack(packed: &Value, content: &str, profile: Profile) -> Option<Unpacked> {
    read(packed, profile).filter(|unpacked| says(&unpacked.grain, content))
}

/// Extracts the turn of a conversation from an extension, which must say the same as its message.
pub(crate) fn unpack_turn(
    packed: &Value,
    (role, text): (&str, Option<&str>),
    profile: Profile,
) -> Option<Unpacked> {
    read(packed, profile).filter(|unpacked| {
        let grain = &unpacked.grain;
        let is_turn = grain.type_() == Type::Event && !grain.is_record();
        is_turn && grain.text("role") == Some(role) && said(grain).as_deref() == text
    })
}

/// Returns whether a grain is of a record with this content. A grain that was built from a record has
/// its text as grains hold it, which may be none.
fn says(grain: &Grain, content: &str) -> bool {
    if summary_text(grain) == content {
        return true;
    }
    let fields = ["object", "content", "description"];
    let held = fields.iter().find_map(|name| grain.text(name));
    grain.is_record() && held.unwrap_or_default() == normalize_text(content)
}

fn read(packed: &Value, profile: Profile) -> Option<Unpacked> {
    let packed = packed.as_map()?;
    let text = |name: &str| packed.get(name)?.as_text();
    let blob = data_encoding::BASE64
        .decode(text("blob")?.as_bytes())
        .ok()?;
    let (grain, warnings) = from_delivery(&blob, profile).ok()?;
    if grain.address().to_string() != text("address")? {
        return None;
    }
    let status = match packed.get("status") {
        Some(Value::Map(members)) => status::read(members)
            .ok()
            .filter(|(of, _)| *of == grain.address())
            .map(|(_, change)| change),
        _ => None,
    };
    let holds = packed.get("holds").and_then(Value::as_array);
    let holds = holds.unwrap_or_default().iter();
    let holds = holds.filter_map(|it| status::read_hold(it.as_map()?).ok());
    let holds = holds.filter(|(of, _)| *of == grain.address());
    Some(Unpacked {
        holds: holds.map(|(_, hold)| hold).collect(),
        grain,
        warnings,
        status: status.unwrap_or_default(),
    })
}

/// Returns the content of a grain as one text that is not empty: what it came with, or a sentence.
pub(crate) fn summary_text(grain: &Grain) -> String {
    said(grain).unwrap_or_else(|| grain.to_json())
}

/// Returns whether a grain is a message without anything that a reader could be shown, as importers
/// find them where only a file or a branch was sent.
pub(crate) fn says_nothing(grain: &Grain) -> bool {
    grain.type_() == Type::Event && said(grain).is_none()
}

/// Returns what a grain says, if that is anything a reader could be shown.
pub(crate) fn said(grain: &Grain) -> Option<String> {
    let text = |name: &str| grain.text(name).filter(|text| !text.is_empty());
    let said = ["content", "description", "conclusion"];
    let sentence = match (grain.is_record(), grain.triple()) {
        (false, Some(triple)) => sentence(&triple, grain.field("object")),
        _ => text("object").map(str::to_owned),
    };
    sentence
        .or_else(|| said.into_iter().find_map(text).map(str::to_owned))
        .or_else(|| Some(of_blocks(grain)).filter(|text| !text.is_empty()))
        .or_else(|| of_members(grain))
        .or_else(|| Some(grain.summary()).filter(|summary| !summary.is_empty()))
}

/// A statement as people say it: "Ana likes tea".
fn sentence(triple: &Triple, object: Option<&Value>) -> Option<String> {
    let subject = triple.subject.as_ref();
    let object = object.map(in_words).filter(|object| !object.is_empty())?;
    let relation = triple.relation.as_deref().unwrap_or_default();
    let relation = relation.strip_prefix("mg:").unwrap_or(relation);
    let relation = relation.replace(['_', ':'], " ");
    let words = [subject.map_or("", String::as_str), &relation, &object];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    Some(words.join(" "))
}

/// Returns the text of a content that has members: "humidity pct: 71.5".
fn of_members(grain: &Grain) -> Option<String> {
    let content = grain
        .field("content")
        .filter(|content| content.as_map().is_some());
    content.map(in_words).filter(|text| !text.is_empty())
}

/// Returns a value as people write it down: members by their names, a list with commas.
fn in_words(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Text(text) => text.clone(),
        Value::Array(items) => joined(items.iter().map(in_words).collect()),
        Value::Map(map) => {
            let members = map.iter();
            let members = members
                .map(|(name, value)| format!("{}: {}", name.replace('_', " "), in_words(value)));
            joined(members.collect())
        }
        other => other.to_json(),
    }
}

/// Returns the text of a message that consists of blocks, a line each.
fn of_blocks(grain: &Grain) -> String {
    let blocks = grain.field("content_blocks").and_then(Value::as_array);
    let lines = blocks.unwrap_or_default().iter().filter_map(|block| {
        let block = block.as_map()?;
        let text = |name: &str| block.get(name).and_then(Value::as_text);
        let kind = text("type").unwrap_or("block");
        let input = block.get("input").map(Value::to_json).unwrap_or_default();
        let said = ["text", "thinking", "content"].into_iter().find_map(text);
        Some(match (kind, text("name"), said) {
            ("tool_use", Some(name), _) => format!("{name}({input})"),
            (_, _, Some(said)) => said.to_owned(),
            (kind, ..) => format!("[{kind}]"),
        })
    });
    lines.collect::<Vec<_>>().join("\n")
}

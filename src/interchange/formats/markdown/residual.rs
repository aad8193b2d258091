//! The residual of a grain that came from a tree: the text of an item as it stood in its file, or
//! the bytes of a file around its items.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{GRAIN_URN, Grain, Type};
use crate::interchange::formats::tree_ids::Named;
use crate::interchange::model::normalize::{ascii_json, normalize_text, residual_json};

use super::dialect::Dialect;
use super::head::{Claim, HeadPart, parts_of};
use super::line::{NOTE, Said};

/// The member of a context that holds it.
pub(super) const RESIDUAL: &str = "x-markdown";

/// Returns what a grain keeps of its tree.
pub(in crate::interchange) fn residual(grain: &Grain) -> Option<Value> {
    residual_json(grain, RESIDUAL)
}

/// The residual of a grain, by member.
pub(super) struct Kept(Map);

impl Kept {
    pub(super) fn of(grain: &Grain) -> Option<Self> {
        match residual(grain)? {
            Value::Map(map) => Some(Self(map)),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_text()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Returns the ids of items that were in a file and are gone.
    pub(super) fn gone(&self) -> impl Iterator<Item = &str> {
        self.0.get("gone").into_iter().flat_map(Value::texts)
    }

    /// Returns the parts of the head of a file.
    pub(super) fn head(&self) -> impl Iterator<Item = HeadPart<'_>> {
        self.0.get("head").into_iter().flat_map(parts_of)
    }

    /// Returns the parts of a file: bytes, and the ids of items with the marks of their texts.
    pub(super) fn parts(&self) -> impl Iterator<Item = Laid<'_>> {
        let parts = self.0.get("parts").and_then(Value::as_array);
        parts
            .unwrap_or_default()
            .iter()
            .filter_map(|part| match part {
                Value::Text(gap) => Some(Laid::Gap(gap)),
                Value::Map(item) => named(item).map(|(id, of)| Laid::Item(id, of)),
                _ => None,
            })
    }

    /// Returns the ids of the links of a file, with the marks of their targets.
    pub(super) fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        let links = self.0.get("links").and_then(Value::as_array);
        let links = links.unwrap_or_default().iter();
        links.filter_map(|link| named(link.as_map()?))
    }
}

/// Returns an id with the mark that a store has given it.
pub(super) fn with_mark((id, of): &Named) -> Value {
    let of = Some(("of", of.as_str())).filter(|(_, of)| !of.is_empty());
    Value::Map([("id", id.as_str())].into_iter().chain(of).collect())
}

fn named(item: &Map) -> Option<(&str, &str)> {
    let text = |name: &str| item.get(name)?.as_text();
    Some((text("id")?, text("of").unwrap_or_default()))
}

/// A part of a file, as its State has it.
pub(super) enum Laid<'a> {
    Gap(&'a str),
    Item(&'a str, &'a str),
}

/// Returns the context of an item.
pub(super) fn of_item(text: &str, claim: Option<&Claim>, id: &str) -> Map {
    let line = claim.and_then(|claim| Some(("claim", claim.line.clone()?)));
    let exported = claim.and_then(|claim| Some(("exported", urn(&claim.address?))));
    let said = [("content", text.to_owned()), ("id", id.to_owned())];
    let kept: Map = said.into_iter().chain(line).chain(exported).collect();
    [(RESIDUAL, ascii_json(&kept))].into_iter().collect()
}

/// Returns the name of a grain of this store, as a tree gives it.
pub(super) fn urn(address: &ContentAddress) -> String {
    format!("{GRAIN_URN}{address}")
}

/// Returns the address that such a name has.
pub(super) fn address_of(id: &str) -> Option<ContentAddress> {
    id.strip_prefix(GRAIN_URN)?.parse().ok()
}

/// Returns what a grain says as an item.
pub(super) fn said(grain: &Grain, with_subject: bool) -> Option<Said> {
    match grain.type_() {
        Type::Belief => Some(Said {
            subject: with_subject.then(|| grain.text("subject").unwrap_or_default().to_owned()),
            relation: grain
                .text("relation")
                .filter(|it| *it != NOTE)
                .map(str::to_owned),
            object: grain.field("object").cloned().unwrap_or(Value::Nil),
        }),
        Type::Event => Some(Said {
            subject: None,
            relation: grain.text("role").map(str::to_owned),
            object: Value::Text(grain.message_text()?.into_owned()),
        }),
        _ => None,
    }
}

/// Returns whether the item of a record is what a tree says of a stored grain, in any dialect.
pub(in crate::interchange) fn is_export_of(record: &Grain, stored: &Grain) -> bool {
    let is_item = matches!(record.type_(), Type::Belief | Type::Event);
    let is_over = |grain: &Grain| Kept::of(grain).is_some_and(|kept| kept.has("ended"));
    if !is_item || record.type_() != stored.type_() || is_over(record) || is_over(stored) {
        return false;
    }
    stated(record) == stated(stored)
}

/// Returns what the item of a grain says.
fn stated(grain: &Grain) -> [Option<Value>; 5] {
    let fields = ["subject", "relation", "object", "content", "role"];
    fields.map(|name| match name {
        // A turn of blocks is written as their text.
        "content" => grain
            .message_text()
            .map(|it| Value::Text(normalize_text(&it))),
        _ => grain.field(name).cloned(),
    })
}

/// Returns a hash of what the item of a grain says; `None` for a grain that is no item.
pub(crate) fn said_hash(grain: &Grain) -> Option<u64> {
    let kept = Kept::of(grain);
    let is_over = kept.is_some_and(|kept| kept.has("ended") || kept.has("link"));
    if is_over || !matches!(grain.type_(), Type::Belief | Type::Event) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    for value in stated(grain) {
        value.map(|it| it.to_json()).hash(&mut hasher);
    }
    Some(hasher.finish())
}

/// Returns the context of a version that says that its item is gone.
pub(super) fn of_ended(grain: &Grain, id: &str) -> Map {
    let kept = residual(grain).and_then(|kept| match kept {
        Value::Map(map) => Some(map),
        _ => None,
    });
    let mut kept = kept.unwrap_or_default();
    if !kept.contains("content") {
        let line = Dialect::okf().line;
        let text = said(grain, false).map(|said| said.write(line, &|_| None));
        kept.insert("content", text.unwrap_or_default());
    }
    kept.insert("id", id.to_owned());
    kept.insert("ended", true);
    let context = grain.field("context").and_then(Value::as_map);
    let mut context = context.cloned().unwrap_or_default();
    context.insert(RESIDUAL, ascii_json(&kept));
    context
}

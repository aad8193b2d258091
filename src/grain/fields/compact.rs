//! Field compaction (OMS 6.12, 4.7): full names in programs and JSON, short keys in blobs.

use std::borrow::Cow;

use crate::codec::{Map, Name, Value};

use super::table::{
    ACTION_CONTENT_KEY, CONTENT_REF, EMBEDDING_REF, INTEGRATION, NestedField, RELATED_TO,
};
use super::words::{self, word};
use super::{Field, Fields, Slot, field, later};
use crate::grain::{Error, Type};

/// Returns the entries of a payload under their short keys.
///
/// # Errors
/// `ERR_CORRUPT` for an application field named like a short key (ruling F4).
pub(in crate::grain) fn compact<'a>(of: Type, fields: &Fields<'a>) -> Result<Entries<'a>, Error> {
    let integration = is_integration(of, fields.get(field!("structural_tags")));
    let mut entries = Vec::with_capacity(fields.map().len());
    for (name, value, slot) in fields.iter() {
        let key = match slot {
            Some(slot) if slot == field!("content") && of == Type::Action => {
                Name::Other(ACTION_CONTENT_KEY)
            }
            Some(slot) => slot.key_word(),
            None => key_of_unlisted(of, name)?,
        };
        entries.push((key, stored(name.as_str(), value, integration)?));
    }
    Ok(entries)
}

/// The entries of a payload.
type Entries<'a> = Vec<(Name<&'a str>, Cow<'a, Value>)>;

fn key_of_unlisted(of: Type, name: &Name) -> Result<Name<&str>, Error> {
    let text = name.as_str();
    let is_key = text == ACTION_CONTENT_KEY || Slot::keyed(name).is_some();
    match later::key_of(of, text) {
        _ if is_key && is_kept_key(of, text) => Ok(name.borrowed()),
        Some(key) => Ok(Name::Other(key)),
        None if is_key => Err(Error::NameTaken {
            name: text.to_owned(),
            reason: "it is the short key of a standard field",
        }),
        None => Ok(name.borrowed()),
    }
}

/// Returns the value of one field as it sits in the payload (ruling S9).
pub(in crate::grain) fn stored_value<'a>(
    of: Type,
    fields: &'a Map,
    name: &str,
) -> Result<Option<Cow<'a, Value>>, Error> {
    let value = fields.get(name);
    let integration = is_integration(of, fields.get("structural_tags"));
    value
        .map(|value| stored(name, value, integration))
        .transpose()
}

/// Returns a value with the members of its field compacted, if it has any that can be.
pub(in crate::grain) fn compacted_value(name: &str, value: &Value) -> Option<Value> {
    let nested = nested_fields(name, true)?;
    let mut value = value.clone();
    rename(&mut value, nested, Direction::Compact).ok()?;
    Some(value)
}

fn stored<'a>(name: &str, value: &'a Value, integration: bool) -> Result<Cow<'a, Value>, Error> {
    match nested_fields(name, integration) {
        Some(nested) => {
            let mut value = value.clone();
            rename(&mut value, nested, Direction::Compact)?;
            Ok(Cow::Owned(value))
        }
        None => Ok(Cow::Borrowed(value)),
    }
}

/// Returns the fields of a payload under their full names.
///
/// # Errors
/// `ERR_CORRUPT` for a field that is spelled in full, which would give it two spellings.
pub(in crate::grain) fn expand(of: Type, payload: Map) -> Result<Map, Error> {
    let mut entries = payload.into_entries();
    for (name, _) in &mut entries {
        if let Some(full) = full_name(of, name)? {
            *name = full;
        }
    }
    // Names are distinct: the table is one-to-one and full names were refused above.
    let mut fields = Map::from_named(entries).map_err(|name| Error::NameTaken {
        name: name.into_text(),
        reason: "two keys mean this field",
    })?;
    let integration = is_integration(of, fields.get("structural_tags"));
    for name in NESTED {
        if let Some(nested) = nested_fields(name, integration)
            && let Some(value) = fields.get_mut(name)
        {
            rename(value, nested, Direction::Expand)?;
        }
    }
    Ok(fields)
}

/// Returns the full name that a key stands for, unless it is that itself.
fn full_name(of: Type, key: &Name) -> Result<Option<Name>, Error> {
    let taken = |reason| Error::NameTaken {
        name: key.as_str().to_owned(),
        reason,
    };
    let Some(word) = words::word_of(key) else {
        let name = later::name_of(of, key.as_str());
        return Ok(name.map(|name| Name::Other(name.to_owned())));
    };
    match (word.text(), of) {
        (ACTION_CONTENT_KEY, Type::Action) => Ok(Some(field!("content").name_word())),
        (ACTION_CONTENT_KEY, _) | ("content", Type::Action) => Err(taken(
            "content is stored as cnt on Action grains, as content on others",
        )),
        (text, _) if is_kept_key(of, text) => Ok(None),
        _ => match (Slot::keyed(key), Slot::named(key)) {
            (Some(slot), _) => Ok(Some(slot.name_word())),
            (None, Some(_)) => Err(taken("blobs store this field under its short key")),
            (None, None) => Ok(None),
        },
    }
}

/// Ruling F6: only a declared member of the profile has its context rewritten: an
/// application's own `ic` or `ib` key is not; the context of a State is never touched.
fn is_integration(of: Type, tags: Option<&Value>) -> bool {
    of != Type::State
        && tags.is_some_and(|tags| tags.texts().any(|tag| tag == "profile:integration"))
}

fn nested_fields(name: &str, integration: bool) -> Option<&'static [NestedField]> {
    match name {
        "content_refs" => Some(CONTENT_REF),
        "embedding_refs" => Some(EMBEDDING_REF),
        "related_to" => Some(RELATED_TO),
        "context" if integration => Some(INTEGRATION),
        _ => None,
    }
}

/// Ruling P14: what a later type means by a key of the index layer is not the status of a grain, so
/// it is shown under the key as written.
fn is_kept_key(of: Type, key: &str) -> bool {
    matches!(of, Type::Opaque(_))
        && Field::keyed(key).is_some_and(|field| Field::is_index_layer(field.name))
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Compact,
    Expand,
}

/// Renames the members of a map, or of each map of an array, one level deep and in place: a copy
/// would double what the largest blob costs.
fn rename(value: &mut Value, nested: &[NestedField], to: Direction) -> Result<(), Error> {
    match value {
        Value::Map(map) => rename_map(map, nested, to),
        Value::Array(items) => items.iter_mut().try_for_each(|item| match item {
            Value::Map(map) => rename_map(map, nested, to),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

fn rename_map(map: &mut Map, nested: &[NestedField], to: Direction) -> Result<(), Error> {
    let mut entries = std::mem::take(map).into_entries();
    for (member, _) in &mut entries {
        let text = member.as_str();
        let renamed = nested.iter().find_map(|(name, key)| match to {
            Direction::Compact => (*name == text).then_some(*key),
            Direction::Expand => (*key == text).then_some(*name),
        });
        let taken = nested.iter().any(|(name, key)| match to {
            Direction::Compact => *key == text,
            Direction::Expand => *name == text,
        });
        if taken {
            return Err(Error::NameTaken {
                name: text.to_owned(),
                reason: "it is the other spelling of a nested field",
            });
        }
        if let Some(renamed) = renamed {
            *member = Name::of(renamed, word);
        }
    }
    *map = Map::from_named(entries).map_err(|name| Error::NameTaken {
        name: name.into_text(),
        reason: "two keys mean this field",
    })?;
    Ok(())
}

const NESTED: [&str; 4] = ["content_refs", "embedding_refs", "related_to", "context"];

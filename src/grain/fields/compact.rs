//! Field compaction (OMS 6.12, 4.7): full names in programs and JSON, short keys in blobs.

use std::borrow::Cow;

use crate::codec::{Map, Value};

use super::Field;
use super::later;
use super::table::{
    ACTION_CONTENT_KEY, CONTENT_REF, EMBEDDING_REF, INTEGRATION, NestedField, RELATED_TO,
};
use crate::grain::{Error, Type};

/// Returns the entries of a payload under their short keys.
///
/// # Errors
/// `ERR_CORRUPT` for an application field named like a short key (ruling F4).
pub(in crate::grain) fn compact(
    of: Type,
    fields: &Map,
) -> Result<Vec<(&str, Cow<'_, Value>)>, Error> {
    let integration = is_integration(of, fields);
    let mut entries = Vec::with_capacity(fields.len());
    for (name, value) in fields.iter() {
        let key = match Field::named(name) {
            Some(field) if field.name == "content" && of == Type::Action => ACTION_CONTENT_KEY,
            Some(field) => field.key,
            None if is_kept_key(of, name) => name,
            None => match later::key_of(of, name) {
                Some(key) => key,
                None => unknown_name(name)?,
            },
        };
        entries.push((key, stored(name, value, integration)?));
    }
    Ok(entries)
}

/// Returns the value of one field as it sits in the payload (ruling S9).
pub(in crate::grain) fn stored_value<'a>(
    of: Type,
    fields: &'a Map,
    name: &str,
) -> Result<Option<Cow<'a, Value>>, Error> {
    let value = fields.get(name);
    let integration = is_integration(of, fields);
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
    let mut pairs = Vec::with_capacity(payload.len());
    for (key, value) in payload {
        let name = match (key.as_str(), of) {
            (ACTION_CONTENT_KEY, Type::Action) => "content".to_owned(),
            (ACTION_CONTENT_KEY, _) | ("content", Type::Action) => {
                return Err(Error::NameTaken {
                    name: key,
                    reason: "content is stored as cnt on Action grains, as content on others",
                });
            }
            _ if is_kept_key(of, &key) => key,
            _ => match Field::keyed(&key) {
                Some(field) => field.name.to_owned(),
                None if Field::named(&key).is_some() => {
                    return Err(Error::NameTaken {
                        name: key,
                        reason: "blobs store this field under its short key",
                    });
                }
                None => later::name_of(of, &key).map_or(key, str::to_owned),
            },
        };
        pairs.push((name, value));
    }
    // Names are distinct: the table is one-to-one and full names were refused above.
    let mut fields = Map::from_pairs(pairs).map_err(|name| Error::NameTaken {
        name,
        reason: "two keys mean this field",
    })?;
    let integration = is_integration(of, &fields);
    for name in NESTED {
        if let Some(nested) = nested_fields(name, integration)
            && let Some(value) = fields.get_mut(name)
        {
            rename(value, nested, Direction::Expand)?;
        }
    }
    Ok(fields)
}

/// Ruling F6: only a declared member of the profile has its context rewritten: an
/// application's own `ic` or `ib` key is not; the context of a State is never touched.
fn is_integration(of: Type, fields: &Map) -> bool {
    of != Type::State
        && fields
            .get("structural_tags")
            .is_some_and(|tags| tags.texts().any(|tag| tag == "profile:integration"))
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

fn unknown_name(name: &str) -> Result<&str, Error> {
    if name == ACTION_CONTENT_KEY || Field::keyed(name).is_some() {
        return Err(Error::NameTaken {
            name: name.to_owned(),
            reason: "it is the short key of a standard field",
        });
    }
    Ok(name)
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
    let mut pairs = Vec::with_capacity(map.len());
    for (member, value) in std::mem::take(map) {
        let renamed = nested.iter().find_map(|(name, key)| match to {
            Direction::Compact => (*name == member).then_some(*key),
            Direction::Expand => (*key == member).then_some(*name),
        });
        let taken = nested.iter().any(|(name, key)| match to {
            Direction::Compact => *key == member,
            Direction::Expand => *name == member,
        });
        if taken {
            return Err(Error::NameTaken {
                name: member,
                reason: "it is the other spelling of a nested field",
            });
        }
        pairs.push((renamed.map_or(member, str::to_owned), value));
    }
    *map = Map::from_pairs(pairs).map_err(|name| Error::NameTaken {
        name,
        reason: "two keys mean this field",
    })?;
    Ok(())
}

const NESTED: [&str; 4] = ["content_refs", "embedding_refs", "related_to", "context"];

//! The extension of this program, in an envelope or in a record: members that the schema has no place
//! for, and grains that are no memories.

use crate::codec::{Map, Profile, Value};
use crate::interchange::model::embedded_grain::{self, NAME, SIDES, Unpacked};
use crate::interchange::{Loss, Place};

use super::validate::{Level, Validator};

/// The extension of an envelope or a record.
#[derive(Default)]
pub(super) struct Extension {
    members: Option<Value>,
}

impl Extension {
    /// Takes the extension away.
    pub(super) fn take(map: &mut Map) -> Self {
        let Some(Value::Map(ext)) = map.get_mut("ext") else {
            return Self::default();
        };
        let members = ext.remove(NAME);
        if members.is_some() && ext.is_empty() {
            map.remove("ext");
        }
        Self { members }
    }

    /// Returns the extension, and leaves it where it is.
    pub(super) fn of(map: &Map) -> Self {
        let ext = map.get("ext").and_then(Value::as_map);
        Self {
            members: ext.and_then(|ext| ext.get(NAME)).cloned(),
        }
    }

    /// Returns the grains that stand here beside the records.
    pub(super) fn sides(&self, profile: Profile) -> Vec<Unpacked> {
        embedded_grain::unpack_sides(self.members.as_ref(), profile)
    }
}

/// Undoes what was done to the record as it came: puts the members back that were moved into the
/// extension, unless it has others by now, and removes those that say its ending here.
pub(super) fn restore(map: &mut Map) {
    let members = Extension::of(map).members;
    let members = members.as_ref().and_then(Value::as_map);
    let member = |name: &str| members.and_then(|members| members.get(name));
    let (kept, added) = (member(KEPT), member(ADDED));
    if kept.is_none() && added.is_none() {
        return;
    }
    // An extension of which nothing else is left was not the record's.
    if kept.is_some()
        || !["blob", SIDES]
            .into_iter()
            .any(|name| member(name).is_some())
    {
        Extension::take(map);
    }
    if let Some(Value::Map(added)) = added {
        remove(map, added);
    }
    let Some(Value::Map(kept)) = kept else {
        return;
    };
    for (name, value) in kept.iter() {
        let of = map.get(name).and_then(Value::as_array);
        let is_part = of.zip(value.as_array());
        let is_part = is_part.is_some_and(|(some, all)| some.iter().all(|item| all.contains(item)));
        if is_part || !map.contains(name) {
            map.insert(name, value.clone());
        }
    }
}

/// Removes members, and elements of arrays, as far as they still are what was added.
fn remove(map: &mut Map, added: &Map) {
    for (name, value) in added.iter() {
        match (map.get_mut(name), value) {
            (Some(Value::Array(items)), Value::Array(added)) => {
                items.retain(|item| !added.contains(item));
                if items.is_empty() {
                    map.remove(name);
                }
            }
            (Some(said), added) if said == added => drop(map.remove(name)),
            _ => {}
        }
    }
}

/// Adds a member, or an element of an array, to a record as it came, and notes it, so that the
/// record is known again without.
pub(super) fn add(map: &mut Map, name: &str, value: Value) {
    let value = match (map.get_mut(name), value) {
        (Some(Value::Array(items)), Value::Array(new)) => {
            items.extend(new.iter().cloned());
            Value::Array(new)
        }
        (_, value) => {
            map.insert(name, value.clone());
            value
        }
    };
    let Some(members) = extension(map) else {
        return;
    };
    if !members.contains(ADDED) {
        members.insert(ADDED, Map::new());
    }
    if let Some(Value::Map(added)) = members.get_mut(ADDED) {
        match (added.get_mut(name), value) {
            (Some(Value::Array(items)), Value::Array(new)) => items.extend(new),
            (_, value) => drop(added.insert(name, value)),
        }
    }
}

/// Returns the extension of a record or an envelope that is being written.
pub(super) fn extension(map: &mut Map) -> Option<&mut Map> {
    if !matches!(map.get("ext"), Some(Value::Map(_))) {
        map.insert("ext", Map::new());
    }
    let Some(Value::Map(ext)) = map.get_mut("ext") else {
        return None;
    };
    if !matches!(ext.get(NAME), Some(Value::Map(_))) {
        ext.insert(NAME, Map::new());
    }
    match ext.get_mut(NAME) {
        Some(Value::Map(members)) => Some(members),
        _ => None,
    }
}

/// Adds a grain beside a record.
pub(super) fn add_side(map: &mut Map, packed: Map) {
    let Some(members) = extension(map) else {
        return;
    };
    if let Some(Value::Array(sides)) = members.get_mut(SIDES) {
        sides.push(Value::Map(packed));
    } else {
        members.insert(SIDES, vec![Value::Map(packed)]);
    }
}

/// Moves the members of a record that the schema refuses into the extension, and counts them: an
/// import accepts more than the schema, and a file is read by others. Of an array the elements
/// stay that are valid.
pub(super) fn settle(map: &mut Map, loss: &mut Loss, validate: impl Fn(&mut Validator, &Map)) {
    let mut kept = Map::new();
    for name in refused(map, &validate) {
        let Some(value) = map.remove(&name) else {
            continue;
        };
        loss.count(&format!("{name}: kept in the extension"));
        if let Value::Array(items) = &value {
            let is_valid = |item: &&Value| {
                let mut one = map.clone();
                one.insert(&name, vec![(*item).clone()]);
                !refused(&one, &validate).contains(&name)
            };
            let valid: Vec<Value> = items.iter().filter(is_valid).cloned().collect();
            if !valid.is_empty() {
                map.insert(&name, valid);
            }
        }
        kept.insert(name, value);
    }
    if !kept.is_empty()
        && let Some(members) = extension(map)
    {
        members.insert(KEPT, kept);
    }
}

/// Returns the names of the members that the schema of L0 refuses.
fn refused(map: &Map, validate: &impl Fn(&mut Validator, &Map)) -> Vec<String> {
    let mut validator = Validator::new(Some(Level::L0));
    validate(&mut validator, map);
    let names = validator
        .faults
        .iter()
        .filter_map(|error| match error.place() {
            Place::Pointer(at) => at.split('/').nth(1).map(str::to_owned),
            _ => None,
        });
    let mut names: Vec<String> = names.collect();
    names.dedup();
    names
}

/// The member with what was added to a record as it came.
const ADDED: &str = "added";
/// The member with what the schema has no place for.
const KEPT: &str = "kept";

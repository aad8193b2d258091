//! Records of a store, each judged by itself.

use crate::codec::Value;
use crate::grain::Time;
use crate::interchange::{Error, strict};

use super::conversation::Entry;
use super::memory::Memory;
use super::object::{Object, fault};
use super::relation::Relation;
use super::schema::Shape;
use super::shapes::{ENTRY, MEMORY, RELATION};
use super::{code, judge};

/// What a record comes to.
pub(super) struct Seen<T> {
    pub(super) read: Result<T, Error>,
    /// Integers that no checksum can tell apart.
    pub(super) wide: Vec<Error>,
    /// What breaks a rule of the schema.
    pub(super) schema: Vec<Error>,
    /// What breaks another rule that no grain depends on.
    pub(super) rules: Vec<Error>,
}

/// What others may ask of a memory.
pub(super) struct SeenMemory {
    pub(super) id: String,
    pub(super) created_at: Time,
    pub(super) superseded_by: Option<String>,
    pub(super) conversation: Option<String>,
}

/// What others may ask of an entry of the index.
pub(super) struct SeenEntry {
    pub(super) id: String,
    pub(super) derived: Vec<String>,
}

/// What a relation asks of others.
pub(super) struct SeenRelation {
    pub(super) id: String,
    pub(super) from: String,
    pub(super) to: String,
}

pub(super) fn memory(value: &Value, at: &str) -> Seen<SeenMemory> {
    let mut seen = see(value, at, &MEMORY, |object| {
        let memory = Memory::read(object)?;
        Ok(SeenMemory {
            id: memory.id.to_owned(),
            created_at: memory.created_at,
            superseded_by: memory.superseded_by.map(str::to_owned),
            conversation: memory.conversation_ref.map(str::to_owned),
        })
    });
    judge::memory(value, at, &mut seen.rules);
    seen
}

pub(super) fn entry(value: &Value, at: &str) -> Seen<SeenEntry> {
    let mut seen = see(value, at, &ENTRY, |object| {
        let derived = object.get("derived_memories").into_iter();
        let derived = derived.flat_map(Value::texts).map(str::to_owned).collect();
        let id = Entry::read(object)?.id.to_owned();
        Ok(SeenEntry { id, derived })
    });
    judge::entry(value, at, &mut seen.rules);
    seen
}

pub(super) fn relation(value: &Value, at: &str) -> Seen<SeenRelation> {
    see(value, at, &RELATION, |object| {
        let relation = Relation::read(object)?;
        Ok(SeenRelation {
            id: relation.id.to_owned(),
            from: relation.from.to_owned(),
            to: relation.to.to_owned(),
        })
    })
}

fn see<'v, T>(
    value: &'v Value,
    at: &str,
    shape: &Shape,
    read: impl FnOnce(Object<'v>) -> Result<T, Error>,
) -> Seen<T> {
    let wide = strict::wide_integers(value);
    let wide = wide.map(|inside| fault(code::JSON, format!("{at}{inside}"), strict::WIDE));
    let mut schema = Vec::new();
    shape.judge(value, at, &mut schema);
    Seen {
        read: Object::new(value, at.to_owned()).and_then(read),
        wide: wide.collect(),
        schema,
        rules: Vec::new(),
    }
}

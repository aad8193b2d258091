//! The records of a store, each validated by itself.

use crate::codec::Value;
use crate::grain::Time;
use crate::interchange::formats::shape::Shape;
use crate::interchange::json::strict;
use crate::interchange::{Diagnostics, Error};

use super::super::code;
use super::super::schema::tables::{ENTRY, MEMORY, RELATION};
use super::super::schema::validate;
use super::super::types::conversation::IndexEntry;
use super::super::types::memory::Memory;
use super::super::types::object::{Object, fault, reported};
use super::super::types::relation::Relation;

/// The result of validating a record.
pub(crate) struct Validated<T> {
    pub(crate) read: Result<T, Error>,
    /// Integers that two checksums could not tell apart.
    pub(crate) wide: Vec<Error>,
    /// Violations of the schema.
    pub(crate) schema: Diagnostics,
    /// Violations of other rules that no grain depends on.
    pub(crate) rules: Diagnostics,
}

/// The members of a memory that other records depend on.
pub(crate) struct ValidatedMemory {
    pub(crate) id: String,
    pub(crate) created_at: Time,
    pub(crate) superseded_by: Option<String>,
    pub(crate) conversation: Option<String>,
}

/// The members of an index entry that other records depend on.
pub(crate) struct ValidatedEntry {
    pub(crate) id: String,
    pub(crate) derived: Vec<String>,
}

/// The members of a relation that depend on other records.
pub(crate) struct ValidatedRelation {
    pub(crate) id: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

pub(crate) fn memory(value: &Value, at: &str) -> Validated<ValidatedMemory> {
    let mut validated = validate_record(value, at, &MEMORY, |object| {
        let memory = Memory::read(object)?;
        Ok(ValidatedMemory {
            id: memory.id.to_owned(),
            created_at: memory.created_at,
            superseded_by: memory.superseded_by.map(str::to_owned),
            conversation: memory.conversation_ref.map(str::to_owned),
        })
    });
    validate::memory(value, at, &mut validated.rules);
    validated
}

pub(crate) fn entry(value: &Value, at: &str) -> Validated<ValidatedEntry> {
    let mut validated = validate_record(value, at, &ENTRY, |object| {
        let derived = object.get("derived_memories").into_iter();
        let derived = derived.flat_map(Value::texts).map(str::to_owned).collect();
        let id = IndexEntry::read(object)?.id.to_owned();
        Ok(ValidatedEntry { id, derived })
    });
    validate::entry(value, at, &mut validated.rules);
    validated
}

pub(crate) fn relation(value: &Value, at: &str) -> Validated<ValidatedRelation> {
    validate_record(value, at, &RELATION, |object| {
        let relation = Relation::read(object)?;
        Ok(ValidatedRelation {
            id: relation.id.to_owned(),
            from: relation.from.to_owned(),
            to: relation.to.to_owned(),
        })
    })
}

fn validate_record<'v, T>(
    value: &'v Value,
    at: &str,
    shape: &Shape,
    read: impl FnOnce(Object<'v>) -> Result<T, Error>,
) -> Validated<T> {
    let wide = strict::wide_integers(value);
    let wide = wide.map(|inside| fault(code::JSON, format!("{at}{inside}"), strict::WIDE));
    let mut schema = Diagnostics::default();
    shape.validate(value, at, &mut reported(&mut schema));
    Validated {
        read: Object::new(value, at.to_owned()).and_then(read),
        wide: wide.collect(),
        schema,
        rules: Diagnostics::default(),
    }
}

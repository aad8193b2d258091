//! Building memories, whose grains depend on the memories that they replace.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Value};
use crate::grain::Time;
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::{Error, Record};

use super::super::code;
use super::super::types::memory::{Ending, Memory};
use super::super::types::object::{Object, fault};
use super::build::RecordBuilder;
use super::validation_pass::ValidationIndex;

/// A memory that is being built.
pub(crate) enum BuildStep {
    Now(Box<Result<BuiltMemory, Error>>),
    /// The memories it replaces must be built first.
    Later(Value),
}

pub(crate) struct BuiltMemory {
    pub(crate) record: Record,
    pub(crate) ending: Ending,
    /// The number of the memory that replaces it.
    pub(crate) by: Option<usize>,
    pub(crate) non_fatal: Option<Error>,
    /// The embedding that it names, and its own id.
    pub(crate) embedding: Option<(String, String)>,
    /// The grains that stand beside it: relations, entities, envelopes of other formats.
    pub(crate) sides: Vec<Record>,
}

/// The memories that the first pass built.
#[derive(Default)]
pub(crate) struct BuiltMemories {
    /// The grains of the memories by their numbers.
    pub(crate) addresses: Vec<ContentAddress>,
    /// The creation times of those that replace others.
    pub(crate) created: HashMap<usize, Time>,
}

/// The parts of a store that the grains of memories depend on.
pub(crate) struct MemoryBuilder<'a> {
    pub(crate) builder: &'a RecordBuilder<'a>,
    pub(crate) index: &'a ValidationIndex,
    pub(crate) messages: &'a CompactTable<ContentAddress>,
    pub(crate) read_conversations: &'a CompactTable<()>,
}

impl MemoryBuilder<'_> {
    pub(crate) fn memory(
        &self,
        value: &Value,
        number: usize,
        replaced: Vec<ContentAddress>,
    ) -> Result<BuiltMemory, Error> {
        let memory = Memory::read(Object::new(value, format!("/memories/{number}"))?)?;
        let message = match (memory.conversation_ref, memory.message_ref) {
            (Some(conversation), Some(message)) => {
                let key = self.messages.key((conversation, message));
                self.messages.get(key).copied()
            }
            _ => None,
        };
        let is_read = |conversation| {
            let key = self.read_conversations.key(conversation);
            self.read_conversations.get(key).is_some()
        };
        let is_missing = memory.message_ref.is_some()
            && message.is_none()
            && memory.conversation_ref.is_some_and(is_read);
        let non_fatal = is_missing.then(|| {
            let at = format!("{}/provenance/message_ref", memory.object.at);
            let message = "no message of the conversation has this id";
            fault(code::CONVERSATION_REF, at, message)
        });
        let by = memory.superseded_by;
        let by = by.and_then(|id| self.index.number(id));
        let embedding = memory.object.get("embedding_ref").and_then(Value::as_text);
        let record = self
            .builder
            .memory(&memory, replaced, message, by.is_none())?;
        let sides = match record.foreign_id {
            Some(_) => Vec::new(),
            None => memory.sides(self.builder.profile),
        };
        let sides = sides.into_iter();
        let sides = sides.map(|side| side.into_record(record.place.clone()));
        Ok(BuiltMemory {
            sides: sides.collect(),
            record,
            ending: memory.ending(),
            by,
            non_fatal,
            embedding: embedding.map(|id| (id.to_owned(), memory.id.to_owned())),
        })
    }
}

//! Memories on their way into grains.

use crate::codec::{ContentAddress, Value};
use crate::interchange::model::compact_table::Table;
use crate::interchange::{Error, Record};

use super::super::code;
use super::super::types::memory::{Ending, Memory};
use super::super::types::object::{Object, fault};
use super::build::Maker;
use super::validation_pass::Survey;

/// A memory on its way into a grain.
pub(in crate::interchange) enum Made {
    Now(Box<Result<MadeMemory, Error>>),
    /// What it replaces must be known first.
    Later(Value),
}

pub(in crate::interchange) struct MadeMemory {
    pub(in crate::interchange) record: Record,
    pub(in crate::interchange) ending: Ending,
    /// The number of the memory that replaces it.
    pub(in crate::interchange) by: Option<usize>,
    pub(in crate::interchange) minded: Option<Error>,
    /// The embedding that it names, and its own id.
    pub(in crate::interchange) embedding: Option<(String, String)>,
}

/// What the grains of memories are made of, beside what they replace.
pub(in crate::interchange) struct Source<'a> {
    pub(in crate::interchange) maker: &'a Maker<'a>,
    pub(in crate::interchange) survey: &'a Survey,
    pub(in crate::interchange) messages: &'a Table<ContentAddress>,
    pub(in crate::interchange) talks_read: &'a Table<()>,
}

impl Source<'_> {
    pub(in crate::interchange) fn memory(
        &self,
        value: &Value,
        number: usize,
        replaced: Vec<ContentAddress>,
    ) -> Result<MadeMemory, Error> {
        let memory = Memory::read(Object::new(value, format!("/memories/{number}"))?)?;
        let message = match (memory.conversation_ref, memory.message_ref) {
            (Some(conversation), Some(message)) => {
                let key = self.messages.key((conversation, message));
                self.messages.get(key).copied()
            }
            _ => None,
        };
        let is_read = |conversation| {
            let key = self.talks_read.key(conversation);
            self.talks_read.get(key).is_some()
        };
        let is_missing = memory.message_ref.is_some()
            && message.is_none()
            && memory.conversation_ref.is_some_and(is_read);
        let minded = is_missing.then(|| {
            let at = format!("{}/provenance/message_ref", memory.object.at);
            let message = "no message of the conversation has this id";
            fault(code::CONVERSATION_REF, at, message)
        });
        let by = memory.superseded_by;
        let by = by.and_then(|id| self.survey.number(id));
        let embedding = memory.object.get("embedding_ref").and_then(Value::as_text);
        Ok(MadeMemory {
            record: self
                .maker
                .memory(&memory, replaced, message, by.is_none())?,
            ending: memory.ending(),
            by,
            minded,
            embedding: embedding.map(|id| (id.to_owned(), memory.id.to_owned())),
        })
    }
}

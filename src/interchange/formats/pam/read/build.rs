//! Building the grains of a store, one record at a time.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::grain::{Draft, ENVELOPE_TAG, Time, Warning};
use crate::interchange::{Error, ForeignId, Place, Record};

use super::super::names::{ARRAYS, EXPORT};
use super::super::types::conversation::{Conversation, IndexEntry};
use super::super::types::memory::{Memory, Status};
use super::super::types::message::Message;
use super::super::types::owner::Owner;
use super::super::types::relation::Relation;
use super::super::types::residual::{RESIDUAL, residual_without};

/// The formats of ids.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) memory: &'static str,
    conversation: &'static str,
    message: &'static str,
}

impl Names {
    /// The formats of the ids of PAM itself.
    pub(crate) const PAM: Self = Self::new("pam", "pam:conversation", "pam:message");

    /// Names the formats of ids.
    pub(crate) const fn new(
        memory: &'static str,
        conversation: &'static str,
        message: &'static str,
    ) -> Self {
        Self {
            memory,
            conversation,
            message,
        }
    }
}

/// The parts of a store that grains depend on beside their records.
pub(crate) struct RecordBuilder<'a> {
    pub(crate) owner: Owner<'a>,
    pub(crate) version: &'a str,
    pub(crate) names: Names,
    pub(crate) profile: Profile,
}

/// The records of a conversation.
pub(crate) struct BuiltConversation {
    /// Its messages with their ids, each after the one it answers; of a PAM file all or none.
    pub(crate) messages: Vec<(String, Record)>,
    /// Its State; `None` of turns that came in no file, which have none.
    pub(crate) whole: Option<Result<Record, Error>>,
    /// The reason why its messages are missing.
    pub(crate) fault: Option<Error>,
    /// Why a message of a foreign export is none of them.
    pub(crate) lost: Vec<Error>,
}

impl RecordBuilder<'_> {
    /// Builds the State of an export: the envelope of the file.
    pub(crate) fn envelope(
        &self,
        root: &Map,
        created_at: Time,
        export_id: Option<&str>,
    ) -> Result<Record, Error> {
        let context: Map = [(RESIDUAL, residual_without(root, &ARRAYS))]
            .into_iter()
            .collect();
        let draft = self.owner.mark(Draft::state(context));
        let draft = draft.created_at(created_at).tag(ENVELOPE_TAG);
        let draft = draft.source("imported");
        let mut record = self.finish(draft, Place::File)?;
        record.foreign_id = export_id.map(|id| self.foreign_id(EXPORT, id));
        Ok(record)
    }

    /// Builds the grains of a conversation, and of the document with its messages, if there is one;
    /// `at` is the prefix of its places.
    pub(crate) fn conversation(
        &self,
        entry: &IndexEntry<'_>,
        document: Option<(&Value, &str)>,
    ) -> BuiltConversation {
        let (mut messages, mut read, mut fault) = (Vec::new(), None, None);
        let mut lost = Vec::new();
        if let Some((value, at)) = document {
            let built =
                Conversation::read(value, at, entry, self.version).and_then(|conversation| {
                    Ok((self.events(entry, &conversation, &mut lost)?, conversation))
                });
            match built {
                Ok((built, conversation)) => {
                    messages = built;
                    read = Some(conversation);
                }
                Err(error) => fault = Some(error),
            }
        }
        // A whole grain has no id of this file.
        let is_own = |(_, record): &(String, Record)| record.foreign_id.is_none();
        if !messages.is_empty() && messages.iter().all(is_own) {
            return BuiltConversation {
                messages,
                whole: None,
                fault,
                lost,
            };
        }
        let tail = read.as_ref().and_then(|document| document.tail);
        let tail = messages.iter().find(|(id, _)| Some(id.as_str()) == tail);
        let tail = tail.map(|(_, record)| Value::from(record.grain.address()));
        let draft = entry.draft(&self.owner, read.as_ref(), tail);
        let whole = self.finish(draft, Place::Pointer(entry.object.at.clone()));
        let whole = whole.map(|mut record| {
            record.foreign_id = Some(self.foreign_id(self.names.conversation, entry.id));
            record
        });
        BuiltConversation {
            messages,
            whole: Some(whole),
            fault,
            lost,
        }
    }

    fn events(
        &self,
        entry: &IndexEntry<'_>,
        conversation: &Conversation<'_>,
        lost: &mut Vec<Error>,
    ) -> Result<Vec<(String, Record)>, Error> {
        let mut addresses: HashMap<&str, ContentAddress> = HashMap::new();
        let mut records = Vec::with_capacity(conversation.messages.len());
        let mut answers = answers_by_parent(conversation);
        // Message ids are unique within their conversation only.
        let scope = Value::from(vec![self.owner.id, entry.id]).to_json();
        for message in &conversation.messages {
            if let Some(record) = self.own_turn(message) {
                addresses.insert(message.id, record.grain.address());
                records.push((message.id.to_owned(), record));
                continue;
            }
            let parent = message.parent_id.and_then(|id| addresses.get(id).copied());
            let platform = conversation.platform;
            let answers = answers.remove(message.id).unwrap_or_default();
            let draft = message.draft(&self.owner, entry.id, platform, parent, &answers)?;
            let place = Place::Pointer(message.object.at.clone());
            let mut record = match self.finish(draft, place) {
                Ok(record) => record,
                // One of a foreign export that is larger than a grain costs no other. The answers to it
                // answer what it answered.
                Err(error) if self.names.message != Names::PAM.message => {
                    addresses.extend(parent.map(|parent| (message.id, parent)));
                    lost.push(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            addresses.insert(message.id, record.grain.address());
            record.foreign_id = Some(ForeignId::new(
                self.names.message,
                scope.as_str(),
                message.id,
            ));
            records.push((message.id.to_owned(), record));
        }
        Ok(records)
    }

    /// Returns the turn that a message of an own file embeds.
    fn own_turn(&self, message: &Message<'_>) -> Option<Record> {
        if self.names.message != Names::PAM.message {
            return None;
        }
        let unpacked = message.unpack(self.profile)?;
        let place = Place::Pointer(message.object.at.clone());
        Some(unpacked.into_record(place))
    }

    /// Builds the grain of a memory, without the status that depends on its replacement.
    /// `is_elsewhere`: the replacement that it names is not in this file.
    pub(crate) fn memory(
        &self,
        memory: &Memory<'_>,
        replaced: Vec<ContentAddress>,
        message: Option<ContentAddress>,
        is_elsewhere: bool,
    ) -> Result<Record, Error> {
        let place = Place::Pointer(memory.object.at.clone());
        if let Some(unpacked) = memory.unpack(self.profile) {
            return Ok(unpacked.into_record(place));
        }
        let draft = memory.draft(&self.owner, replaced.into_iter(), message);
        let mut record = self.finish(draft, place)?;
        record.foreign_id = Some(self.foreign_id(self.names.memory, memory.id));
        record.exportable = memory.exportable;
        let replacement = memory.superseded_by;
        let replacement =
            replacement.filter(|_| memory.status == Status::Superseded && is_elsewhere);
        record.replaced_by = replacement.map(|id| self.foreign_id(self.names.memory, id));
        if (memory.status == Status::Superseded) != memory.superseded_by.is_some() {
            record.warnings.push(Warning {
                field: "status".into(),
                message: "superseded and superseded_by come without each other (PAM 7)".into(),
            });
        }
        Ok(record)
    }

    pub(crate) fn relation(
        &self,
        relation: &Relation<'_>,
        ends: [Option<ContentAddress>; 2],
    ) -> Result<Record, Error> {
        let draft = relation.draft(&self.owner, ends);
        let mut record = self.finish(draft, Place::Pointer(relation.object.at.clone()))?;
        record.foreign_id = Some(self.foreign_id("pam:relation", relation.id));
        Ok(record)
    }

    pub(crate) fn foreign_id(&self, format: &'static str, id: &str) -> ForeignId {
        ForeignId::new(format, self.owner.id, id)
    }

    fn finish(&self, draft: Draft, place: Place) -> Result<Record, Error> {
        Record::finish(draft, self.profile, place)
    }
}

/// Returns the ids of the answers to each message; none where no message lists them, since nothing then asks.
fn answers_by_parent<'a>(conversation: &Conversation<'a>) -> HashMap<&'a str, Vec<&'a str>> {
    let mut answers: HashMap<&str, Vec<&str>> = HashMap::new();
    let messages = &conversation.messages;
    if messages
        .iter()
        .any(|it| it.object.map.contains("children_ids"))
    {
        for message in messages {
            if let Some(parent) = message.parent_id {
                answers.entry(parent).or_default().push(message.id);
            }
        }
    }
    answers
}

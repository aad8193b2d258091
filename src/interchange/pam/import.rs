use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Draft, StatusChange, Time, Warning};
use crate::interchange::{Error, ForeignId, Loss, Place, Record};

use super::conversation::{Conversation, Entry, Storage};
use super::document::Document;
use super::memory::{Memory, Status};
use super::object::fault;
use super::packed::{Packed, read_packed};
use super::residual::{RESIDUAL, residual_without};
use super::storage::read_below;
use super::{Import, Options, code, judge, parse};

/// Makes the grains of a document that has been checked.
///
/// # Errors
/// Memories and relations that do not fit a grain, all of them.
pub(super) fn import(
    document: &Document<'_>,
    talks: Talks<'_>,
    names: Names,
    options: &Options,
    findings: Vec<Error>,
) -> Result<Import, Vec<Error>> {
    let mut importer = Importer {
        document,
        talks,
        names,
        options,
        records: Vec::new(),
        findings,
        loss: Loss::default(),
        minded: Vec::new(),
        talks_read: HashSet::new(),
        messages: HashMap::new(),
    };
    let mut faults = Vec::new();
    // What was made for the purpose has no envelope that anybody wrote.
    if !matches!(talks, Talks::Made(_) | Talks::Alone(_))
        && let Err(error) = importer.envelope()
    {
        faults.push(error);
    }
    for entry in &document.entries {
        if let Err(error) = importer.conversation(entry) {
            faults.push(error);
        }
    }
    let addresses = importer.memories(&mut faults);
    // What somebody else's export says and no grain can hold keeps the rest of it not out.
    if matches!(talks, Talks::Made(_)) {
        for fault in faults.drain(..) {
            importer.findings.push(fault);
            importer.loss.count("memory");
        }
    }
    importer.relations(&addresses, &mut faults);
    let vectors = importer.vectors(&addresses);
    let minded = std::mem::take(&mut importer.minded);
    judge::mind(minded, options, &mut faults, &mut importer.findings);
    if !faults.is_empty() {
        return Err(faults);
    }
    let base = document.base;
    let base = base.map(|id| importer.foreign_id(super::EXPORT, id));
    Ok(Import {
        records: importer.records,
        findings: importer.findings,
        loss: importer.loss,
        vectors,
        base,
        signature: document.signature,
    })
}

/// Where the documents of conversations are.
#[derive(Clone, Copy)]
pub(super) enum Talks<'a> {
    /// Nowhere that can be read.
    Nowhere,
    /// In files below a directory.
    Below(&'a Path),
    /// In the archive that the store came in.
    Packed(&'a Packed),
    /// Here, by the id of the conversation.
    Made(&'a HashMap<String, Value>),
    /// Here: there is only this one.
    Alone(&'a Value),
}

/// What the ids of records are told apart by, beside their scope.
#[derive(Debug, Clone, Copy)]
pub(in crate::interchange) struct Names {
    pub(super) memory: &'static str,
    conversation: &'static str,
    message: &'static str,
}

impl Names {
    /// What the ids of PAM itself are told apart by.
    pub(super) const PAM: Self = Self::new("pam", "pam:conversation", "pam:message");

    /// Names the formats of ids.
    pub(in crate::interchange) const fn new(
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

pub(super) struct Importer<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) talks: Talks<'a>,
    pub(super) names: Names,
    options: &'a Options,
    records: Vec<Record>,
    pub(super) findings: Vec<Error>,
    pub(super) loss: Loss,
    /// What is wrong without being a reason to refuse the rest, unless everything is held to.
    pub(super) minded: Vec<Error>,
    /// The conversations whose messages are among the records.
    talks_read: HashSet<String>,
    /// The address of a message, by conversation and id.
    messages: HashMap<(String, String), ContentAddress>,
}

impl<'a> Importer<'a> {
    /// One State per export: what the file says beside its records.
    fn envelope(&mut self) -> Result<(), Error> {
        let document = self.document;
        let arrays = ["memories", "relations", "conversations_index"];
        let residual = residual_without(document.root.map, &arrays);
        let context: Map = [(RESIDUAL, residual)].into_iter().collect();
        let latest = document
            .memories
            .iter()
            .map(|memory| memory.created_at)
            .max();
        let time = document
            .export_date
            .or(document.owner.created_at)
            .or(latest);
        let draft = document
            .owner
            .mark(Draft::state(context))
            .created_at(time.unwrap_or_default())
            .source("imported");
        let mut record = self.finish(draft, Place::File)?;
        let id = document.export_id;
        record.foreign_id = id.map(|id| self.foreign_id(super::EXPORT, id));
        self.records.push(record);
        Ok(())
    }

    fn conversation(&mut self, entry: &Entry<'a>) -> Result<(), Error> {
        let value;
        let mut document = None;
        if let Talks::Made(made) = self.talks {
            if let Some(value) = made.get(entry.id) {
                document = self.messages_of(entry, &format!("{}#", entry.id), value);
            }
        } else if let Talks::Alone(value) = self.talks {
            document = self.messages_of(entry, "", value);
        } else if let Some(storage) = &entry.storage {
            // What cannot be had is counted, and the rest of the store is read without it.
            match self.load(storage) {
                Ok(Some((name, loaded))) => {
                    value = loaded;
                    document = self.messages_of(entry, &format!("{name}#"), &value);
                }
                Ok(None) => self.loss.count(STORAGE),
                Err(error) => self.lose(error),
            }
        }
        let tail = document.as_ref().and_then(|document| document.tail);
        let tail = tail.and_then(|tail| self.message(entry.id, tail));
        let draft = entry.draft(
            &self.document.owner,
            document.as_ref(),
            tail.map(Value::from),
        );
        let mut record = self.finish(draft, Place::Pointer(entry.object.at.clone()))?;
        record.foreign_id = Some(self.foreign_id(self.names.conversation, entry.id));
        self.records.push(record);
        Ok(())
    }

    fn load<'s>(&self, storage: &Storage<'s>) -> Result<Option<(&'s str, Value)>, Error> {
        let Storage::File { reference, at } = storage else {
            return Ok(None);
        };
        let value = match self.talks {
            Talks::Below(folder) => parse(&read_below(folder, reference, at)?, reference),
            Talks::Packed(packed) => parse(read_packed(packed, reference, at)?, reference),
            Talks::Nowhere | Talks::Made(_) | Talks::Alone(_) => return Ok(None),
        };
        value.map(|value| Some((*reference, value)))
    }

    /// Makes the grains of a conversation's messages, of all or of none.
    fn messages_of<'v>(
        &mut self,
        entry: &Entry<'_>,
        at: &str,
        value: &'v Value,
    ) -> Option<Conversation<'v>> {
        let read = Conversation::read(value, at, entry, self.document.version);
        let made = read.and_then(|conversation| {
            let records = self.events(entry, &conversation)?;
            Ok((conversation, records))
        });
        let read = match made {
            Ok((conversation, records)) => {
                self.talks_read.insert(entry.id.to_owned());
                for (message, record) in conversation.messages.iter().zip(&records) {
                    let key = (entry.id.to_owned(), message.id.to_owned());
                    self.messages.insert(key, record.grain.address());
                }
                self.records.extend(records);
                Some(conversation)
            }
            Err(error) => {
                self.lose(error);
                None
            }
        };
        // What was made here keeps the rules, as the tests of its maker show.
        if !matches!(self.talks, Talks::Made(_)) {
            judge::conversation(value, at, &mut self.minded);
        }
        read
    }

    fn events(
        &self,
        entry: &Entry<'_>,
        conversation: &Conversation<'_>,
    ) -> Result<Vec<Record>, Error> {
        let mut addresses: HashMap<&str, ContentAddress> = HashMap::new();
        let mut records = Vec::new();
        let owner = &self.document.owner;
        // Message ids are unique within their conversation only.
        let scope = Value::from(vec![owner.id, entry.id]).to_json();
        for message in &conversation.messages {
            let parent = message.parent_id.and_then(|id| addresses.get(id).copied());
            let draft = message.draft(owner, entry.id, conversation.platform, parent)?;
            let mut record = self.finish(draft, Place::Pointer(message.object.at.clone()))?;
            addresses.insert(message.id, record.grain.address());
            record.foreign_id = Some(ForeignId {
                format: self.names.message,
                scope: scope.clone(),
                id: message.id.to_owned(),
            });
            records.push(record);
        }
        Ok(records)
    }

    /// Returns the addresses of the memories by their numbers in the file.
    fn memories(&mut self, faults: &mut Vec<Error>) -> Vec<Option<ContentAddress>> {
        let document = self.document;
        let mut addresses = vec![None; document.memories.len()];
        let mut replaces: Vec<Vec<ContentAddress>> = vec![Vec::new(); document.memories.len()];
        let mut places = Vec::new();
        for number in &document.order {
            let Some(memory) = document.memories.get(*number) else {
                continue;
            };
            let replaced = replaces
                .get_mut(*number)
                .map(std::mem::take)
                .unwrap_or_default();
            let record = match self.memory(memory, replaced) {
                Ok(record) => record,
                Err(error) => {
                    faults.push(error);
                    continue;
                }
            };
            let address = record.grain.address();
            if let Some(slot) = addresses.get_mut(*number) {
                *slot = Some(address);
            }
            let replacement = memory.superseded_by.and_then(|id| document.numbers.get(id));
            if let Some(list) = replacement.and_then(|number| replaces.get_mut(*number)) {
                list.push(address);
            }
            places.push((self.records.len(), memory, replacement));
            self.records.push(record);
        }
        // The address of a replacement is known only once it has been made.
        for (place, memory, replacement) in places {
            let address = replacement.and_then(|number| addresses.get(*number).copied().flatten());
            let replacement = replacement.and_then(|number| document.memories.get(*number));
            // A whole grain brings its own status.
            if let Some(record) = self.records.get_mut(place)
                && record.foreign_id.is_some()
            {
                record.status = status(document, memory, replacement, address);
            }
        }
        addresses
    }

    fn memory(
        &mut self,
        memory: &Memory<'_>,
        replaced: Vec<ContentAddress>,
    ) -> Result<Record, Error> {
        let message = match (memory.conversation_ref, memory.message_ref) {
            (Some(conversation), Some(message)) => self.message(conversation, message),
            _ => None,
        };
        let is_read = |conversation| self.talks_read.contains(conversation);
        if memory.message_ref.is_some()
            && message.is_none()
            && memory.conversation_ref.is_some_and(is_read)
        {
            let at = format!("{}/provenance/message_ref", memory.object.at);
            let message = "no message of the conversation has this id";
            self.minded.push(fault(code::CONVERSATION_REF, at, message));
        }
        let place = Place::Pointer(memory.object.at.clone());
        if let Some(unpacked) = memory.unpack(self.options.profile) {
            return Ok(Record {
                status: unpacked.status,
                warnings: unpacked.warnings,
                ..Record::new(unpacked.grain, place)
            });
        }
        let draft = memory.draft(&self.document.owner, replaced.into_iter(), message);
        let mut record = self.finish(draft, place)?;
        record.foreign_id = Some(self.foreign_id(self.names.memory, memory.id));
        record.exportable = memory.exportable;
        let replacement = memory.superseded_by.filter(|id| {
            memory.status == Status::Superseded && !self.document.numbers.contains_key(id)
        });
        record.replaced_by = replacement.map(|id| self.foreign_id(self.names.memory, id));
        if (memory.status == Status::Superseded) != memory.superseded_by.is_some() {
            record.warnings.push(Warning {
                field: "status".into(),
                message: "superseded and superseded_by come without each other (PAM 7)",
            });
        }
        Ok(record)
    }

    fn relations(&mut self, addresses: &[Option<ContentAddress>], faults: &mut Vec<Error>) {
        let document = self.document;
        for relation in &document.relations {
            let end = |id| addresses.get(*document.numbers.get(id)?).copied().flatten();
            let draft = relation.draft(&document.owner, [end(relation.from), end(relation.to)]);
            match self.finish(draft, Place::Pointer(relation.object.at.clone())) {
                Ok(mut record) => {
                    record.foreign_id = Some(self.foreign_id("pam:relation", relation.id));
                    self.records.push(record);
                }
                Err(error) => faults.push(error),
            }
        }
    }

    fn finish(&self, draft: Draft, place: Place) -> Result<Record, Error> {
        Record::finish(draft, self.options.profile, place)
    }

    fn message(&self, conversation: &str, id: &str) -> Option<ContentAddress> {
        let key = (conversation.to_owned(), id.to_owned());
        self.messages.get(&key).copied()
    }

    pub(super) fn foreign_id(&self, format: &'static str, id: &str) -> ForeignId {
        ForeignId {
            format,
            scope: self.document.owner.id.to_owned(),
            id: id.to_owned(),
        }
    }

    fn lose(&mut self, error: Error) {
        match error {
            // A file that did not come along breaks no rule.
            Error::Io { .. } => self.findings.push(error),
            _ => self.minded.push(error),
        }
        self.loss.count(STORAGE);
    }
}

/// A memory that does not say since when it is not current was not at the time of the export.
fn status(
    document: &Document<'_>,
    memory: &Memory<'_>,
    replacement: Option<&Memory<'_>>,
    address: Option<ContentAddress>,
) -> StatusChange {
    let end: Option<Time> = replacement.map(|replacement| replacement.created_at);
    let end = end.or(document.export_date).unwrap_or(memory.created_at);
    memory.status_change(address, end)
}

/// What a conversation that was not read is counted under.
const STORAGE: &str = "conversations_index.storage";

//! Grains of conversations and memories that another reader has converted to the form of PAM.

use crate::codec::{Map, Profile, Value};
use crate::interchange::{Diagnostics, Error, Place, Record};

use super::super::code;
use super::super::names::{CONVERSATION_LOSS, MESSAGE_LOSS, SCHEMA};
use super::super::types::conversation::IndexEntry;
use super::super::types::head::Head;
use super::super::types::memory::Memory;
use super::super::types::object::{Object, fault};
use super::build::{BuiltConversation, Names, RecordBuilder};
use super::validated::{self, Validated};

/// Builds the grains of conversations and memories of one owner, without a store.
pub(crate) struct Converter {
    root: Value,
    names: Names,
    profile: Profile,
}

/// The records that a converted record yields.
#[derive(Default)]
pub(crate) struct Converted {
    pub(crate) records: Vec<Record>,
    /// The errors that refuse the export.
    pub(crate) faults: Vec<Error>,
    pub(crate) findings: Vec<Error>,
    /// The values that are not in the records, by field.
    pub(crate) lost: Vec<&'static str>,
}

/// A conversation whose messages are built, and whose number is not known yet.
pub(crate) struct ConvertedConversation {
    entry: Value,
    conversation: Option<BuiltConversation>,
}

impl Converter {
    pub(crate) fn new(owner: &str, names: Names, profile: Profile) -> Self {
        Self {
            root: store_of(owner, "1.0"),
            names,
            profile,
        }
    }

    /// Builds the grains of a conversation from its index entry and its document.
    pub(crate) fn conversation(&self, entry: Value, document: &Value) -> ConvertedConversation {
        let read = Object::new(&entry, String::new()).and_then(IndexEntry::read);
        let conversation = read.ok().and_then(|read| {
            let at = format!("{}#", read.id);
            let builder = self.builder().ok()?;
            Some(builder.conversation(&read, Some((document, at.as_str()))))
        });
        ConvertedConversation {
            entry,
            conversation,
        }
    }

    /// Builds the grain of the memory of this number.
    pub(crate) fn memory(&self, value: &Value, number: u64) -> Converted {
        let at = format!("/memories/{number}");
        let mut converted = Converted::default();
        if converted.validate(validated::memory(value, &at)).is_none() {
            return converted;
        }
        let built = Object::new(value, at).and_then(Memory::read);
        let built =
            built.and_then(|memory| self.builder()?.memory(&memory, Vec::new(), None, true));
        converted.add(built);
        converted
    }

    /// Returns the finding of a duplicate id.
    pub(crate) fn duplicate(what: &str) -> Error {
        // The place names it: equal findings are shown as one.
        let message = "comes twice; the first one counts";
        fault(code::DUPLICATE_ID, what.to_owned(), message)
    }

    fn builder(&self) -> Result<RecordBuilder<'_>, Error> {
        let head = head_of(&self.root)?;
        Ok(RecordBuilder {
            owner: head.owner,
            version: head.version,
            names: self.names,
            profile: self.profile,
        })
    }
}

impl ConvertedConversation {
    /// Returns the records of the conversation of this number.
    pub(crate) fn numbered(self, number: u64) -> Converted {
        let at = format!("/conversations_index/{number}");
        let mut converted = Converted::default();
        let validated = converted.validate(validated::entry(&self.entry, &at));
        let (Some(_), Some(conversation)) = (validated, self.conversation) else {
            return converted;
        };
        if let Some(error) = conversation.fault {
            converted.findings.push(error);
            converted.lost.push(CONVERSATION_LOSS);
        }
        for error in conversation.lost {
            converted.findings.push(error);
            converted.lost.push(MESSAGE_LOSS);
        }
        let messages = conversation.messages.into_iter().map(|(_, record)| record);
        // A record is large, and one more comes.
        converted.records.reserve(messages.len().saturating_add(1));
        converted.records.extend(messages);
        let place = Place::Pointer(at);
        if let Some(whole) = conversation.whole {
            converted.add(match whole {
                Ok(record) => Ok(Record { place, ..record }),
                Err(Error::Grain { source, .. }) => Err(Error::Grain { place, source }),
                Err(error) => Err(error),
            });
        }
        converted
    }
}

impl Converted {
    fn validate<T>(&mut self, validated: Validated<T>) -> Option<T> {
        self.faults.extend(validated.wide);
        self.findings.extend(validated.schema.list);
        self.findings.extend(validated.rules.list);
        let read = validated.read.map_err(|error| self.faults.push(error)).ok();
        read.filter(|_| self.faults.is_empty())
    }

    /// A record of a foreign export that fits no grain does not refuse the rest.
    fn add(&mut self, built: Result<Record, Error>) {
        match built {
            Ok(record) => self.records.push(record),
            Err(error) => {
                self.findings.push(error);
                self.lost.push("memory");
            }
        }
    }
}

/// Returns a store with an owner and no records.
pub(crate) fn store_of(owner: &str, version: &str) -> Value {
    let owner: Map = [("id", owner)].into_iter().collect();
    let mut store = Map::new();
    store.insert("schema", SCHEMA);
    store.insert("schema_version", version);
    store.insert("owner", owner);
    Value::Map(store)
}

/// Reads the envelope of such a store.
///
/// # Errors
/// `PAM_SCHEMA` for an owner without a name.
pub(crate) fn head_of(store: &Value) -> Result<Head<'_>, Error> {
    let mut faults = Diagnostics::default();
    let head = Head::read(store, &mut faults)?;
    faults.list.pop().map_or(Ok(head), Err)
}

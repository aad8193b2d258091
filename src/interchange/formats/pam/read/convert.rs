//! What another reader has put into the form of PAM.

use crate::codec::{Map, Profile, Value};
use crate::interchange::{Error, Place, Record};

use super::super::types::conversation::Entry;
use super::super::types::head::Head;
use super::super::types::memory::Memory;
use super::super::types::object::{Object, fault};
use super::super::{SCHEMA, code};
use super::build::{Maker, Names, Talk};
use super::told::Told;
use super::validated::{self, Seen};

/// Makes the grains of conversations and memories of one owner, which no store holds.
pub(in crate::interchange) struct Made {
    root: Value,
    names: Names,
    profile: Profile,
}

/// What a record that was made for the purpose comes to.
#[derive(Default)]
pub(in crate::interchange) struct Outcome {
    pub(in crate::interchange) records: Vec<Record>,
    /// What refuses all of the export.
    pub(in crate::interchange) faults: Vec<Error>,
    pub(in crate::interchange) findings: Vec<Error>,
    /// What is not in the records, by the field that names it.
    pub(in crate::interchange) lost: Vec<&'static str>,
}

/// A conversation whose messages are made, and whose number is not known yet.
pub(in crate::interchange) struct MadeTalk {
    entry: Value,
    talk: Option<Talk>,
}

impl Made {
    pub(in crate::interchange) fn new(owner: &str, names: Names, profile: Profile) -> Self {
        Self {
            root: store_of(owner, "1.0"),
            names,
            profile,
        }
    }

    /// Makes the grains of a conversation, of its entry of an index and its document.
    pub(in crate::interchange) fn talk(&self, entry: Value, document: &Value) -> MadeTalk {
        let read = Object::new(&entry, String::new()).and_then(Entry::read);
        let talk = read.ok().and_then(|read| {
            let at = format!("{}#", read.id);
            let maker = self.maker().ok()?;
            Some(maker.talk(&read, Some((document, at.as_str()))))
        });
        MadeTalk { entry, talk }
    }

    /// Makes the grain of a memory of this number.
    pub(in crate::interchange) fn memory(&self, value: &Value, number: u64) -> Outcome {
        let at = format!("/memories/{number}");
        let mut outcome = Outcome::default();
        if outcome.judge(validated::memory(value, &at)).is_none() {
            return outcome;
        }
        let made = Object::new(value, at).and_then(Memory::read);
        let made = made.and_then(|memory| self.maker()?.memory(&memory, Vec::new(), None, true));
        outcome.add(made);
        outcome
    }

    /// Tells of a record that has the id of one before it.
    pub(in crate::interchange) fn twice(what: &str) -> Error {
        let message = format!("{what} comes twice; the first one counts");
        fault(code::DUPLICATE_ID, String::new(), message)
    }

    fn maker(&self) -> Result<Maker<'_>, Error> {
        let head = head_of(&self.root)?;
        Ok(Maker {
            owner: head.owner,
            version: head.version,
            names: self.names,
            profile: self.profile,
        })
    }
}

impl MadeTalk {
    /// Returns what it comes to as the conversation of this number.
    pub(in crate::interchange) fn numbered(self, number: u64) -> Outcome {
        let at = format!("/conversations_index/{number}");
        let mut outcome = Outcome::default();
        let seen = outcome.judge(validated::entry(&self.entry, &at));
        let (Some(_), Some(talk)) = (seen, self.talk) else {
            return outcome;
        };
        if let Some(error) = talk.fault {
            outcome.findings.push(error);
            outcome.lost.push(super::super::CONVERSATION_LOSS);
        }
        let messages = talk.messages.into_iter().map(|(_, record)| record);
        outcome.records.extend(messages);
        let place = Place::Pointer(at);
        outcome.add(match talk.whole {
            Ok(record) => Ok(Record { place, ..record }),
            Err(Error::Grain { source, .. }) => Err(Error::Grain { place, source }),
            Err(error) => Err(error),
        });
        outcome
    }
}

impl Outcome {
    fn judge<T>(&mut self, seen: Seen<T>) -> Option<T> {
        self.faults.extend(seen.wide);
        self.findings.extend(seen.schema);
        self.findings.extend(seen.rules);
        let read = seen.read.map_err(|error| self.faults.push(error)).ok();
        read.filter(|_| self.faults.is_empty())
    }

    /// What somebody else's export says and no grain can hold keeps the rest of it not out.
    fn add(&mut self, made: Result<Record, Error>) {
        match made {
            Ok(record) => self.records.push(record),
            Err(error) => {
                self.findings.push(error);
                self.lost.push("memory");
            }
        }
    }
}

/// Returns a store that has nothing but an owner.
pub(in crate::interchange) fn store_of(owner: &str, version: &str) -> Value {
    let owner: Map = [("id", owner)].into_iter().collect();
    let mut store = Map::new();
    store.insert("schema", SCHEMA);
    store.insert("schema_version", version);
    store.insert("owner", owner);
    Value::Map(store)
}

/// Reads what such a store says.
///
/// # Errors
/// `PAM_SCHEMA` for an owner without a name.
pub(in crate::interchange) fn head_of(store: &Value) -> Result<Head<'_>, Error> {
    let mut faults = Told::default();
    let head = Head::read(store, &mut faults)?;
    faults.list.pop().map_or(Ok(head), Err)
}

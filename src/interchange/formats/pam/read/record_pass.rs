//! One way through a store that is sound: to judge its grains, or to hand them over.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Value};
use crate::grain::{StatusChange, Time};
use crate::interchange::io::record_sink::Outlet;
use crate::interchange::io::source_file::Part;
use crate::interchange::json::{Broken, in_array, in_order};
use crate::interchange::model::compact_table::Table;
use crate::interchange::{Error, Loss, Record};

use super::super::files::conversation_files::Talks;
use super::super::schema::validate;
use super::super::types::conversation::Entry;
use super::super::types::embeddings::{EMBEDDING, Embeddings, FILE, Ids};
use super::super::types::head::Head;
use super::super::types::memory::Ending;
use super::super::types::object::{Object, fault};
use super::super::types::relation::Relation;
use super::super::{ARRAYS, CONVERSATION_LOSS, ENTRIES, MEMORIES, RELATIONS, broken, code, place};
use super::build::Maker;
use super::build_memory::{Made, MadeMemory, Source};
use super::store_file::Known;
use super::told::Told;
use super::validation_pass::Survey;

/// One way through the records of a store.
pub(in crate::interchange) struct Pass<'a> {
    part: &'a Part,
    talks: &'a Talks,
    survey: &'a Survey,
    /// What was made before, if this is not the first time.
    known: Option<&'a Known>,
    /// What is made now, the first time.
    pub(in crate::interchange) made: Known,
    pub(in crate::interchange) outlet: Outlet<'a>,
    pub(in crate::interchange) faults: Told,
    /// What breaks no rule, and is told.
    pub(in crate::interchange) findings: Told,
    /// What is wrong without being a reason to refuse the rest, unless everything is held to.
    pub(in crate::interchange) minded: Told,
    pub(in crate::interchange) loss: Loss,
    /// The embeddings that memories may name.
    embeddings: Option<Ids>,
    /// The conversations whose messages are among the records.
    talks_read: Table<()>,
    /// The address of a message, by conversation and id.
    messages: Table<ContentAddress>,
    /// What each memory replaces.
    replaced: HashMap<usize, Vec<ContentAddress>>,
}

impl<'a> Pass<'a> {
    pub(in crate::interchange) fn new(
        part: &'a Part,
        talks: &'a Talks,
        survey: &'a Survey,
        known: Option<&'a Known>,
        take: &'a mut dyn FnMut(Record) -> bool,
    ) -> Self {
        Self {
            part,
            talks,
            survey,
            known,
            made: Known::default(),
            outlet: Outlet::new(take),
            faults: Told::default(),
            findings: Told::default(),
            minded: Told::default(),
            loss: Loss::default(),
            embeddings: None,
            talks_read: Table::new(),
            messages: Table::new(),
            replaced: HashMap::new(),
        }
    }

    pub(in crate::interchange) fn go(
        &mut self,
        head: &Head<'_>,
        maker: &Maker<'_>,
    ) -> Result<(), Vec<Error>> {
        let time = head.export_date.or(maker.owner.created_at);
        let time = time.or(self.survey.latest).unwrap_or_default();
        self.give(maker.envelope(head.root.map, time, head.export_id));
        let gone = self.conversations(maker).and_then(|()| {
            self.memories(maker, head)?;
            self.relations(maker)
        });
        gone.map_err(|error| vec![broken(self.part, error)])
    }

    /// Goes through one of the arrays.
    fn stream<T: Send>(
        &mut self,
        array: usize,
        make: impl Fn(Value, super::super::Spot) -> T + Sync,
        mut take: impl FnMut(&mut Self, T),
    ) -> Result<(), Broken> {
        if !self.outlet.is_wanted() {
            return Ok(());
        }
        in_array(self.part, &ARRAYS, array, make, |one| {
            take(self, one);
            self.outlet.is_wanted()
        })
    }

    fn conversations(&mut self, maker: &Maker<'_>) -> Result<(), Broken> {
        // Their documents are large: one is in memory at a time.
        let make = |value: Value, spot| (value, place(spot));
        self.stream(ENTRIES, make, |pass, (value, at)| {
            let entry = Object::new(&value, at).and_then(Entry::read);
            if let Some(entry) = pass.faults.keep(entry) {
                pass.conversation(&entry, maker);
            }
        })
    }

    fn conversation(&mut self, entry: &Entry<'_>, maker: &Maker<'_>) {
        let mut document = None;
        if let Some(storage) = &entry.storage {
            // What cannot be had is counted, and the rest of the store is read without it.
            match self.talks.load(storage) {
                Ok(Some((name, value))) => document = Some((value, format!("{name}#"))),
                Ok(None) => self.loss.count(CONVERSATION_LOSS),
                Err(error) => self.lose(error),
            }
        }
        let document = document.as_ref().map(|(value, at)| (value, at.as_str()));
        let talk = maker.talk(entry, document);
        if let Some(error) = talk.fault {
            self.lose(error);
        } else if document.is_some() {
            self.talks_read.add(self.talks_read.key(entry.id));
        }
        for (id, record) in talk.messages {
            let key = self.messages.key((entry.id, &id));
            self.messages.insert(key, record.grain.address());
            self.give(Ok(record));
        }
        self.give(talk.whole);
        if let (Some((value, at)), true) = (document, self.known.is_none()) {
            let mut minded = Vec::new();
            validate::conversation(value, at, &mut minded);
            self.minded.extend(minded);
        }
    }

    fn memories(&mut self, maker: &Maker<'_>, head: &Head<'_>) -> Result<(), Broken> {
        let (survey, talks_read) = (self.survey, std::mem::take(&mut self.talks_read));
        let messages = std::mem::take(&mut self.messages);
        let source = Source {
            maker,
            survey,
            messages: &messages,
            talks_read: &talks_read,
        };
        let make = |value: Value, number: usize| {
            let made = if survey.replacers.contains(&number) {
                Made::Later(value)
            } else {
                Made::Now(Box::new(source.memory(&value, number, Vec::new())))
            };
            (number, made)
        };
        let take = |pass: &mut Self, (number, made): (usize, Made)| {
            let made = match made {
                Made::Now(made) => *made,
                Made::Later(value) => {
                    let replaced = pass.replaced.remove(&number).unwrap_or_default();
                    source.memory(&value, number, replaced)
                }
            };
            pass.memory(number, made, head);
        };
        if survey.order.is_empty() {
            let make = |value: Value, spot: super::super::Spot| make(value, index(spot.number));
            return self.stream(MEMORIES, make, take);
        }
        if !self.outlet.is_wanted() {
            return Ok(());
        }
        let order = survey.order.iter().copied();
        in_order(self.part, &survey.starts, order, make, |made| {
            take(self, made);
            self.outlet.is_wanted()
        })
    }

    fn memory(&mut self, number: usize, made: Result<MadeMemory, Error>, head: &Head<'_>) {
        let Some(MadeMemory {
            mut record,
            ending,
            by,
            minded,
            embedding,
        }) = self.faults.keep(made)
        else {
            return;
        };
        let address = record.grain.address();
        if let Some(by) = by {
            self.replaced.entry(by).or_default().push(address);
        }
        self.minded.extend(minded);
        if let Some((id, of)) = embedding {
            self.embedding_ref(number, &id, &of);
        }
        match self.known {
            None => {
                let slots = &mut self.made.addresses;
                if slots.len() <= number {
                    slots.resize(number.saturating_add(1), ContentAddress::of(b""));
                }
                if let Some(slot) = slots.get_mut(number) {
                    *slot = address;
                }
                if self.survey.replacers.contains(&number) {
                    self.made.created.insert(number, ending.created_at);
                }
            }
            // A whole grain brings its own status.
            Some(known) if record.foreign_id.is_some() => {
                record.status = status(known, ending, by, head.export_date);
            }
            Some(_) => {}
        }
        self.give(Ok(record));
    }

    fn relations(&mut self, maker: &Maker<'_>) -> Result<(), Broken> {
        let made = std::mem::take(&mut self.made);
        let addresses = &self.known.unwrap_or(&made).addresses;
        let survey = self.survey;
        let end = |id: &str| addresses.get(survey.number(id)?).copied();
        let make = |value: Value, spot| {
            let relation = Object::new(&value, place(spot)).and_then(Relation::read)?;
            maker.relation(&relation, [end(relation.from), end(relation.to)])
        };
        let gone = self.stream(RELATIONS, make, Self::give);
        self.made = made;
        gone
    }

    /// Judges the embeddings file beside the store, and counts its vectors; one that is not there is
    /// no fault (PAM 12).
    pub(in crate::interchange) fn embeddings(
        &mut self,
        head: &Head<'_>,
    ) -> Option<(Embeddings, u64)> {
        let part = self.minded.keep(self.talks.embeddings()).flatten()?;
        let file = Embeddings {
            part,
            file: FILE.to_owned(),
            version: Some(head.version.to_owned()),
        };
        let (mut count, mut unknown, mut lost) = (0_u64, Told::default(), Loss::default());
        let (survey, minded, loss) = (self.survey, &mut self.minded, &mut self.loss);
        let read = file.read(minded, loss, &mut |embedding| {
            if head.is_delta() || survey.number(&embedding.memory_id).is_some() {
                count = count.saturating_add(1);
            } else {
                let at = format!("{}/memory_id", embedding.at);
                unknown.push(fault(code::EMBEDDING_REF, at, "no memory has this id"));
                lost.count(EMBEDDING);
            }
            true
        });
        match read {
            Ok(ids) => self.embeddings = Some(ids),
            Err(error) => {
                // What is JSON is a file of which no embedding can be read.
                let is_json = error.code() != code::JSON;
                self.embeddings = is_json.then(Ids::new);
                self.minded.push(error);
                return None;
            }
        }
        self.minded.append(unknown);
        self.loss.merge(&lost);
        Some((file, count))
    }

    /// Judges what a memory says about its embedding.
    fn embedding_ref(&mut self, number: usize, id: &str, of: &str) {
        let Some(embeddings) = &self.embeddings else {
            self.loss.count("embedding_ref");
            return;
        };
        let message = match embeddings.is_of(id, of) {
            None => "no embedding has this id",
            Some(false) => "that embedding is of another memory",
            Some(true) => return,
        };
        let at = format!("/memories/{number}/embedding_ref");
        self.minded.push(fault(code::EMBEDDING_REF, at, message));
    }

    fn give(&mut self, made: Result<Record, Error>) {
        if let Some(record) = self.faults.keep(made)
            && self.faults.is_empty()
        {
            // What is refused as a whole is not handed on in part.
            self.outlet.give(record);
        }
    }

    fn lose(&mut self, error: Error) {
        match error {
            // A file that did not come along breaks no rule.
            Error::Io { .. } => self.findings.push(error),
            _ => self.minded.push(error),
        }
        self.loss.count(CONVERSATION_LOSS);
    }
}

/// A memory that does not say since when it is not current was not at the time of the export.
fn status(
    known: &Known,
    ending: Ending,
    by: Option<usize>,
    export_date: Option<Time>,
) -> StatusChange {
    let end = by.and_then(|by| known.created.get(&by).copied());
    let end = end.or(export_date).unwrap_or(ending.created_at);
    ending.change(by.and_then(|by| known.addresses.get(by).copied()), end)
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

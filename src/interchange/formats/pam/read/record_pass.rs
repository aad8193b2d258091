//! A pass over a valid store: to validate its grains, or to pass its records on.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Value};
use crate::grain::{StatusChange, Time};
use crate::interchange::io::record_sink::RecordSink;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{JsonError, Position, read_in_order, stream_array};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::{Diagnostics, Error, Loss, Record};

use super::super::code;
use super::super::files::conversation_files::ConversationFiles;
use super::super::json::{broken, place};
use super::super::names::{ARRAYS, CONVERSATION_LOSS, ENTRIES, MEMORIES, RELATIONS};
use super::super::schema::validate;
use super::super::types::conversation::IndexEntry;
use super::super::types::embeddings::{EMBEDDING, Embeddings, FILE, Ids};
use super::super::types::head::Head;
use super::super::types::memory::Ending;
use super::super::types::object::{Object, fault};
use super::super::types::relation::Relation;
use super::super::write::uuid::uuid;
use super::build::RecordBuilder;
use super::build_memory::{BuildStep, BuiltMemories, BuiltMemory, MemoryBuilder};
use super::validation_pass::ValidationIndex;

/// A pass over the records of a store.
pub(crate) struct Pass<'a> {
    part: &'a SourceFile,
    conversation_files: &'a ConversationFiles,
    index: &'a ValidationIndex,
    /// The memories that the first pass built, if this is a later one.
    known: Option<&'a BuiltMemories>,
    /// The memories that this pass builds, if it is the first.
    pub(crate) built: BuiltMemories,
    pub(crate) sink: RecordSink<'a>,
    pub(crate) faults: Diagnostics,
    /// Findings that violate no rule.
    pub(crate) findings: Diagnostics,
    /// Violations that refuse the store only if the caller asks for strictness.
    pub(crate) non_fatal: Diagnostics,
    pub(crate) loss: Loss,
    /// The embeddings that memories may name.
    embeddings: Option<Ids>,
    /// The conversations whose messages are among the records.
    read_conversations: CompactTable<()>,
    /// The address of a message, by conversation and id.
    messages: CompactTable<ContentAddress>,
    /// The ids that relations have which stand as whole grains beside a memory.
    given_sides: CompactTable<()>,
    /// The grains that each memory replaces.
    replaced: HashMap<usize, Vec<ContentAddress>>,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(
        part: &'a SourceFile,
        conversation_files: &'a ConversationFiles,
        index: &'a ValidationIndex,
        known: Option<&'a BuiltMemories>,
        take: &'a mut dyn FnMut(Record) -> bool,
    ) -> Self {
        Self {
            part,
            conversation_files,
            index,
            known,
            built: BuiltMemories::default(),
            sink: RecordSink::new(take),
            faults: Diagnostics::default(),
            findings: Diagnostics::default(),
            non_fatal: Diagnostics::default(),
            loss: Loss::default(),
            embeddings: None,
            read_conversations: CompactTable::new(),
            messages: CompactTable::new(),
            given_sides: CompactTable::new(),
            replaced: HashMap::new(),
        }
    }

    pub(crate) fn go(
        &mut self,
        head: &Head<'_>,
        builder: &RecordBuilder<'_>,
    ) -> Result<(), Vec<Error>> {
        let time = head.export_date.or(builder.owner.created_at);
        let time = time.or(self.index.latest).unwrap_or_default();
        self.give(builder.envelope(head.root.map, time, head.export_id));
        let gone = self.conversations(builder).and_then(|()| {
            self.memories(builder, head)?;
            self.relations(builder)
        });
        gone.map_err(|error| vec![broken(self.part, error)])
    }

    /// Reads one of the arrays.
    fn stream<T: Send>(
        &mut self,
        array: usize,
        make: impl Fn(Value, Position) -> T + Sync,
        mut take: impl FnMut(&mut Self, T),
    ) -> Result<(), JsonError> {
        if !self.sink.is_wanted() {
            return Ok(());
        }
        let excluded = self.index.excluded.get(array);
        let make = |value: Value, position: Position| {
            let is_excluded = excluded.is_some_and(|it| it.contains(&position.number));
            (!is_excluded).then(|| make(value, position))
        };
        stream_array(self.part, &ARRAYS, array, make, |one| {
            if let Some(one) = one {
                take(self, one);
            }
            self.sink.is_wanted()
        })
    }

    fn conversations(&mut self, builder: &RecordBuilder<'_>) -> Result<(), JsonError> {
        // The documents are large: one is in memory at a time.
        let make = |value: Value, position| (value, place(position));
        self.stream(ENTRIES, make, |pass, (value, at)| {
            let entry = Object::new(&value, at).and_then(IndexEntry::read);
            if let Some(entry) = pass.faults.keep(entry) {
                pass.conversation(&entry, builder);
            }
        })
    }

    fn conversation(&mut self, entry: &IndexEntry<'_>, builder: &RecordBuilder<'_>) {
        let mut document = None;
        if let Some(storage) = &entry.storage {
            // A missing document is counted, and the rest of the store is read without it.
            match self.conversation_files.load(storage) {
                Ok(Some((name, value))) => document = Some((value, format!("{name}#"))),
                Ok(None) => self.loss.count(CONVERSATION_LOSS),
                Err(error) => self.lose(error),
            }
        }
        let document = document.as_ref().map(|(value, at)| (value, at.as_str()));
        let conversation = builder.conversation(entry, document);
        if let Some(error) = conversation.fault {
            self.lose(error);
        } else if document.is_some() {
            self.read_conversations
                .add(self.read_conversations.key(entry.id));
        }
        for (id, record) in conversation.messages {
            let key = self.messages.key((entry.id, &id));
            self.messages.insert(key, record.grain.address());
            self.give(Ok(record));
        }
        if let Some(whole) = conversation.whole {
            self.give(whole);
        }
        if let (Some((value, at)), true) = (document, self.known.is_none()) {
            let mut non_fatal = Diagnostics::default();
            validate::conversation(value, at, &mut non_fatal);
            self.non_fatal.append(non_fatal);
        }
    }

    fn memories(&mut self, builder: &RecordBuilder<'_>, head: &Head<'_>) -> Result<(), JsonError> {
        let (index, read_conversations) =
            (self.index, std::mem::take(&mut self.read_conversations));
        let messages = std::mem::take(&mut self.messages);
        let source = MemoryBuilder {
            builder,
            index,
            messages: &messages,
            read_conversations: &read_conversations,
        };
        let excluded = &index.excluded[MEMORIES];
        let make = |value: Value, number: usize| {
            let built = if index.replacers.contains(&number) {
                BuildStep::Later(value)
            } else {
                BuildStep::Now(Box::new(source.memory(&value, number, Vec::new())))
            };
            (number, built)
        };
        let take = |pass: &mut Self, (number, built): (usize, BuildStep)| {
            // Those of the order of the file are left out by the stream.
            if u64::try_from(number).is_ok_and(|number| excluded.contains(&number)) {
                return;
            }
            let built = match built {
                BuildStep::Now(built) => *built,
                BuildStep::Later(value) => {
                    let replaced = pass.replaced.remove(&number).unwrap_or_default();
                    source.memory(&value, number, replaced)
                }
            };
            pass.memory(number, built, head);
        };
        if index.order.is_empty() {
            let make = |value: Value, position: Position| make(value, to_index(position.number));
            return self.stream(MEMORIES, make, take);
        }
        if !self.sink.is_wanted() {
            return Ok(());
        }
        let order = index.order.iter().copied();
        read_in_order(self.part, &index.starts, order, make, |built| {
            take(self, built);
            self.sink.is_wanted()
        })
    }

    fn memory(&mut self, number: usize, built: Result<BuiltMemory, Error>, head: &Head<'_>) {
        let Some(BuiltMemory {
            mut record,
            ending,
            by,
            non_fatal,
            embedding,
            sides,
        }) = self.faults.keep(built)
        else {
            return;
        };
        let address = record.grain.address();
        if let Some(by) = by {
            self.replaced.entry(by).or_default().push(address);
        }
        self.non_fatal.extend(non_fatal);
        if let Some((id, of)) = embedding {
            self.embedding_ref(number, &id, &of);
        }
        match self.known {
            None => {
                let slots = &mut self.built.addresses;
                if slots.len() <= number {
                    slots.resize(number.saturating_add(1), no_grain());
                }
                if let Some(slot) = slots.get_mut(number) {
                    *slot = address;
                }
                if self.index.replacers.contains(&number) {
                    self.built.created.insert(number, ending.created_at);
                }
            }
            // An embedded grain has its own status.
            Some(known) if record.foreign_id.is_some() => {
                record.status = status(known, ending, by, head.export_date);
            }
            Some(_) => {}
        }
        self.give(Ok(record));
        for side in sides {
            // The relation of that id is this grain.
            let id = uuid(side.grain.address());
            self.given_sides.add(self.given_sides.key(&*id));
            self.give(Ok(side));
        }
    }

    fn relations(&mut self, builder: &RecordBuilder<'_>) -> Result<(), JsonError> {
        let built = std::mem::take(&mut self.built);
        let addresses = &self.known.unwrap_or(&built).addresses;
        let index = self.index;
        let given = std::mem::take(&mut self.given_sides);
        let end = |id: &str| {
            let address = addresses.get(index.number(id)?).copied()?;
            // A memory that is no grain has a place all the same.
            (address != no_grain()).then_some(address)
        };
        let make = |value: Value, position| {
            let relation = Object::new(&value, place(position)).and_then(Relation::read)?;
            if given.get(given.key(relation.id)).is_some() {
                return Ok(None);
            }
            let names = [relation.from, relation.to];
            let ends = names.map(end);
            // An end that is left out is an error of its own.
            let is_left_out =
                |(id, end): (&str, &Option<_>)| index.number(id).is_some() && end.is_none();
            if names.into_iter().zip(&ends).any(is_left_out) {
                return Ok(None);
            }
            builder.relation(&relation, ends).map(Some)
        };
        let gone = self.stream(RELATIONS, make, |pass, built| match built {
            Ok(Some(record)) => pass.give(Ok(record)),
            Ok(None) => {}
            Err(error) => pass.give(Err(error)),
        });
        self.built = built;
        gone
    }

    /// Validates the embeddings file beside the store, and counts its vectors; its absence is no
    /// error (PAM 12).
    pub(crate) fn embeddings(&mut self, head: &Head<'_>) -> Option<(Embeddings, u64)> {
        let part = self
            .non_fatal
            .keep(self.conversation_files.embeddings())
            .flatten()?;
        let file = Embeddings {
            part,
            file: FILE.to_owned(),
            version: Some(head.version.to_owned()),
        };
        let (mut count, mut unknown, mut lost) = (0_u64, Diagnostics::default(), Loss::default());
        let (index, non_fatal, loss) = (self.index, &mut self.non_fatal, &mut self.loss);
        let read = file.read(non_fatal, loss, &mut |embedding| {
            if head.is_delta() || index.number(&embedding.memory_id).is_some() {
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
                // A file of JSON without any valid embedding.
                let is_json = error.code() != code::JSON;
                self.embeddings = is_json.then(Ids::new);
                self.non_fatal.push(error);
                return None;
            }
        }
        self.non_fatal.append(unknown);
        self.loss.merge(&lost);
        Some((file, count))
    }

    /// Validates the reference of a memory to its embedding.
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
        self.non_fatal.push(fault(code::EMBEDDING_REF, at, message));
    }

    fn give(&mut self, built: Result<Record, Error>) {
        if let Some(record) = self.faults.keep(built) {
            self.sink.push(record);
        }
    }

    fn lose(&mut self, error: Error) {
        match error {
            // A missing file violates no rule.
            Error::Io { .. } => self.findings.push(error),
            _ => self.non_fatal.push(error),
        }
        self.loss.count(CONVERSATION_LOSS);
    }
}

/// A memory without the time of its end was not current at the time of the export.
fn status(
    known: &BuiltMemories,
    ending: Ending,
    by: Option<usize>,
    export_date: Option<Time>,
) -> StatusChange {
    let end = by.and_then(|by| known.created.get(&by).copied());
    let end = end.or(export_date).unwrap_or(ending.created_at);
    let by = by.and_then(|by| known.addresses.get(by).copied());
    ending.change(by.filter(|by| *by != no_grain()), end)
}

fn to_index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The address in the place of a memory that is none.
fn no_grain() -> ContentAddress {
    ContentAddress::of(b"")
}

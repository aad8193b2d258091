//! The validation pass: a store is read as a whole before any grain is built, so that nothing of a
//! refused one is stored (PAM 3–7, 13–18).

use std::collections::HashSet;

use crate::codec::Value;
use crate::grain::Time;
use crate::interchange::formats::shape::number;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{JsonError, Position, stream_file, strict};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::{Diagnostics, Error, ReadOptions, Signature};

use super::super::checksum::{self, Ids};
use super::super::json::{broken, place};
use super::super::names::{ARRAYS, ENTRIES, MEMORIES, RELATIONS};
use super::super::order::order;
use super::super::schema::tables::STORE;
use super::super::schema::validate;
use super::super::types::head::Head;
use super::super::types::object::{fault, reported};
use super::super::{code, signature};
use super::faults::Faults;
use super::validated::{self, Validated, ValidatedEntry, ValidatedMemory, ValidatedRelation};

/// The facts about the memories of a store that building their grains needs.
pub(crate) struct ValidationIndex {
    /// The number of the memory of an id.
    memories: CompactTable<u32>,
    /// Where each of them begins.
    pub(crate) starts: Vec<u64>,
    /// Their numbers, each before the one that replaces it; empty if that is the order of the file.
    pub(crate) order: Vec<usize>,
    /// The numbers of those that replace others.
    pub(crate) replacers: HashSet<usize>,
    /// The creation time of the newest.
    pub(crate) latest: Option<Time>,
    /// The result of checking the signature, if the store is valid so far.
    pub(crate) signature: Option<Signature>,
    /// The numbers of the invalid records of each array.
    pub(crate) excluded: [HashSet<u64>; 3],
    /// The errors of those, and of references to others.
    pub(crate) errors: Vec<Error>,
}

impl ValidationIndex {
    /// Returns the number of a memory.
    pub(crate) fn number(&self, id: &str) -> Option<usize> {
        let number = self.memories.get(self.memories.key(id))?;
        usize::try_from(*number).ok()
    }
}

/// Validates a store; violations that do not refuse it go to `findings`.
///
/// # Errors
/// All errors, as far as they can be found.
pub(crate) fn validate(
    part: &SourceFile,
    root: &Value,
    options: &ReadOptions,
    findings: &mut Diagnostics,
) -> Result<ValidationIndex, Vec<Error>> {
    let mut faults = Faults::default();
    let head = Head::read(root, &mut faults.head).map_err(|error| vec![error])?;
    let mut surveyor = ValidationPass {
        part,
        head,
        faults,
        entries: CompactTable::new(),
        entry_count: 0,
        relations: CompactTable::new(),
        derived: CompactTable::new(),
        named: CompactTable::new(),
        links: Vec::new(),
        ids: Ids::default(),
        index: ValidationIndex {
            memories: CompactTable::new(),
            starts: Vec::new(),
            order: Vec::new(),
            replacers: HashSet::new(),
            latest: None,
            signature: None,
            excluded: Default::default(),
            errors: Vec::new(),
        },
        is_sound: true,
    };
    let gone = surveyor.go(root, options, findings);
    gone.map_err(|error| vec![broken(part, error)])?;
    surveyor.finish(options, findings)
}

struct ValidationPass<'a> {
    part: &'a SourceFile,
    head: Head<'a>,
    faults: Faults,
    entries: CompactTable<()>,
    entry_count: u64,
    relations: CompactTable<()>,
    /// The pairs of a conversation and a memory that it names as derived.
    derived: CompactTable<()>,
    /// The pairs of a conversation and a memory that names it.
    named: CompactTable<()>,
    /// The numbers of memories, with the keys of their replacements.
    links: Vec<(usize, u64)>,
    ids: Ids,
    index: ValidationIndex,
    /// Whether every record is valid by itself: an invalid one would make each reference to it a
    /// second violation.
    is_sound: bool,
}

/// A record of one of the arrays.
enum One {
    Memory(Validated<ValidatedMemory>, String, u64),
    Relation(Validated<ValidatedRelation>),
    IndexEntry(Validated<ValidatedEntry>),
}

impl ValidationPass<'_> {
    fn go(
        &mut self,
        root: &Value,
        options: &ReadOptions,
        findings: &mut Diagnostics,
    ) -> Result<(), JsonError> {
        self.envelope(root);
        // Memories are validated against the conversations they name, so those come first.
        self.pass(&[ENTRIES], Self::take)?;
        self.pass(&[MEMORIES, RELATIONS], Self::take)?;
        self.integrity(options, findings)?;
        let has_others = self.entry_count > 0 || !self.relations.is_empty();
        self.is_sound = self.faults.is_sound();
        if has_others && self.faults.is_readable() {
            let wanted = [ENTRIES, RELATIONS];
            self.pass(&wanted, Self::refer)?;
        }
        Ok(())
    }

    fn envelope(&mut self, root: &Value) {
        let wide = strict::wide_integers(root);
        let wide = wide.map(|at| fault(code::JSON, at, strict::WIDE));
        self.faults.wide.extend(wide);
        STORE.validate(root, "", &mut reported(&mut self.faults.schema));
        validate::conditions(self.head.root.map, &mut self.faults.rules);
        let head = &self.head.root;
        let mut is_whole = self.faults.wide.is_empty();
        for (name, faults) in ARRAYS.into_iter().zip(&mut self.faults.records) {
            is_whole &= faults.read.keep(head.elements(name).map(drop)).is_some();
        }
        if head.get("memories").is_none() {
            self.faults.ids.push(head.missing("memories"));
            is_whole = false;
        }
        if !is_whole {
            self.faults.refuse_file();
        }
    }

    /// Reads some of the arrays.
    fn pass(
        &mut self,
        wanted: &[usize],
        mut take: impl FnMut(&mut Self, u64, One),
    ) -> Result<(), JsonError> {
        let make = |value: Value, position: Position| {
            let at = place(position);
            let one = match position.array {
                MEMORIES => {
                    let id = checksum::id_of(&value).to_owned();
                    One::Memory(validated::memory(&value, &at), id, position.start)
                }
                RELATIONS => One::Relation(validated::relation(&value, &at)),
                _ => One::IndexEntry(validated::entry(&value, &at)),
            };
            (position.number, one)
        };
        let part = self.part;
        let is_wanted = |array| wanted.contains(&array);
        let take = |(number, one)| {
            take(self, number, one);
            true
        };
        stream_file(part, &ARRAYS, is_wanted, make, take).map(drop)
    }

    fn take(&mut self, number: u64, one: One) {
        match one {
            One::Memory(validated, id, start) => {
                self.index.starts.push(start);
                if self.head.root.get("integrity").is_some() {
                    self.ids.push(&id);
                }
                let validated = self.faults.keep(validated, MEMORIES, number);
                if let Some(validated) = validated {
                    self.memory(number, &validated);
                }
            }
            One::Relation(validated) => {
                let validated = self.faults.keep(validated, RELATIONS, number);
                if let Some(validated) = validated {
                    let key = self.relations.key(&validated.id);
                    if !self.relations.add(key) {
                        self.faults.add_duplicate(RELATIONS, number);
                    }
                }
            }
            One::IndexEntry(validated) => {
                self.entry_count = self.entry_count.saturating_add(1);
                let validated = self.faults.keep(validated, ENTRIES, number);
                if let Some(validated) = validated {
                    let key = self.entries.key(&validated.id);
                    if !self.entries.add(key) {
                        self.faults.add_duplicate(ENTRIES, number);
                    }
                    for memory in &validated.derived {
                        self.derived.add(self.derived.key((&validated.id, memory)));
                    }
                }
            }
        }
    }

    fn memory(&mut self, number: u64, validated: &ValidatedMemory) {
        let index = &mut self.index;
        let key = index.memories.key(&validated.id);
        if index.memories.get(key).is_some() {
            return self.faults.add_duplicate(MEMORIES, number);
        }
        index
            .memories
            .insert(key, u32::try_from(number).unwrap_or(u32::MAX));
        index.latest = index.latest.max(Some(validated.created_at));
        if let Some(by) = &validated.superseded_by {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            self.links.push((number, index.memories.key(by)));
        }
        // A store without an index says nothing about conversations.
        let Some(conversation) = validated
            .conversation
            .as_ref()
            .filter(|_| self.entry_count > 0)
        else {
            return;
        };
        self.named
            .add(self.named.key((conversation, &validated.id)));
        let at = || format!("/memories/{number}/provenance/conversation_ref");
        if self.entries.get(self.entries.key(conversation)).is_none() {
            let message = "no entry of conversations_index has this id";
            let error = fault(code::CONVERSATION_REF, at(), message);
            self.faults.between.push(error);
        } else if self
            .derived
            .get(self.derived.key((conversation, &validated.id)))
            .is_none()
        {
            // PAM 14.1: both sides should name each other; importers treat that as advice.
            let message = "the conversation does not name this memory in derived_memories";
            self.faults
                .advice
                .push(fault(code::DERIVED_REF, at(), message));
        }
    }

    /// Validates the references of relations and conversations to memories.
    fn refer(&mut self, number: u64, one: One) {
        let is_known = |id: &str| self.index.number(id).is_some();
        match one {
            One::Relation(Validated {
                read: Ok(validated),
                ..
            }) => {
                for (name, id) in [("from", &validated.from), ("to", &validated.to)] {
                    if is_known(id) {
                        continue;
                    }
                    // PAM 16: an incremental store may name memories of its base.
                    if !self.head.is_delta() {
                        self.faults.exclude(RELATIONS, number);
                    }
                    // The end may be an invalid record, which is an error of its own.
                    if self.is_sound {
                        let at = format!("/relations/{number}/{name}");
                        let error = fault(code::RELATION_REF, at, "no memory has this id");
                        self.faults.references.push(error);
                    }
                }
                if validated.from == validated.to {
                    let at = format!("/relations/{number}/to");
                    let message = "relates a memory to itself";
                    self.faults
                        .advice
                        .push(fault(code::RELATION_REF, at, message));
                }
            }
            One::IndexEntry(Validated {
                read: Ok(validated),
                ..
            }) => {
                for (index, id) in validated.derived.iter().enumerate() {
                    let at = format!("/conversations_index/{number}/derived_memories/{index}");
                    if !is_known(id) {
                        let error = fault(code::DERIVED_REF, at, "no memory has this id");
                        self.faults.between.push(error);
                    } else if self
                        .named
                        .get(self.named.key((&validated.id, id)))
                        .is_none()
                    {
                        let message =
                            "the memory does not name this conversation in conversation_ref";
                        self.faults
                            .advice
                            .push(fault(code::DERIVED_REF, at, message));
                    }
                }
            }
            _ => {}
        }
    }

    /// Validates the checksum (PAM 15).
    fn integrity(
        &mut self,
        options: &ReadOptions,
        findings: &mut Diagnostics,
    ) -> Result<(), JsonError> {
        let faults = &mut self.faults.integrity;
        let Some(integrity) = faults.keep(self.head.root.object("integrity")).flatten() else {
            return Ok(());
        };
        let count = self.index.starts.len();
        match integrity.get("total_memories").and_then(number) {
            None => faults.push(integrity.member_fault(
                "total_memories",
                code::SCHEMA,
                "must be an integer",
            )),
            Some(total) if u32::try_from(count).map(f64::from) != Ok(total) => {
                let message = format!("there are {count} memories");
                faults.push(integrity.member_fault("total_memories", code::TOTAL, message));
            }
            Some(_) => {}
        }
        let method = faults.keep(integrity.text("canonicalization")).flatten();
        if method.is_some_and(|method| method != "RFC8785") {
            let message = "must be RFC8785";
            faults.push(integrity.member_fault("canonicalization", code::SCHEMA, message));
        }
        let Some(stated) = faults.keep(integrity.required_text("checksum")) else {
            return Ok(());
        };
        let ids = std::mem::take(&mut self.ids);
        let actual = checksum::of_file(self.part, &self.index.starts, ids)?;
        if stated != actual {
            let message = format!("the memories have {actual}");
            let error = integrity.member_fault("checksum", code::CHECKSUM, message);
            if options.accept_bad_checksum {
                findings.push(error);
            } else {
                faults.push(error);
            }
        }
        Ok(())
    }

    fn finish(
        mut self,
        options: &ReadOptions,
        findings: &mut Diagnostics,
    ) -> Result<ValidationIndex, Vec<Error>> {
        let is_readable = self.faults.is_readable();
        let (mut faults, mut non_fatal) = self.faults.split();
        let mut refused = !is_readable;
        if is_readable {
            refused |= self.put_in_order(&mut faults, findings);
            let mut signature_findings = Vec::new();
            let signature = signature::check(&self.head.root, &mut signature_findings);
            refused |= signature.is_err();
            self.index.signature = faults.keep(signature);
            findings.extend(signature_findings);
            // PAM 16: an incremental store may name records of its base.
            let between = std::mem::take(&mut self.faults.between);
            if self.head.is_delta() {
                findings.append(between);
            } else if self.is_sound {
                non_fatal.append(between);
            }
            findings.append(std::mem::take(&mut self.faults.advice));
        }
        validate::report_non_fatal(non_fatal, options, &mut faults, findings);
        if refused || (options.is_strict && !faults.is_empty()) {
            return Err(faults.list);
        }
        self.index.errors = faults.list;
        self.index.excluded = self.faults.excluded;
        Ok(self.index)
    }

    /// Puts memories before those that replace them; returns whether no order does.
    fn put_in_order(&mut self, faults: &mut Diagnostics, findings: &mut Diagnostics) -> bool {
        let index = &mut self.index;
        let at = |number: usize| format!("/memories/{number}/temporal/superseded_by");
        let mut unknown = Diagnostics::default();
        let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
        for (number, by) in &self.links {
            match index.memories.get(*by).map(|by| usize::try_from(*by)) {
                Some(Ok(by)) => pairs.push((*number, by)),
                _ if self.is_sound => {
                    let error = fault(code::SUPERSEDED_REF, at(*number), "no memory has this id");
                    unknown.push(error);
                    if !self.head.is_delta() {
                        left_out.push(*number);
                    }
                }
                _ => {}
            }
        }
        unknown.append(std::mem::take(&mut self.faults.references));
        // PAM 16: an incremental store may name memories of its base.
        if self.head.is_delta() {
            findings.append(unknown);
        } else {
            faults.append(unknown);
        }
        for number in left_out {
            self.faults
                .exclude(MEMORIES, u64::try_from(number).unwrap_or(u64::MAX));
        }
        index.replacers = pairs.iter().map(|(_, by)| *by).collect();
        if pairs.iter().all(|(number, by)| number < by) {
            return false;
        }
        match order(index.starts.len(), &pairs) {
            Ok(order) => index.order = order,
            Err(stuck) => {
                let message = "the memories replace each other in a circle";
                faults.push(fault(code::CYCLE, at(stuck), message));
                return true;
            }
        }
        false
    }
}

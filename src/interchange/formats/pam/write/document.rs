//! The document of a store: its records, its index, and the files beside it.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Type};
use crate::interchange::formats::aimem::{self, Scope};
use crate::interchange::model::embedded_grain::is_side;
use crate::interchange::model::normalize::residual_json;
use crate::interchange::{Diagnostics, Entry, Error, Loss, Vectors, WriteOptions, Written};

use super::super::files::storage::check;
use super::super::names::STORE;
use super::super::schema::settle::settle;
use super::super::schema::shape::Shape;
use super::super::schema::tables::{self, CONVERSATION, ENTRY, MEMORY, RELATION};
use super::super::schema::validate;
use super::super::types::embeddings;
use super::super::types::residual::{DOCUMENT_RESIDUAL, is_relation};
use super::super::{checksum, signature};
use super::checksum_form::{to_checksum_form, write_status};
use super::embedded_memory::memory;
use super::envelope::{delta, envelope, owner};
use super::selection::{Candidate, is_changed_since, is_later, names, superfluous};
use super::sides::Sides;
use super::uuid;

/// A memory store in the form that both validators of the format accept, and its conversations.
#[derive(Debug)]
pub struct Document {
    /// The store; goes to `memory-store.json` where there are conversations.
    pub store: Value,
    /// Conversation documents by the path below the store's directory.
    pub conversations: BTreeMap<String, Value>,
    /// The embeddings file, where there are vectors.
    pub embeddings: Option<Value>,
    /// The summary.
    pub written: Written,
}

impl Document {
    /// Builds the document of grains; `with_files` says whether conversations can be files beside
    /// it.
    ///
    /// Records that came from PAM are written as they came, without nulls, with times of six or no
    /// digits of fraction, and with the status that the store has for them now. Grains of any other
    /// origin become memories whose metadata embeds the whole grain. A relation whose ends are not
    /// among the grains is left out.
    ///
    /// # Errors
    /// `PAM_MIXED_OWNERS`: a store has one owner (PAM 17). `PAM_SIGNATURE_FORM` for a key that
    /// cannot sign.
    pub fn new(entries: &[Entry], options: &WriteOptions, with_files: bool) -> Result<Self, Error> {
        Self::with_vectors(entries, &Vectors::new(), options, with_files)
    }

    /// Builds the document of grains, and the embeddings file of their vectors.
    ///
    /// # Errors
    /// As [`Document::new`].
    pub fn with_vectors(
        entries: &[Entry],
        vectors: &Vectors,
        options: &WriteOptions,
        with_files: bool,
    ) -> Result<Self, Error> {
        // Each record is read once, and reading them is most of the work.
        let known: Vec<Candidate<'_>> = entries.par_iter().map(Candidate::of).collect();
        let mut writer = Writer {
            loss: Loss::default(),
            names: names(&known),
            memories: Vec::new(),
            record_names: Vec::new(),
            sides: Sides::default(),
            vectors,
            with_files,
            embeddings: Vec::new(),
            embedding_ids: HashSet::new(),
            is_later: is_later(&known),
        };
        let superfluous = superfluous(&known);
        let mut sorted = Sorted::default();
        for one in known {
            if let Some(why) = superfluous.get(&one.grain.address()) {
                writer.loss.count(why);
                continue;
            }
            if let Scope::Since(since) = options.scope
                && !is_changed_since(one.grain, one.record.as_ref(), one.status, since)
            {
                continue;
            }
            sorted.add(one, &mut writer);
        }
        let Sorted {
            envelopes,
            mut relations,
            mut index,
            messages,
        } = sorted;
        writer.write_sides(&mut relations);
        let is_delta = matches!(options.scope, Scope::Since(_));
        writer.drop_dangling(&mut relations, &mut index, is_delta);
        let (conversations, entries_of_index) = writer.write_index(index, messages);
        let owner = owner(entries)?;
        let now = options.now_for(entries);
        let mut store = match options.scope {
            Scope::Since(since) => delta(owner, now, since, options.base.as_deref()),
            _ => envelope(envelopes, owner, now),
        };
        store.insert("memories", Vec::<Value>::new());
        let check = |value: &Value, _: &str, faults: &mut Diagnostics| {
            if let Some(map) = value.as_map() {
                validate::conditions(map, faults);
            }
        };
        let mut store = writer
            .settle(&tables::STORE, store, "store", check)
            .unwrap_or_default();
        let records = writer.finish(&mut store, relations, entries_of_index);
        uuid::name(&mut store);
        let version = store.get("schema_version").unwrap_or(&Value::Nil);
        let embeddings = std::mem::take(&mut writer.embeddings);
        let embeddings = (!embeddings.is_empty()).then(|| embeddings::file(version, embeddings));
        if let Some(key) = &options.sign {
            signature::sign(&mut store, key.key(), now)?;
        }
        Ok(Self {
            store: Value::Map(store),
            conversations,
            embeddings,
            written: Written {
                records,
                loss: writer.loss,
            },
        })
    }
}

/// The records of a store by kind; memories are written at once.
#[derive(Default)]
struct Sorted<'a> {
    envelopes: Vec<Map>,
    relations: Vec<Map>,
    index: Vec<(&'a Grain, Map)>,
    /// Messages by their session.
    messages: HashMap<&'a str, Vec<Value>>,
}

impl<'a> Sorted<'a> {
    fn add(&mut self, one: Candidate<'a>, writer: &mut Writer<'_>) {
        let Candidate {
            grain,
            status,
            record,
        } = one;
        match (record, grain.type_()) {
            (Some(Value::Map(map)), Type::State) if map.contains("schema") => {
                self.envelopes.push(map);
            }
            (Some(Value::Map(map)), Type::State) => {
                let check = validate::entry;
                if let Some(map) = writer.settle(&ENTRY, map, "conversations_index", check) {
                    self.index.push((grain, map));
                }
            }
            (Some(record), Type::Event) => {
                let session = grain.text("session_id").unwrap_or_default();
                self.messages.entry(session).or_default().push(record);
            }
            (Some(Value::Map(map)), _) if is_relation(grain) => {
                if let Some(map) = writer.settle(&RELATION, map, "relations", |_, _, _| {}) {
                    self.relations.push(map);
                }
            }
            (Some(Value::Map(mut map)), _) => {
                to_checksum_form(&mut map, &mut writer.loss);
                let check = validate::memory;
                let Some(mut map) = writer.settle(&MEMORY, map, "memories", check) else {
                    return;
                };
                write_status(&mut map, status, &writer.names);
                let is_told = map.contains("embedding_ref");
                writer.embedding(grain, &mut map, is_told);
                writer.memories.push(map);
            }
            _ if is_side(grain) => writer.sides.add(grain, status),
            _ => {
                let bundled = aimem::residual(grain);
                let bundled = bundled
                    .as_ref()
                    .and_then(|record| record.as_map()?.get("id")?.as_text());
                let name = bundled.map(|id| (grain.address(), id.to_owned()));
                writer.record_names.extend(name);
                let mut map = memory(grain, status, &mut writer.loss);
                write_status(&mut map, status, &writer.names);
                writer.embedding(grain, &mut map, true);
                writer.memories.push(map);
            }
        }
    }
}

pub(crate) struct Writer<'a> {
    pub(crate) loss: Loss,
    pub(super) names: HashMap<ContentAddress, String>,
    pub(super) memories: Vec<Map>,
    /// The records of bundles that memories were built from.
    pub(super) record_names: Vec<(ContentAddress, String)>,
    /// The grains that are no memories, and came in other formats.
    pub(super) sides: Sides,
    pub(crate) vectors: &'a Vectors,
    /// Whether files can go beside the store.
    pub(crate) with_files: bool,
    pub(crate) embeddings: Vec<Value>,
    pub(crate) embedding_ids: HashSet<String>,
    /// Whether the store has a later version, with members that this writer does not know.
    is_later: bool,
}

impl Writer<'_> {
    /// Removes what the schema does not have, and what the validation would refuse; `None` if no
    /// valid record is left.
    fn settle(
        &mut self,
        shape: &Shape,
        mut map: Map,
        of: &str,
        rules: fn(&Value, &str, &mut Diagnostics),
    ) -> Option<Map> {
        if self.is_later {
            return Some(map);
        }
        shape.prune(&mut map, of, &mut self.loss);
        let check = |value: &Value, faults: &mut Diagnostics| {
            shape.validate(value, "", faults);
            rules(value, "", faults);
        };
        settle(map, of, check, &mut self.loss)
    }

    /// Removes references to records that are not written; an incremental store may name those of
    /// its base (PAM 16).
    fn drop_dangling(
        &mut self,
        relations: &mut Vec<Map>,
        index: &mut [(&Grain, Map)],
        is_delta: bool,
    ) {
        if is_delta {
            return;
        }
        let mut memories = std::mem::take(&mut self.memories);
        let id = |map: &Map| map.get("id")?.as_text().map(str::to_owned);
        let ids: HashSet<String> = memories.iter().filter_map(id).collect();
        let entries: HashSet<String> = index.iter().filter_map(|(_, map)| id(map)).collect();
        let is_in =
            |ids: &HashSet<String>, id: &Value| id.as_text().is_some_and(|id| ids.contains(id));
        for memory in &mut memories {
            let references = [
                ("temporal", "superseded_by", &ids),
                ("provenance", "conversation_ref", &entries),
            ];
            for (of, name, known) in references {
                if let Some(Value::Map(inner)) = memory.get_mut(of)
                    && inner.get(name).is_some_and(|id| !is_in(known, id))
                    // A store without an index says nothing about conversations.
                    && (name != "conversation_ref" || !entries.is_empty())
                {
                    inner.remove(name);
                    self.loss.count(name);
                }
            }
        }
        self.memories = memories;
        for (_, entry) in index {
            if let Some(Value::Array(derived)) = entry.get_mut("derived_memories") {
                let before = derived.len();
                derived.retain(|id| is_in(&ids, id));
                (derived.len()..before).for_each(|_| self.loss.count("derived_memories"));
            }
        }
        let before = relations.len();
        relations.retain(|map| {
            let mut ends = ["from", "to"].into_iter().map(|name| map.get(name));
            ends.all(|end| end.is_some_and(|id| is_in(&ids, id)))
        });
        (relations.len()..before).for_each(|_| self.loss.count("relation"));
    }

    /// Writes the entries of the index. Returns their documents, by path, and the entries.
    fn write_index(
        &mut self,
        index: Vec<(&Grain, Map)>,
        mut messages: HashMap<&str, Vec<Value>>,
    ) -> (BTreeMap<String, Value>, Vec<Value>) {
        let (mut conversations, mut entries) = (BTreeMap::new(), Vec::new());
        for (grain, mut map) in index {
            let id = grain.text("session_id").unwrap_or_default();
            let messages = messages.remove(id).unwrap_or_default();
            self.conversation(grain, &mut map, messages, &mut conversations);
            entries.push(Value::Map(map));
        }
        for _ in messages.into_values().flatten() {
            self.loss.count("message");
        }
        (conversations, entries)
    }

    /// Writes one entry of the index, and its document if it has one that can be a file.
    fn conversation(
        &mut self,
        grain: &Grain,
        entry: &mut Map,
        messages: Vec<Value>,
        files: &mut BTreeMap<String, Value>,
    ) {
        let document = residual_json(grain, DOCUMENT_RESIDUAL);
        let (Some(Value::Map(mut document)), true) = (document, self.with_files) else {
            if entry.remove("storage").is_some() || !messages.is_empty() {
                self.loss.count("conversation");
            }
            return;
        };
        let storage = entry.get("storage").and_then(Value::as_map);
        let stated = storage.and_then(|storage| storage.get("ref")?.as_text());
        let is_free =
            |path: &str| ![STORE, EMBEDDINGS].contains(&path) && !files.contains_key(path);
        let path = match stated.filter(|path| check(path).is_ok() && is_free(path)) {
            Some(path) => path.to_owned(),
            None => format!("conversations/{}.json", grain.address()),
        };
        document.insert("messages", with_answers(messages));
        let check = validate::conversation;
        let Some(document) = self.settle(&CONVERSATION, document, "conversation", check) else {
            return;
        };
        let mut storage = storage.cloned().unwrap_or_default();
        storage.insert("type", "file");
        storage.insert("ref", path.as_str());
        entry.insert("storage", storage);
        files.insert(path, Value::Map(document));
    }

    /// Puts the records and their checksum into the store; returns the number of records.
    fn finish(&mut self, store: &mut Map, relations: Vec<Map>, index: Vec<Value>) -> u64 {
        let memories: Vec<Value> = self.memories.drain(..).map(Value::Map).collect();
        let relations: Vec<Value> = relations.into_iter().map(Value::Map).collect();
        let count = memories.len().saturating_add(relations.len());
        let count = count.saturating_add(index.len());
        let count = count.saturating_add(self.embeddings.len());
        let checksum = checksum::of_memories(&memories);
        let sealed = store.get("integrity").and_then(Value::as_map);
        let sealed = sealed.and_then(|integrity| integrity.get("checksum")?.as_text());
        // A signature covers the checksum: of other memories it proves nothing.
        if sealed != Some(checksum.as_str()) && store.remove("signature").is_some() {
            self.loss.count("signature");
        }
        let mut integrity = Map::new();
        integrity.insert("canonicalization", "RFC8785");
        integrity.insert("checksum", checksum);
        let total = u64::try_from(memories.len()).unwrap_or(u64::MAX);
        integrity.insert("total_memories", total);
        store.insert("integrity", integrity);
        store.insert("memories", memories);
        for (name, items) in [("relations", relations), ("conversations_index", index)] {
            if !items.is_empty() || store.contains(name) {
                store.insert(name, items);
            }
        }
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

/// Adds to each message the ids of those that answer it (PAM 25), unless it has a list of its own.
fn with_answers(mut messages: Vec<Value>) -> Vec<Value> {
    let mut answers: HashMap<String, Vec<Value>> = HashMap::new();
    let text =
        |message: &Value, name: &str| message.as_map()?.get(name)?.as_text().map(str::to_owned);
    for message in &messages {
        if let (Some(parent), Some(id)) = (text(message, "parent_id"), text(message, "id")) {
            answers.entry(parent).or_default().push(Value::Text(id));
        }
    }
    for message in &mut messages {
        let given = text(message, "id").and_then(|id| answers.remove(&id));
        if let Value::Map(map) = message
            && !map.contains("children_ids")
        {
            map.insert("children_ids", given.unwrap_or_default());
        }
    }
    messages
}

/// The name of the embeddings file beside a store (PAM 2).
pub const EMBEDDINGS: &str = embeddings::FILE;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Time, Type};
use crate::interchange::spelling::carried_json;
use crate::interchange::written::{GENERATOR, moment_text, only_one};
use crate::interchange::{Entry, Error, Loss, WriteOptions, Written};

use super::document::checksum;
use super::narrow::{narrow, write_status};
use super::native_memory::memory;
use super::object::fault;
use super::residual::{DOCUMENT_RESIDUAL, is_relation, residual};
use super::storage::check;
use super::{SCHEMA, code};

/// A memory store in the form that both validators of the format accept, and its conversations.
#[derive(Debug)]
pub struct Document {
    /// The store; goes to `memory-store.json` where there are conversations.
    pub store: Value,
    /// Conversation documents by the path below the store's directory.
    pub conversations: BTreeMap<String, Value>,
    /// What was written.
    pub written: Written,
}

impl Document {
    /// Makes the document of grains; `with_files` says whether conversations can go beside it.
    ///
    /// Records that came from PAM go out as they came, less nulls and with times of six or no
    /// digits of fraction, and with the status that the store has for them now. Grains of any other
    /// origin become memories whose metadata has the whole grain. A relation to what is not among
    /// the grains is left out.
    ///
    /// # Errors
    /// `PAM_MIXED_OWNERS`: a store is of one owner (PAM 17).
    pub fn new(entries: &[Entry], options: &WriteOptions, with_files: bool) -> Result<Self, Error> {
        let mut writer = Writer {
            loss: Loss::default(),
            names: names(entries),
            memories: Vec::new(),
        };
        let mut envelopes = Vec::new();
        let mut relations = Vec::new();
        let mut index = Vec::new();
        let mut messages: HashMap<&str, Vec<Value>> = HashMap::new();
        let superfluous = superfluous(entries);
        for (grain, status) in entries {
            if let Some(why) = superfluous.get(&grain.address()) {
                writer.loss.count(why);
                continue;
            }
            match (residual(grain), grain.type_()) {
                (Some(Value::Map(map)), Type::State) if map.contains("schema") => {
                    envelopes.push(map);
                }
                (Some(Value::Map(map)), Type::State) => index.push((grain, map)),
                (Some(record), Type::Event) => {
                    let session = grain.text("session_id").unwrap_or_default();
                    messages.entry(session).or_default().push(record);
                }
                (Some(Value::Map(map)), _) if is_relation(grain) => relations.push(map),
                (Some(Value::Map(mut map)), _) => {
                    narrow(&mut map, &mut writer.loss);
                    write_status(&mut map, status, &writer.names);
                    writer.drop_embedding(&mut map);
                    writer.memories.push(map);
                }
                _ => {
                    let mut map = memory(grain, status);
                    write_status(&mut map, status, &writer.names);
                    writer.memories.push(map);
                }
            }
        }
        writer.drop_dangling(&mut relations);
        let mut conversations = BTreeMap::new();
        let mut entries_of_index = Vec::new();
        for (grain, mut map) in index {
            let id = grain.text("session_id").unwrap_or_default();
            let messages = messages.remove(id).unwrap_or_default();
            writer.conversation(grain, &mut map, messages, with_files, &mut conversations);
            entries_of_index.push(Value::Map(map));
        }
        for _ in messages.into_values().flatten() {
            writer.loss.count("message");
        }
        let owner = owner(entries)?;
        let mut store = envelope(envelopes, owner, options.now_for(entries));
        let records = writer.finish(&mut store, relations, entries_of_index);
        Ok(Self {
            store: Value::Map(store),
            conversations,
            written: Written {
                records,
                loss: writer.loss,
            },
        })
    }
}

/// Returns the PAM id of every grain that is going to have one.
fn names(entries: &[Entry]) -> HashMap<ContentAddress, String> {
    let ids = entries.iter();
    ids.map(|(grain, _)| {
        let record = residual(grain);
        let id = record
            .as_ref()
            .and_then(|record| record.as_map()?.get("id")?.as_text());
        let id = id.map_or_else(|| uuid(grain.address()), str::to_owned);
        (grain.address(), id)
    })
    .collect()
}

/// Returns the grains whose id another one has in the file, and why it is not theirs: a file has
/// one version of each record, the newest.
fn superfluous(entries: &[Entry]) -> HashMap<ContentAddress, &'static str> {
    let mut ids = HashMap::new();
    for (grain, _) in entries {
        if let Some(id) = identity(grain) {
            ids.insert(grain.address(), id);
        }
    }
    let mut superfluous = HashMap::new();
    for (grain, _) in entries {
        let id = ids.get(&grain.address());
        let earlier = grain.derived_from();
        for earlier in earlier.filter(|earlier| id.is_some() && ids.get(earlier) == id) {
            superfluous.insert(earlier, "earlier version");
        }
    }
    let mut taken = HashSet::new();
    for (grain, _) in entries {
        let address = grain.address();
        if let Some(id) = ids.get(&address)
            && !superfluous.contains_key(&address)
            && !taken.insert(id)
        {
            superfluous.insert(address, "conflicting version");
        }
    }
    superfluous
}

/// Returns what a grain that came from PAM is told by among those of its kind.
fn identity(grain: &Grain) -> Option<(u8, bool, String, String)> {
    let record = residual(grain)?;
    let id = record.as_map()?.get("id")?.as_text()?.to_owned();
    let is_message = grain.type_() == Type::Event;
    // The ids of messages are unique in their conversation.
    let session = grain.text("session_id").filter(|_| is_message);
    let session = session.unwrap_or_default().to_owned();
    let kind = match grain.type_() {
        Type::State => 0,
        Type::Event => 1,
        _ => 2,
    };
    Some((kind, is_relation(grain), session, id))
}

struct Writer {
    loss: Loss,
    names: HashMap<ContentAddress, String>,
    memories: Vec<Map>,
}

impl Writer {
    /// No embeddings file is written, so nothing may point into one.
    fn drop_embedding(&mut self, map: &mut Map) {
        if map.remove("embedding_ref").is_some() {
            self.loss.count("embedding_ref");
        }
    }

    fn ids(&self) -> HashSet<&str> {
        let ids = self
            .memories
            .iter()
            .filter_map(|map| map.get("id")?.as_text());
        ids.collect()
    }

    fn drop_dangling(&mut self, relations: &mut Vec<Map>) {
        let before = relations.len();
        let ids = self.ids();
        let is_known = |map: &Map, name: &str| {
            let id = map.get(name).and_then(Value::as_text);
            id.is_some_and(|id| ids.contains(id))
        };
        relations.retain(|map| is_known(map, "from") && is_known(map, "to"));
        for _ in relations.len()..before {
            self.loss.count("relation");
        }
    }

    /// Writes one entry of the index, and its document if there is one and a place for it.
    fn conversation(
        &mut self,
        grain: &Grain,
        entry: &mut Map,
        messages: Vec<Value>,
        with_files: bool,
        files: &mut BTreeMap<String, Value>,
    ) {
        let ids = self.ids();
        if let Some(Value::Array(derived)) = entry.get_mut("derived_memories") {
            derived.retain(|id| id.as_text().is_some_and(|id| ids.contains(id)));
        }
        let document = carried_json(grain, DOCUMENT_RESIDUAL);
        let (Some(Value::Map(mut document)), true) = (document, with_files) else {
            if entry.remove("storage").is_some() || !messages.is_empty() {
                self.loss.count("conversation");
            }
            return;
        };
        let storage = entry.get("storage").and_then(Value::as_map);
        let told = storage.and_then(|storage| storage.get("ref")?.as_text());
        let is_free = |path: &str| path != STORE && !files.contains_key(path);
        let path = match told.filter(|path| check(path).is_ok() && is_free(path)) {
            Some(path) => path.to_owned(),
            None => format!("conversations/{}.json", grain.address()),
        };
        document.insert("messages", messages);
        let mut storage = storage.cloned().unwrap_or_default();
        storage.insert("type", "file");
        storage.insert("ref", path.as_str());
        entry.insert("storage", storage);
        files.insert(path, Value::Map(document));
    }

    /// Puts the records into the store and seals it; returns how many there are.
    fn finish(&mut self, store: &mut Map, relations: Vec<Map>, index: Vec<Value>) -> u64 {
        let memories: Vec<Value> = self.memories.drain(..).map(Value::Map).collect();
        let relations: Vec<Value> = relations.into_iter().map(Value::Map).collect();
        let count = memories.len().saturating_add(relations.len());
        let count = count.saturating_add(index.len());
        let checksum = checksum(&memories);
        let sealed = store.get("integrity").and_then(Value::as_map);
        let sealed = sealed.and_then(|integrity| integrity.get("checksum")?.as_text());
        // A signature is over the checksum: of other memories it proves nothing.
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

/// Returns whose memories these are, if nobody else's are among them.
fn owner(entries: &[Entry]) -> Result<Option<&str>, Error> {
    let users = entries
        .iter()
        .filter_map(|(grain, _)| grain.text("user_id"));
    only_one(users).map_err(|names| {
        let message = format!("a store is of one owner; there are {}", names.join(", "));
        fault(code::MIXED_OWNERS, String::new(), message)
    })
}

/// Returns what the store says about itself: below one envelope what that said.
fn envelope(mut envelopes: Vec<Map>, owner: Option<&str>, now: Time) -> Map {
    if let (1, Some(mut only)) = (envelopes.len(), envelopes.pop()) {
        // Where the schema allows null it means nothing else than absence.
        let nulls: Vec<String> = only
            .iter()
            .filter(|(_, value)| **value == Value::Nil)
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in nulls {
            only.remove(&name);
        }
        return only;
    }
    let mut store = Map::new();
    store.insert("schema", SCHEMA);
    store.insert("schema_version", "1.0");
    store.insert("exported_by", GENERATOR);
    store.insert("export_date", moment_text(now));
    let id = owner.unwrap_or("local");
    let did = id.starts_with("did:").then_some(("did", id));
    let owner: Map = [("id", id)].into_iter().chain(did).collect();
    store.insert("owner", owner);
    store
}

/// Returns a UUID made of an address: PAM wants the form of version 4 (PAM 4).
pub(super) fn uuid(address: ContentAddress) -> String {
    let mut bytes: Vec<u8> = address.as_bytes().iter().copied().take(16).collect();
    for (at, (keep, set)) in [(6, (0x0f, 0x40)), (8, (0x3f, 0x80))] {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = (*byte & keep) | set;
        }
    }
    let hex = data_encoding::HEXLOWER.encode(&bytes);
    let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
    let groups = [
        group(0, 8),
        group(8, 12),
        group(12, 16),
        group(16, 20),
        group(20, 32),
    ];
    groups.join("-")
}

/// The name of the store in its directory.
pub const STORE: &str = "memory-store.json";

//! The records of a store, each as it is written.

use std::collections::{HashMap, HashSet};

use crate::codec::{Map, Value};
use crate::grain::Grain;
use crate::interchange::entries::each;
use crate::interchange::formats::shape::Shape;
use crate::interchange::model::embedded_grain::{self, SIDES};
use crate::interchange::model::link::link_of;
use crate::interchange::model::normalize::residual_json;
use crate::interchange::model::redaction::redact;
use crate::interchange::model::rfc3339::insert_required;
use crate::interchange::{Diagnostics, Entries, Entry, Loss, aimem};

use super::super::files::storage::check;
use super::super::schema::settle::settle;
use super::super::schema::tables::{CONVERSATION, ENTRY, MEMORY, MESSAGE, RELATION};
use super::super::schema::validate;
use super::super::types::embeddings::EMBEDDING;
use super::super::types::object::reported;
use super::super::types::residual::{DOCUMENT_RESIDUAL, residual};
use super::checksum_form::{to_checksum_form, write_status};
use super::embedded_memory::{EXTENSION, memory};
use super::plan::{Plan, id_of};
use super::turn;
use super::uuid::uuid;

/// The rules that a record is held to beside its schema.
type Rules = fn(&Value, &str, &mut Diagnostics);

/// Removes what the schema does not have, and what the validation would refuse; `None` if no valid
/// record is left.
pub(super) fn settled(
    shape: &Shape,
    mut map: Map,
    of: &str,
    rules: Rules,
    loss: &mut Loss,
) -> Option<Map> {
    shape.prune(&mut map, of, loss);
    let check = |value: &Value, faults: &mut Diagnostics| {
        shape.validate(value, "", &mut reported(faults));
        rules(value, "", faults);
    };
    settle(map, of, check, loss)
}

/// Returns a memory that came from PAM, without what depends on others.
pub(super) fn of_memory(mut map: Map, is_later: bool, loss: &mut Loss) -> Option<Map> {
    to_checksum_form(&mut map, loss);
    if is_later {
        return Some(map);
    }
    settled(&MEMORY, map, "memories", validate::memory, loss)
}

pub(super) fn index_entry(map: Map, is_later: bool, loss: &mut Loss) -> Option<Map> {
    if is_later {
        return Some(map);
    }
    settled(&ENTRY, map, "conversations_index", validate::entry, loss)
}

fn relation_record(map: Map, is_later: bool, loss: &mut Loss) -> Option<Map> {
    if is_later {
        return Some(map);
    }
    settled(&RELATION, map, "relations", |_, _, _| {}, loss)
}

impl Plan {
    /// Returns the memory of a grain; `None` for one that cannot be written.
    pub(super) fn memory<E: Entries + ?Sized>(
        &self,
        entries: &E,
        number: u32,
        (grain, status): Entry,
        loss: &mut Loss,
    ) -> Result<Option<Map>, E::Error> {
        let (mut map, is_told) = match residual(&grain) {
            Some(Value::Map(map)) => {
                let Some(map) = of_memory(map, self.is_later, loss) else {
                    return Ok(None);
                };
                let is_told = map.contains("embedding_ref");
                (map, is_told)
            }
            _ => {
                let mut map = memory(&grain, &status, loss);
                if let Some(packed) = extension(&mut map) {
                    let holds = entries.holds(&grain.address());
                    embedded_grain::add_holds(packed, &grain, &holds);
                }
                (map, true)
            }
        };
        let replacement = match status.superseded_by {
            Some(address) => match entries.find(&address)? {
                Some(number) => entries.read(number)?.map(|(grain, _)| id_of(&grain)),
                None => None,
            },
            None => None,
        };
        write_status(&mut map, &status, replacement.as_deref());
        self.refer_to_vector(entries, number, &mut map, is_told, loss)?;
        self.add_sides(entries, number, &mut map)?;
        if !self.is_delta {
            self.drop_dangling(&mut map, loss);
        }
        if self.is_redacted {
            redact(&mut map, &OF_MEMORY, loss);
        }
        Ok(Some(map))
    }

    /// Refers to the vector of a memory. Without it, no reference may point to one (PAM 12); a
    /// record without a reference keeps none, since the embedding names the memory.
    fn refer_to_vector<E: Entries + ?Sized>(
        &self,
        entries: &E,
        number: u32,
        map: &mut Map,
        names_it: bool,
        loss: &mut Loss,
    ) -> Result<(), E::Error> {
        let reference = map.remove("embedding_ref");
        let at = self
            .vectors
            .binary_search_by_key(&number, |(number, _)| *number);
        if let Some((_, id)) = at.ok().and_then(|at| self.vectors.get(at)) {
            if names_it {
                map.insert("embedding_ref", id.as_str());
            }
        } else if !self.with_files && entries.vector(number)?.is_some() {
            loss.count(EMBEDDING);
        } else if reference.is_some() {
            loss.count("embedding_ref");
        }
        Ok(())
    }

    /// Adds the grains that stand beside a memory to its extension.
    fn add_sides<E: Entries + ?Sized>(
        &self,
        entries: &E,
        number: u32,
        map: &mut Map,
    ) -> Result<(), E::Error> {
        let from = self.beside.partition_point(|(host, _)| *host < number);
        let sides = self.beside.get(from..).unwrap_or_default().iter();
        for (_, side) in sides.take_while(|(host, _)| *host == number) {
            if let (Some((grain, status)), Some(packed)) = (entries.read(*side)?, extension(map)) {
                let side = embedded_grain::pack_held(&grain, &status, entries);
                match packed.get_mut(SIDES) {
                    Some(Value::Array(sides)) => sides.push(Value::Map(side)),
                    _ => drop(packed.insert(SIDES, vec![Value::Map(side)])),
                }
            }
        }
        Ok(())
    }

    /// Removes references to records that are not written.
    fn drop_dangling(&self, memory: &mut Map, loss: &mut Loss) {
        let references = [
            ("temporal", "superseded_by", &self.memory_ids),
            ("provenance", "conversation_ref", &self.entry_ids),
        ];
        for (of, name, known) in references {
            if let Some(Value::Map(inner)) = memory.get_mut(of)
                && inner.get(name).is_some_and(|id| !is_in(known, id))
                // A store without an index says nothing about conversations.
                && (name != "conversation_ref" || !self.index.is_empty())
            {
                inner.remove(name);
                loss.count(name);
            }
        }
    }

    /// Returns the relation of a grain; `None` if one of its ends is not written.
    pub(super) fn relation<E: Entries + ?Sized>(
        &self,
        entries: &E,
        (grain, _): Entry,
        loss: &mut Loss,
    ) -> Result<Option<Map>, E::Error> {
        let map = match residual(&grain) {
            Some(Value::Map(map)) => {
                let Some(map) = relation_record(map, self.is_later, loss) else {
                    return Ok(None);
                };
                map
            }
            _ => match of_link(entries, &grain, loss)? {
                Some(map) => map,
                None => return Ok(None),
            },
        };
        let mut ends = ["from", "to"].into_iter().map(|name| map.get(name));
        let is_whole =
            self.is_delta || ends.all(|end| end.is_some_and(|id| is_in(&self.memory_ids, id)));
        if !is_whole {
            loss.count("relation");
        }
        Ok(is_whole.then_some(map))
    }

    /// Returns the index entry of a conversation, with the path of its document.
    pub(super) fn index_entry(&self, number: u32, grain: &Grain, loss: &mut Loss) -> Option<Map> {
        let Some(Value::Map(map)) = residual(grain) else {
            return None;
        };
        let mut map = index_entry(map, self.is_later, loss)?;
        match self.paths.get(&number) {
            Some(path) => {
                let storage = map.get("storage").and_then(Value::as_map);
                let mut storage = storage.cloned().unwrap_or_default();
                storage.insert("type", "file");
                storage.insert("ref", path.as_str());
                map.insert("storage", storage);
            }
            None => {
                let session = grain.text("session_id").unwrap_or_default();
                if map.remove("storage").is_some() || !self.messages_of(session).is_empty() {
                    loss.count("conversation");
                }
            }
        }
        if !self.is_delta
            && let Some(Value::Array(derived)) = map.get_mut("derived_memories")
        {
            let before = derived.len();
            derived.retain(|id| is_in(&self.memory_ids, id));
            (derived.len()..before).for_each(|_| loss.count("derived_memories"));
        }
        Some(map)
    }

    /// Returns the document of a conversation without its messages; `None` if none can be written.
    pub(super) fn conversation(&self, grain: &Grain, loss: &mut Loss) -> Option<Map> {
        let Some(Value::Map(mut head)) = residual_json(grain, DOCUMENT_RESIDUAL) else {
            return None;
        };
        head.insert("messages", Vec::<Value>::new());
        if !self.is_later {
            let rules = validate::conversation;
            head = settled(&CONVERSATION, head, "conversation", rules, loss)?;
        }
        head.remove("messages");
        if self.is_redacted {
            redact(&mut head, &OF_CONVERSATION, loss);
        }
        Some(head)
    }

    /// Returns the path of the document of a conversation: as its entry has it, if no other has.
    pub(super) fn path_of(grain: &Grain, used: &mut HashSet<String>) -> String {
        let entry = residual(grain);
        let entry = entry.as_ref().and_then(Value::as_map);
        let storage = entry.and_then(|map| map.get("storage")?.as_map());
        let stated = storage.and_then(|storage| storage.get("ref")?.as_text());
        let stated = stated.filter(|path| check(path).is_ok() && !used.contains(*path));
        let path = match stated {
            Some(path) => path.to_owned(),
            None => format!("conversations/{}.json", grain.address()),
        };
        used.insert(path.clone());
        path
    }

    /// Returns a message with the ids of those that answer it (PAM 25), unless it has a list of its
    /// own.
    pub(super) fn message<E: Entries + ?Sized>(
        &self,
        entries: &E,
        messages: &[(u64, u32)],
        (grain, status): Entry,
        answers: &Answers,
        loss: &mut Loss,
    ) -> Result<Option<Map>, E::Error> {
        let map = match residual(&grain) {
            Some(Value::Map(map)) => map,
            _ => turn::message(entries, messages, (&grain, &status), loss)?,
        };
        Ok(self.with_answers(map, answers, loss))
    }

    fn with_answers(&self, mut map: Map, answers: &Answers, loss: &mut Loss) -> Option<Map> {
        let of = "conversation.messages";
        if !self.is_later {
            map = settled(&MESSAGE, map, of, |_, _, _| {}, loss)?;
        }
        if let Some(Value::Array(children)) = map.get_mut("children_ids") {
            let before = children.len();
            let is_known = |id: &Value| id.as_text().is_none_or(|id| answers.ids.contains(id));
            children.retain(|id| self.is_later || is_known(id));
            (children.len()..before).for_each(|_| loss.count(&format!("{of}.children_ids")));
        } else if !map.contains("children_ids") {
            let id = map.get("id").and_then(Value::as_text).unwrap_or_default();
            let children = answers.by_parent.get(id).into_iter().flatten();
            let children = children.map(|id| Value::from(id.as_str()));
            map.insert("children_ids", children.collect::<Vec<_>>());
        }
        if self.is_redacted {
            redact(&mut map, &OF_MESSAGE, loss);
        }
        Some(map)
    }
}

/// The names of accounts and places on other platforms (PAM 21), and the grain that has them all.
const OF_MEMORY: [&str; 2] = ["provenance/platform_user_id", "metadata/x_oms"];
const OF_CONVERSATION: [&str; 4] = [
    "provider/account_id",
    "provider/conversation_id",
    "participants/provider_id",
    "raw_metadata",
];
const OF_MESSAGE: [&str; 3] = [
    "provider_message_id",
    "attachments/provider_id",
    "raw_metadata",
];

/// The messages of a conversation, and those that answer each.
#[derive(Default)]
pub(super) struct Answers {
    ids: HashSet<String>,
    by_parent: HashMap<String, Vec<String>>,
}

impl Answers {
    pub(super) fn of<E: Entries + ?Sized>(
        entries: &E,
        messages: &[(u64, u32)],
    ) -> Result<Self, E::Error> {
        let mut answers = Self::default();
        let make = |_, (grain, _): Entry| {
            let record = residual(&grain);
            if record.is_none() {
                let parent = turn::parent(entries, messages, &grain)?;
                return Ok((Some(id_of(&grain)), parent));
            }
            let map = record.as_ref().and_then(Value::as_map);
            let text = |name: &str| Some(map?.get(name)?.as_text()?.to_owned());
            Ok((text("id"), text("parent_id")))
        };
        each(
            entries,
            messages.iter().map(|(_, number)| *number),
            make,
            |(id, parent)| {
                let Some(id) = id else { return Ok(()) };
                if let Some(parent) = parent {
                    let answers = answers.by_parent.entry(parent);
                    answers.or_default().push(id.clone());
                }
                answers.ids.insert(id);
                Ok(())
            },
        )?;
        Ok(answers)
    }
}

/// Returns the relation that a grain of another format is.
fn of_link<E: Entries + ?Sized>(
    entries: &E,
    grain: &Grain,
    loss: &mut Loss,
) -> Result<Option<Map>, E::Error> {
    let Some(link) = link_of(grain) else {
        return Ok(None);
    };
    let mut names = Vec::new();
    for end in &link.ends {
        let found = entries.find(end)?;
        let end = found.map_or(Ok(None), |number| entries.read(number))?;
        names.extend(end.map(|(grain, _)| id_of(&grain)));
    }
    let [from, to, ..] = names.as_slice() else {
        return Ok(None);
    };
    let mut map = Map::new();
    map.insert("id", uuid(grain.address()));
    map.insert("from", from.as_str());
    map.insert("to", to.as_str());
    map.insert("type", kind(&link.kind));
    // A relation of OMI has no confidence, and none is invented.
    if let Some(confidence) = grain.field("confidence")
        && aimem::residual(grain).is_some()
    {
        map.insert("confidence", confidence.clone());
    }
    insert_required(&mut map, "created_at", grain.created_at(), loss);
    Ok(Some(map))
}

/// Returns the extension of a memory.
fn extension(memory: &mut Map) -> Option<&mut Map> {
    match memory.get_mut("metadata") {
        Some(Value::Map(metadata)) => match metadata.get_mut(EXTENSION) {
            Some(Value::Map(packed)) => Some(packed),
            _ => None,
        },
        _ => None,
    }
}

fn is_in(ids: &crate::interchange::model::compact_table::CompactTable<()>, id: &Value) -> bool {
    id.as_text()
        .is_some_and(|id| ids.get(ids.key(id)).is_some())
}

/// Returns the nearest of the types of PAM 13.
fn kind(name: &str) -> &'static str {
    let known = [
        "supports",
        "contradicts",
        "extends",
        "supersedes",
        "derived_from",
    ];
    let found = known.into_iter().find(|known| *known == name);
    found.unwrap_or("related_to")
}

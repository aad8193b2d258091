//! An agent's own turns, which came in no file: each session of them is a conversation (PAM 25),
//! whose messages hold the whole grains.

use std::collections::{BTreeMap, HashMap};

use crate::codec::{Map, Value};
use crate::grain::{Grain, Status, Time, Type, Verification};
use crate::interchange::export::event_time;
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::model::embedded_grain::{pack_held, said};
use crate::interchange::model::rfc3339::insert_required;
use crate::interchange::{Entries, Loss};

use super::super::names::CONVERSATION;
use super::super::schema::tables::ROLES;
use super::embedded_memory::{EXTENSION, six_digits};
use super::plan::id_of;
use super::uuid::{uuid, uuid_of};

/// A conversation of turns of which the store has no entry of the index.
pub(super) struct OwnConversation {
    /// The session, or another id if a conversation without a document has that.
    pub(super) id: String,
    from: Time,
    to: Time,
    pub(super) message_count: u64,
}

/// The turns that the first reading finds.
#[derive(Default)]
pub(super) struct Turns {
    sessions: BTreeMap<String, OwnConversation>,
    /// The numbers of the turns, by the hash of their session.
    found: Vec<(u64, u32)>,
}

/// Returns the session of an own turn that a conversation can hold. One that ended has a status, for
/// which messages have no place: it stays a memory.
pub(super) fn session_of<'g>(grain: &'g Grain, status: &Status) -> Option<&'g str> {
    let judged = [Verification::Contested, Verification::Retracted];
    let is_turn = grain.type_() == Type::Event
        && !grain.is_record()
        && status.is_current()
        && !judged.contains(&status.verification)
        && grain.text("role").is_some_and(|role| ROLES.contains(&role));
    let session = grain.text("session_id").filter(|it| !it.is_empty());
    session.filter(|_| is_turn)
}

impl Turns {
    pub(super) fn add(&mut self, number: u32, key: u64, session: String, at: Time) {
        self.found.push((key, number));
        let known = self.sessions.entry(session);
        let known = known.or_insert_with_key(|id| OwnConversation {
            id: id.clone(),
            from: at,
            to: at,
            message_count: 0,
        });
        known.from = known.from.min(at);
        known.to = known.to.max(at);
        known.message_count = known.message_count.saturating_add(1);
    }

    /// Returns the conversations, and the messages by the hash of their session. Turns of a session
    /// whose document is written (`documents`) are messages of that.
    pub(super) fn placed(
        self,
        sessions: &CompactTable<()>,
        documents: &HashMap<u64, bool>,
    ) -> (Vec<OwnConversation>, Vec<(u64, u32)>) {
        let (mut own, mut renamed) = (Vec::new(), HashMap::new());
        for (session, mut conversation) in self.sessions {
            let key = sessions.key(session.as_str());
            match documents.get(&key) {
                Some(true) => continue,
                Some(false) => {
                    conversation.id = uuid_of(session.as_bytes());
                    renamed.insert(key, sessions.key(conversation.id.as_str()));
                }
                None => {}
            }
            own.push(conversation);
        }
        let found = self.found.into_iter();
        let messages = found.map(|(key, number)| (*renamed.get(&key).unwrap_or(&key), number));
        (own, messages.collect())
    }
}

impl OwnConversation {
    pub(super) fn path(&self) -> String {
        format!("conversations/{}.json", uuid_of(self.id.as_bytes()))
    }

    fn temporal(&self, loss: &mut Loss) -> Map {
        let mut temporal = Map::new();
        insert_required(&mut temporal, "created_at", self.from, loss);
        insert_required(&mut temporal, "updated_at", self.to, loss);
        temporal
    }

    /// Returns the entry of the index.
    pub(super) fn entry(&self, loss: &mut Loss) -> Map {
        let storage = [("type", "file".to_owned()), ("ref", self.path())];
        let storage: Map = storage.into_iter().collect();
        let mut entry = Map::new();
        entry.insert("id", self.id.as_str());
        entry.insert("platform", PLATFORM);
        entry.insert("message_count", self.message_count);
        entry.insert("temporal", self.temporal(loss));
        entry.insert("storage", storage);
        entry
    }

    /// Returns the document without its messages.
    pub(super) fn document(&self, loss: &mut Loss) -> Map {
        let mut head = Map::new();
        head.insert("schema", CONVERSATION);
        head.insert("schema_version", "1.0");
        head.insert("id", self.id.as_str());
        let provider: Map = [("name", PLATFORM)].into_iter().collect();
        head.insert("provider", provider);
        head.insert("temporal", self.temporal(loss));
        head
    }
}

/// Returns the time at which a turn was said.
pub(super) fn time_of(grain: &Grain) -> Time {
    event_time(grain).unwrap_or_else(|| grain.created_at())
}

/// Returns the message of a turn; its parent is one that the same conversation has.
pub(super) fn message<E: Entries + ?Sized>(
    entries: &E,
    messages: &[(u64, u32)],
    (grain, status): (&Grain, &Status),
    loss: &mut Loss,
) -> Result<Map, E::Error> {
    let mut map = Map::new();
    map.insert("id", uuid(grain.address()));
    map.insert("role", grain.text("role").unwrap_or_default());
    if let Some(text) = said(grain) {
        let content: Map = [("type", "text".to_owned()), ("text", text)]
            .into_iter()
            .collect();
        map.insert("content", content);
    }
    let mut time = Map::new();
    insert_required(&mut time, "created_at", time_of(grain), loss);
    let time = time.get("created_at").and_then(Value::as_text);
    map.insert("created_at", six_digits(time));
    if let Some(parent) = parent(entries, messages, grain)? {
        map.insert("parent_id", parent);
    }
    if let Some(model) = grain.text("model_id") {
        map.insert("model", model);
    }
    let packed = pack_held(grain, status, entries);
    let raw: Map = [(EXTENSION, packed)].into_iter().collect();
    map.insert("raw_metadata", raw);
    Ok(map)
}

/// Returns the id of the message that a turn answers, if it is of the same conversation.
pub(super) fn parent<E: Entries + ?Sized>(
    entries: &E,
    messages: &[(u64, u32)],
    grain: &Grain,
) -> Result<Option<String>, E::Error> {
    let parent = grain.text("parent_message_id");
    let parent = parent.and_then(|text| text.parse().ok());
    let Some(number) = parent.map_or(Ok(None), |address| entries.find(&address))? else {
        return Ok(None);
    };
    // They are sorted by their number, since all have the same session.
    let is_here = messages.binary_search_by_key(&number, |(_, number)| *number);
    let read = is_here.map_or(Ok(None), |_| entries.read(number))?;
    Ok(read.map(|(grain, _)| id_of(&grain)))
}

const PLATFORM: &str = "grainstore";

//! A conversation of any provider, on its way to a PAM conversation document (PAM 25).

use std::collections::{HashMap, HashSet};

use crate::codec::{Map, Name, Value};
use crate::grain::word;
use crate::interchange::Loss;
pub(super) use crate::interchange::formats::members::{
    into_rest, object, objects, rest, stable_id, text, time,
};
use crate::interchange::model::rfc3339::parse_rfc3339;

/// A conversation.
#[derive(Default)]
pub(super) struct Conversation {
    pub(super) id: String,
    pub(super) title: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    pub(super) account: Option<String>,
    pub(super) model: Option<String>,
    pub(super) is_archived: Option<bool>,
    pub(super) messages: Vec<Message>,
    /// The members without a place of their own.
    pub(super) raw: Map,
    /// The parts that no record carries, by name.
    pub(super) lost: Loss,
}

/// A message of it.
#[derive(Default)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) role: &'static str,
    /// `None`: that of the conversation.
    pub(super) created_at: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) text: Option<String>,
    /// Parts that are not only text; then `text` is `None`.
    pub(super) parts: Vec<Value>,
    pub(super) model: Option<String>,
    pub(super) is_thought: bool,
    pub(super) tool_calls: Vec<Value>,
    pub(super) attachments: Vec<Value>,
    pub(super) citations: Vec<Value>,
    pub(super) raw: Map,
}

impl Message {
    /// Puts a thought before the message: it answers what the message answered, and the message
    /// answers it.
    pub(super) fn thought(&mut self, text: String) -> Self {
        let id = format!("{}/thinking", self.id);
        Self {
            parent: self.parent.replace(id.clone()),
            id,
            role: "assistant",
            created_at: self.created_at.clone(),
            text: Some(text),
            is_thought: true,
            ..Self::default()
        }
    }
}

/// Returns the objects of a list of messages, each with its place in it; anything else in it is counted.
pub(super) fn listed<'a>(map: &'a Map, name: &str, lost: &mut Loss) -> Vec<(usize, &'a Map)> {
    let items = map.get(name).and_then(Value::as_array).unwrap_or_default();
    let mut found = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        match item.as_map() {
            Some(item) => found.push((number, item)),
            None => lost.count(MESSAGE_LOSS),
        }
    }
    found
}

/// Returns a node of a graph, and its message. Nodes without one hold the others together; a node or a
/// message that is no object is counted.
pub(super) fn spoken<'a>(node: &'a Value, lost: &mut Loss) -> Option<(&'a Map, &'a Map)> {
    let map = node.as_map();
    let message = map.map_or(Some(node), |map| map.get("message"));
    let said = message.and_then(Value::as_map);
    if said.is_none() && message.is_some_and(|it| *it != Value::Nil) {
        lost.count(MESSAGE_LOSS);
    }
    Some((map?, said?))
}

/// Returns an id for a message without one: of its place in its conversation, and of its text.
pub(super) fn placed_id(provider: &str, conversation: &str, number: usize, said: &str) -> String {
    stable_id(&[provider, conversation, &number.to_string(), said])
}

impl Conversation {
    /// Takes out of the messages what would keep all of them from being read: one that has the id of an
    /// earlier one, and in a circle of messages that answer each other the link of its first.
    pub(super) fn untangle(&mut self) {
        let mut ids = HashSet::with_capacity(self.messages.len());
        let messages = self.messages.iter();
        let are_first: Vec<bool> = messages.map(|it| ids.insert(it.id.as_str())).collect();
        if are_first.contains(&false) {
            let mut are_first = are_first.into_iter();
            let before = self.messages.len();
            self.messages.retain(|_| are_first.next() == Some(true));
            (self.messages.len()..before).for_each(|_| self.lost.count("duplicate"));
        }
        for number in first_of_circles(&self.messages) {
            if let Some(message) = self.messages.get_mut(number) {
                message.parent = None;
                self.lost.count(CIRCLE_LOSS);
            }
        }
    }

    /// Returns whether messages of it answered each other in a circle.
    pub(super) fn had_circle(lost: &Loss) -> bool {
        lost.iter().any(|(name, _)| name == CIRCLE_LOSS)
    }

    /// Makes every message answer the one before it, where the provider gives no other order.
    pub(super) fn thread(&mut self) {
        let mut last: Option<String> = None;
        for message in &mut self.messages {
            message.parent = last.replace(message.id.clone());
        }
    }

    /// Returns the earliest time; none is invented.
    fn time(&self) -> Option<String> {
        let first = || {
            let times = self
                .messages
                .iter()
                .filter_map(|message| message.created_at.as_ref());
            times.min_by_key(|text| parse_rfc3339(text).unwrap_or_default())
        };
        self.created_at.as_ref().or_else(first).cloned()
    }

    /// Returns the entry of the index and the document; `None` without any time.
    pub(super) fn into_pam(self, provider: &str, importer: &str) -> Option<(Value, Value)> {
        let created_at = self.time()?;
        let mut temporal = Map::new();
        temporal.insert("created_at", created_at.as_str());
        if let Some(updated_at) = &self.updated_at {
            temporal.insert("updated_at", updated_at.as_str());
        }
        let mut entry = Map::new();
        entry.insert("id", self.id.as_str());
        entry.insert("platform", provider);
        entry.insert("temporal", temporal.clone());
        let mut source = Map::new();
        source.insert("name", provider);
        source.insert("conversation_id", self.id.as_str());
        if let Some(account) = self.account {
            source.insert("account_id", account);
        }
        let mut document = Map::new();
        document.insert("schema", "portable-ai-memory-conversation");
        document.insert("schema_version", "1.0");
        document.insert("id", self.id);
        document.insert("provider", source);
        document.insert("temporal", temporal);
        if let Some(title) = self.title {
            entry.insert("title", title.as_str());
            document.insert("title", title);
        }
        if let Some(model) = self.model {
            document.insert("model", model);
        }
        if let Some(is_archived) = self.is_archived {
            document.insert("is_archived", is_archived);
        }
        let import: Map = [("importer_version", importer)].into_iter().collect();
        document.insert("import_metadata", import);
        if !self.raw.is_empty() {
            document.insert("raw_metadata", self.raw);
        }
        let ids: HashSet<&str> = self.messages.iter().map(|it| it.id.as_str()).collect();
        let is_known = |it: &Message| it.parent.as_deref().is_some_and(|id| ids.contains(id));
        let are_known: Vec<bool> = self.messages.iter().map(is_known).collect();
        let mut messages = Vec::with_capacity(self.messages.len());
        for (mut message, is_known) in self.messages.into_iter().zip(are_known) {
            message.parent = message.parent.filter(|_| is_known);
            messages.push(message.into_pam(&created_at));
        }
        document.insert("messages", messages);
        Some((Value::Map(entry), Value::Map(document)))
    }
}

impl Message {
    fn into_pam(self, default_time: &str) -> Value {
        let content = match self.parts.is_empty() {
            true => [
                member("text", self.text.unwrap_or_default()),
                member("type", "text"),
            ],
            false => [member("parts", self.parts), member("type", "multipart")],
        };
        let created_at = self.created_at.as_deref().unwrap_or(default_time);
        let listed = |name, items: Vec<Value>| (!items.is_empty()).then(|| member(name, items));
        let raw = Some(self.raw).filter(|raw| !raw.is_empty());
        // In the order of the names, as a map keeps them.
        let members = [
            listed("attachments", self.attachments),
            listed("citations", self.citations),
            Some(member("content", of_members(content))),
            Some(member("created_at", created_at)),
            Some(member("id", self.id.as_str())),
            self.is_thought.then(|| member("is_thought", true)),
            self.model.map(|model| member("model", model)),
            self.parent.map(|parent| member("parent_id", parent)),
            Some(member("provider_message_id", self.id)),
            raw.map(|raw| member("raw_metadata", raw)),
            Some(member("role", self.role)),
            listed("tool_calls", self.tool_calls),
        ];
        Value::Map(of_members(members.into_iter().flatten()))
    }
}

fn member(name: &str, value: impl Into<Value>) -> (Name, Value) {
    (Name::of(name, word), value.into())
}

/// Returns the map of members whose names differ.
fn of_members(members: impl IntoIterator<Item = (Name, Value)>) -> Map {
    Map::from_named(members.into_iter().collect()).unwrap_or_default()
}

/// Returns of each circle of messages that answer each other the number of its first message.
fn first_of_circles(messages: &[Message]) -> Vec<usize> {
    let numbers: HashMap<&str, usize> = messages
        .iter()
        .enumerate()
        .map(|(number, message)| (message.id.as_str(), number))
        .collect();
    let answered = |number: usize| {
        let parent = messages.get(number)?.parent.as_deref()?;
        numbers.get(parent).copied()
    };
    // By which walk a message was met: each is met once, so that a long chain costs its length.
    let mut met: Vec<Option<usize>> = vec![None; messages.len()];
    let mut first = Vec::new();
    for start in 0..messages.len() {
        let mut at = Some(start);
        while let Some((here, walk @ None)) = at.and_then(|at| Some((at, met.get_mut(at)?))) {
            *walk = Some(start);
            at = answered(here);
        }
        let Some(closes) = at.filter(|here| met.get(*here) == Some(&Some(start))) else {
            continue;
        };
        let mut earliest = closes;
        let mut here = answered(closes);
        while let Some(on) = here.filter(|on| *on != closes) {
            earliest = earliest.min(on);
            here = answered(on);
        }
        first.push(earliest);
    }
    first
}

/// Messages that are none.
const MESSAGE_LOSS: &str = "message";
/// Links that would close a circle.
const CIRCLE_LOSS: &str = "parent_id";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_opened_at_its_first_message_alone() {
        let of = |messages: &[(&str, &str)]| {
            let messages = messages.iter().map(|(id, parent)| Message {
                id: (*id).to_owned(),
                parent: Some((*parent).to_owned()).filter(|it| !it.is_empty()),
                ..Message::default()
            });
            let mut conversation = Conversation {
                messages: messages.collect(),
                ..Conversation::default()
            };
            conversation.untangle();
            let messages = conversation.messages.into_iter();
            let links: Vec<_> = messages
                .map(|it| format!("{}<{}", it.parent.unwrap_or_default(), it.id))
                .collect();
            let lost: Vec<_> = conversation
                .lost
                .iter()
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            (links.join(" "), lost.join(", "))
        };
        let expected = |links: &str, lost: &str| (links.to_owned(), lost.to_owned());
        assert_eq!(
            of(&[("a", ""), ("b", "a"), ("c", "a")]),
            expected("<a a<b a<c", "")
        );
        assert_eq!(of(&[("a", "a")]), expected("<a", "parent_id 1"));
        // The tail before a circle stays on it.
        assert_eq!(
            of(&[
                ("t", "c"),
                ("b", "c"),
                ("c", "d"),
                ("d", "b"),
                ("x", "y"),
                ("y", "x")
            ]),
            expected("c<t <b d<c b<d <x x<y", "parent_id 2")
        );
        assert_eq!(of(&[("a", ""), ("a", "a")]), expected("<a", "duplicate 1"));
    }
}

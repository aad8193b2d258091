//! A conversation of any provider, on its way to a PAM conversation document (PAM 25).

use crate::codec::{Map, Value};
pub(super) use crate::interchange::formats::members::{
    object, objects, rest, stable_id, text, time,
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

impl Conversation {
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
        let known: std::collections::HashSet<String> = self
            .messages
            .iter()
            .map(|message| message.id.clone())
            .collect();
        let mut messages = Vec::with_capacity(self.messages.len());
        for mut message in self.messages {
            message.parent = message.parent.filter(|parent| known.contains(parent));
            messages.push(message.into_pam(&created_at));
        }
        document.insert("messages", messages);
        Some((Value::Map(entry), Value::Map(document)))
    }
}

impl Message {
    fn into_pam(self, default_time: &str) -> Value {
        let mut map = Map::new();
        map.insert("provider_message_id", self.id.as_str());
        map.insert("id", self.id);
        map.insert("role", self.role);
        map.insert(
            "created_at",
            self.created_at.as_deref().unwrap_or(default_time),
        );
        if let Some(parent) = self.parent {
            map.insert("parent_id", parent);
        }
        let mut content = Map::new();
        if self.parts.is_empty() {
            content.insert("type", "text");
            content.insert("text", self.text.unwrap_or_default());
        } else {
            content.insert("type", "multipart");
            content.insert("parts", self.parts);
        }
        map.insert("content", content);
        if let Some(model) = self.model {
            map.insert("model", model);
        }
        if self.is_thought {
            map.insert("is_thought", true);
        }
        for (name, items) in [
            ("tool_calls", self.tool_calls),
            ("attachments", self.attachments),
            ("citations", self.citations),
        ] {
            if !items.is_empty() {
                map.insert(name, items);
            }
        }
        if !self.raw.is_empty() {
            map.insert("raw_metadata", self.raw);
        }
        Value::Map(map)
    }
}

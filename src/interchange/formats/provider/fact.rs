//! A fact that an assistant knows, on its way to a PAM memory (PAM 4).

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::formats::pam::content_hash;
use crate::interchange::model::rfc3339::parse_rfc3339;

use super::conversation::{Conversation, text};

/// A fact that an assistant knows.
pub(super) struct Fact {
    pub(super) id: String,
    /// The type of PAM 5.
    pub(super) kind: &'static str,
    pub(super) content: String,
    pub(super) summary: Option<String>,
    /// `None`: the newest time of the export.
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    /// The members without a place of their own.
    pub(super) raw: Map,
}

impl Fact {
    /// Returns a fact; `None` without content.
    pub(super) fn new(id: String, kind: &'static str, content: &str) -> Option<Self> {
        let is_said = !content.trim().is_empty();
        is_said.then(|| Self {
            id,
            kind,
            content: content.to_owned(),
            summary: None,
            created_at: None,
            updated_at: None,
            raw: Map::new(),
        })
    }

    /// Returns the memory; `None` without any time.
    pub(super) fn into_pam(
        self,
        provider: &str,
        importer: &str,
        newest: Option<&str>,
    ) -> Option<Value> {
        let created_at = self.created_at.as_deref().or(newest)?;
        let mut temporal = Map::from_iter([("created_at", created_at)]);
        let is_later =
            |updated: &&str| parse_rfc3339(updated).ok() >= parse_rfc3339(created_at).ok();
        if let Some(updated_at) = self.updated_at.as_deref().filter(is_later) {
            temporal.insert("updated_at", updated_at);
        }
        let provenance = [("platform", provider), ("extraction_method", "api_export")];
        let mut metadata = Map::from_iter([("importer_version", importer)]);
        if !self.raw.is_empty() {
            metadata.insert("raw", self.raw);
        }
        let mut memory = Map::new();
        memory.insert("id", self.id);
        memory.insert("type", self.kind);
        memory.insert("content_hash", content_hash(&self.content));
        memory.insert("content", self.content);
        if let Some(summary) = self.summary {
            memory.insert("summary", summary);
        }
        memory.insert("temporal", temporal);
        memory.insert("provenance", Map::from_iter(provenance));
        memory.insert("metadata", metadata);
        Some(Value::Map(memory))
    }
}

/// The newest time of an export.
///
/// Facts have no time: the newest time of the export is when the assistant knew them, and no other
/// is invented.
#[derive(Default)]
pub(super) struct Newest {
    /// Of messages, of conversations and of facts. Among equal times, which may be written
    /// differently, the later position in the export wins.
    times: [Option<(Time, String)>; 3],
}

impl Newest {
    pub(super) fn of_talk(conversation: &Conversation) -> Self {
        let messages = conversation.messages.iter();
        let messages = messages.filter_map(|message| message.created_at.as_ref());
        let whole = [&conversation.created_at, &conversation.updated_at]
            .into_iter()
            .flatten();
        Self {
            times: [newest(messages), newest(whole), None],
        }
    }

    pub(super) fn of_facts(facts: &[Fact]) -> Self {
        let times = facts.iter().flat_map(|it| [&it.created_at, &it.updated_at]);
        Self {
            times: [None, None, newest(times.flatten())],
        }
    }

    /// Merges the times of a later part of the export.
    pub(super) fn merge(&mut self, later: Self) {
        for (mine, later) in self.times.iter_mut().zip(later.times) {
            let is_newer =
                |later: &(Time, String)| mine.as_ref().is_none_or(|mine| mine.0 <= later.0);
            if later.as_ref().is_some_and(is_newer) {
                *mine = later;
            }
        }
    }

    /// Returns it as the export has it.
    pub(super) fn text(&self) -> Option<&str> {
        let times = self.times.iter().flatten();
        times
            .max_by_key(|(time, _)| *time)
            .map(|(_, text)| text.as_str())
    }
}

fn newest<'a>(times: impl Iterator<Item = &'a String>) -> Option<(Time, String)> {
    let dated = times.filter_map(|text| Some((parse_rfc3339(text).ok()?, text)));
    dated
        .max_by_key(|(time, _)| *time)
        .map(|(time, text)| (time, text.clone()))
}

/// Returns a name and its description, a line each.
pub(super) fn titled(map: &Map, name: &str, more: &str) -> String {
    let lines: Vec<&str> = [name, more]
        .into_iter()
        .filter_map(|it| text(map, it))
        .collect();
    lines.join("\n")
}

//! The elements of the long arrays of an export, one by one.

use std::ops::Range;

use crate::codec::{Map, Value};
use crate::interchange::formats::pam;
use crate::interchange::json::Position;

use super::Provider;
use super::conversation::Conversation;
use super::fact::Fact;
use super::kinds::{chatgpt, claude, claude_memory, cursor, deepseek, grok};

/// The content of an element.
pub(super) enum Item {
    Conversation(Box<Conversation>),
    Facts(Vec<Fact>),
    /// Content that is not read.
    Other,
}

impl Provider {
    /// The version of this reader: another one may build other grains.
    pub(super) const fn importer(self) -> &'static str {
        match self {
            Self::Chatgpt => "chatgpt/2026.01",
            Self::Claude => "claude/2026.11",
            Self::Gemini => "gemini/2026.01",
            Self::Copilot => "copilot/2026.01",
            Self::Grok => "grok/2026.01",
            Self::Deepseek => "deepseek/2026.01",
            Self::Cursor => "cursor/2026.01",
        }
    }

    pub(super) const fn names(self) -> pam::Names {
        match self {
            Self::Chatgpt => pam::Names::new("chatgpt", "chatgpt:conversation", "chatgpt:message"),
            Self::Claude => pam::Names::new("claude", "claude:conversation", "claude:message"),
            Self::Gemini => pam::Names::new("gemini", "gemini:conversation", "gemini:message"),
            Self::Copilot => pam::Names::new("copilot", "copilot:conversation", "copilot:message"),
            Self::Grok => pam::Names::new("grok", "grok:conversation", "grok:message"),
            Self::Deepseek => {
                pam::Names::new("deepseek", "deepseek:conversation", "deepseek:message")
            }
            Self::Cursor => pam::Names::new("cursor", "cursor:conversation", "cursor:message"),
        }
    }

    /// Returns the names of the long arrays of a file; one without a name is the file itself.
    pub(super) const fn arrays(self) -> &'static [&'static str] {
        match self {
            Self::Grok => &["conversations", "media_posts", "projects"],
            Self::Gemini | Self::Copilot => &[""],
            Self::Chatgpt | Self::Claude | Self::Deepseek | Self::Cursor => &["", "conversations"],
        }
    }

    /// Returns the numbers of the arrays that conversations stand in, and of those with facts.
    pub(super) const fn conversations_and_facts(self) -> (Range<usize>, Range<usize>) {
        match self {
            Self::Grok => (0..1, 1..3),
            // In a file that is one list, facts and conversations are mixed.
            _ => (0..self.arrays().len(), 0..self.arrays().len()),
        }
    }

    /// Reads an element of one of them.
    pub(super) fn item(self, value: &Value, position: Position) -> Item {
        let Some(map) = value.as_map() else {
            return Item::Other;
        };
        let array = self
            .arrays()
            .get(position.array)
            .copied()
            .unwrap_or_default();
        match self {
            Self::Chatgpt => said(chatgpt::conversation(map)),
            Self::Claude => match said(claude::conversation(map)) {
                Item::Other => known(map),
                conversation => conversation,
            },
            Self::Grok if array == "conversations" => said(grok::conversation(map)),
            Self::Grok => match grok::fact(array, map) {
                Some(fact) => Item::Facts(vec![fact]),
                None => Item::Other,
            },
            Self::Deepseek => said(deepseek::conversation(map)),
            Self::Cursor => said(cursor::conversation(map)),
            Self::Gemini | Self::Copilot => Item::Other,
        }
    }
}

fn said(conversation: Option<Conversation>) -> Item {
    conversation.map_or(Item::Other, |conversation| {
        Item::Conversation(Box::new(conversation))
    })
}

fn known(map: &Map) -> Item {
    let facts = claude_memory::memories(map).or_else(|| claude_memory::project(map));
    facts.map_or(Item::Other, Item::Facts)
}

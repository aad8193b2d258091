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

/// The version of this reader: another one may build other grains.
pub(super) const fn importer(provider: Provider) -> &'static str {
    match provider {
        Provider::Chatgpt => "chatgpt/2026.01",
        Provider::Claude => "claude/2026.11",
        Provider::Gemini => "gemini/2026.01",
        Provider::Copilot => "copilot/2026.01",
        Provider::Grok => "grok/2026.01",
        Provider::Deepseek => "deepseek/2026.01",
        Provider::Cursor => "cursor/2026.01",
    }
}

pub(super) const fn names(provider: Provider) -> pam::Names {
    match provider {
        Provider::Chatgpt => pam::Names::new("chatgpt", "chatgpt:conversation", "chatgpt:message"),
        Provider::Claude => pam::Names::new("claude", "claude:conversation", "claude:message"),
        Provider::Gemini => pam::Names::new("gemini", "gemini:conversation", "gemini:message"),
        Provider::Copilot => pam::Names::new("copilot", "copilot:conversation", "copilot:message"),
        Provider::Grok => pam::Names::new("grok", "grok:conversation", "grok:message"),
        Provider::Deepseek => {
            pam::Names::new("deepseek", "deepseek:conversation", "deepseek:message")
        }
        Provider::Cursor => pam::Names::new("cursor", "cursor:conversation", "cursor:message"),
    }
}

/// Returns the names of the long arrays of a file; one without a name is the file itself.
pub(super) const fn arrays(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::Grok => &["conversations", "media_posts", "projects"],
        Provider::Gemini | Provider::Copilot => &[""],
        Provider::Chatgpt | Provider::Claude | Provider::Deepseek | Provider::Cursor => {
            &["", "conversations"]
        }
    }
}

/// Returns the numbers of the arrays that conversations stand in, and of those with facts.
pub(super) const fn conversations_and_facts(provider: Provider) -> (Range<usize>, Range<usize>) {
    match provider {
        Provider::Grok => (0..1, 1..3),
        // In a file that is one list, facts and conversations are mixed.
        _ => (0..arrays(provider).len(), 0..arrays(provider).len()),
    }
}

/// Returns whether conversations of this provider name the account that they are of.
pub(super) const fn names_account(provider: Provider) -> bool {
    matches!(provider, Provider::Claude | Provider::Grok)
}

/// Returns whether exports of this provider hold facts, whose time may be the newest of all the others.
pub(super) const fn holds_facts(provider: Provider) -> bool {
    matches!(provider, Provider::Claude | Provider::Grok)
}

/// Reads an element of one of them.
pub(super) fn item(provider: Provider, value: Value, position: Position) -> Item {
    let Value::Map(map) = value else {
        return Item::Other;
    };
    let array = arrays(provider)
        .get(position.array)
        .copied()
        .unwrap_or_default();
    match provider {
        Provider::Chatgpt => said(chatgpt::conversation(map)),
        Provider::Claude => match said(claude::conversation(&map)) {
            Item::Other => known(&map),
            conversation => conversation,
        },
        Provider::Grok if array == "conversations" => said(grok::conversation(&map)),
        Provider::Grok => match grok::fact(array, &map) {
            Some(fact) => Item::Facts(vec![fact]),
            None => Item::Other,
        },
        Provider::Deepseek => said(deepseek::conversation(&map)),
        Provider::Cursor => said(cursor::conversation(&map)),
        Provider::Gemini | Provider::Copilot => Item::Other,
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

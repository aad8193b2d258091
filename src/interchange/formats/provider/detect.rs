//! The recognition of the files of an export: by name, by first bytes, and by JSON.

use crate::interchange::Format;
use crate::interchange::format::Provider;
use crate::interchange::json_head::{JsonFormat, JsonHead};

use super::copilot;

pub(super) fn is_conversation_file(name: &str) -> bool {
    let is_shard = name
        .strip_prefix("conversations-")
        .and_then(|rest| rest.strip_suffix(".json"))
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    is_shard
        || [
            "conversations.json",
            "MyActivity.json",
            "MyActivity.html",
            "prod-grok-backend.json",
        ]
        .contains(&name)
        || OF_CLAUDE.contains(&name)
        || name.to_ascii_lowercase().ends_with(".csv")
}

pub(super) fn is_part(name: &str) -> bool {
    let beside = [
        "user.json",
        "users.json",
        "message_feedback.json",
        OWNER_OF_GROK,
    ];
    is_conversation_file(name) || beside.contains(&name)
}

/// Returns whether this is a web page, in which only Gemini exports conversations.
pub(super) fn is_page(bytes: &[u8]) -> bool {
    let head = bytes.get(..PAGE_HEAD_LEN).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

/// Returns whether text starts with the header of one of Copilot's tables.
pub(super) fn is_copilot(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next();
    line.is_some_and(copilot::is_header)
}

/// How exports in JSON are recognised.
pub(in crate::interchange) static JSON: JsonFormat = JsonFormat {
    markers: &[
        ("mapping", None),
        ("chat_messages", None),
        ("conversations_memory", None),
        ("project_memories", None),
        ("prompt_template", None),
        ("header", None),
        ("conversations", None),
        ("type", None),
    ],
    detect,
};

fn detect(head: &JsonHead) -> Option<Format> {
    let claude = [
        "chat_messages",
        "conversations_memory",
        "project_memories",
        "prompt_template",
    ];
    let provider = match head.is_array {
        true if head.has(&["mapping"]) => Provider::Chatgpt,
        true if head.has(&claude) => Provider::Claude,
        true if head.has(&["header"]) => Provider::Gemini,
        false if head.is_whole && head.has(&["conversations"]) && !head.has(&["type"]) => {
            Provider::Grok
        }
        _ => return None,
    };
    Some(Format::Provider(provider))
}

/// The files with the facts that Claude knows.
pub(super) const OF_CLAUDE: [&str; 2] = ["memories.json", "projects.json"];
/// The file with the owner of an export of Grok.
pub(super) const OWNER_OF_GROK: &str = "prod-mc-auth-mgmt-api.json";
/// The bytes that a web page is recognised by.
pub(super) const PAGE_HEAD_LEN: usize = 256;

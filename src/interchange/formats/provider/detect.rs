//! The recognition of the files of an export: by first bytes and by JSON. Names decide only which
//! files are looked at, and what a file is that says something about others.

use crate::interchange::Format;
use crate::interchange::format::Provider;
use crate::interchange::json_head::{JsonFormat, JsonHead};

use super::kinds::copilot;

/// Returns whether a file of this name is looked at.
pub(super) fn is_part(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        let ending = ending.to_ascii_lowercase();
        ["json", "csv", "html", "htm"].contains(&ending.as_str())
    })
}

/// Returns whether this is a web page.
pub(super) fn is_page(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(bytes.get(..256).unwrap_or(bytes)).to_ascii_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

/// Returns whether this is the web page that Takeout writes of the activity in Gemini, whatever the
/// language of its name.
pub(super) fn is_activity_page(name: &str, head: &[u8]) -> bool {
    let says = |part: &str| {
        let mut windows = head.windows(part.len());
        windows.any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
    };
    let of_gemini = name.to_ascii_lowercase().contains("gemini") || says("gemini") || says("bard");
    is_page(head) && says("outer-cell") && of_gemini
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
        ("inserted_at", None),
        ("create_time", None),
        ("update_time", None),
        ("current_node", None),
        ("chat_messages", None),
        ("conversations_memory", None),
        ("project_memories", None),
        ("prompt_template", None),
        ("header", Some("*gemini")),
        ("header", Some("*bard")),
        ("conversation", None),
        ("responses", None),
        ("media_posts", None),
        ("composerId", None),
        ("bubbles", None),
        ("type", None),
    ],
    inner: &[
        "mapping",
        "inserted_at",
        "create_time",
        "update_time",
        "current_node",
        "chat_messages",
        "conversation",
        "responses",
        "composerId",
        "bubbles",
    ],
    detect,
};

fn detect(head: &JsonHead) -> Option<Format> {
    let has = |names: &[&str]| head.has_in_items(names);
    let claude = [
        "chat_messages",
        "conversations_memory",
        "project_memories",
        "prompt_template",
    ];
    let provider = if has(&["mapping"]) {
        // Both write graphs: their times tell them apart, and older tools left them out.
        match has(&["inserted_at"]) {
            true => Provider::Deepseek,
            false if has(&["create_time", "update_time", "current_node"]) => Provider::Chatgpt,
            false if head.is_whole => Provider::Chatgpt,
            false => return None,
        }
    } else if has(&claude) {
        Provider::Claude
    } else if head.is_array && head.says("header", &["*gemini", "*bard"]) {
        Provider::Gemini
    } else if has(&["composerId", "bubbles"]) {
        Provider::Cursor
    } else if has(&["media_posts"]) || (has(&["conversation"]) && has(&["responses"])) {
        Provider::Grok
    } else {
        return None;
    };
    Some(Format::Provider(provider))
}

/// The files that say something about the conversations that they stand beside: their account, and
/// ratings of messages.
pub(super) const BESIDE: [&str; 4] = [
    "user.json",
    "users.json",
    "message_feedback.json",
    "prod-mc-auth-mgmt-api.json",
];
/// The bytes that a web page is recognised by: its styles come first.
pub(super) const PAGE_HEAD_LEN: usize = 256 * 1024;

//! The transcripts of Claude Code: a JSON value a line, which answers the one of its `parentUuid`.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, stable_id, text};
use crate::interchange::json_head::JsonFormat;

use super::super::blocks::{Content, is_not_said};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::{Item, Said, Turn};
use crate::interchange::formats::neighbour::source::{Reader, Source};

/// The transcript of a session.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source {
    format: Format::ClaudeCode,
    json: JsonFormat {
        markers: &[
            ("leafUuid", None),
            ("messages", None),
            ("sessionId", None),
            ("snapshot", None),
            ("timestamp", None),
            ("type", Some("file-history-snapshot")),
            ("type", Some("summary")),
        ],
        inner: &[],
        detect: |head| {
            let is_line = head.has_all(&["sessionId", "timestamp"])
                || (head.says("type", &["summary"]) && head.has(&["leafUuid"]))
                || (head.says("type", &["file-history-snapshot"]) && head.has(&["snapshot"]));
            let is_line = is_line && head.is_line && !head.has(&["messages"]);
            is_line.then_some(Format::ClaudeCode)
        },
    },
    is_text: |_| false,
    arrays: &[""],
    is_in_order: false,
    spans_files: false,
    rank: |_| 0,
    reader: || Box::new(ClaudeCode),
};

struct ClaudeCode;

impl Reader for ClaudeCode {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let kind = text(map, "type");
        // The oldest transcripts have no type.
        let message = map.get("message").and_then(Value::as_map);
        let message = message.filter(|_| matches!(kind, None | Some("user" | "assistant")));
        let (Some(message), false) = (message, is(map, "isMeta")) else {
            let Some(kind) = kind else {
                return false;
            };
            pass_over(map, kind, builder);
            return true;
        };
        turn(map, message, builder);
        true
    }
}

/// Counts a line that is no message; those that answer it answer what it answered.
fn pass_over(map: &Map, kind: &str, builder: &mut Builder<'_>) {
    builder.lose(if is(map, "isMeta") { "isMeta" } else { kind });
    skip(map, builder);
}

fn skip(map: &Map, builder: &mut Builder<'_>) {
    let session = text(map, "sessionId").unwrap_or_default();
    if let (Some(id), Some(parent)) = (text(map, "uuid"), text(map, "parentUuid")) {
        builder.pass_on(session, id, parent);
    }
}

fn turn(map: &Map, message: &Map, builder: &mut Builder<'_>) {
    let content = Content::read(message.get("content").unwrap_or(&Value::Nil), builder);
    let role = match (text(message, "role"), content.is_result) {
        _ if is(map, "isCompactSummary") => "system",
        (Some("user"), true) => "tool",
        (Some("user"), false) => "user",
        (Some("system"), _) => "system",
        (Some("assistant"), _) => "assistant",
        _ if text(map, "type") == Some("user") => "user",
        _ => "assistant",
    };
    let is_command = role == "user" && is_not_said(&content.text);
    if is_command || content.is_empty() {
        builder.lose(if is_command {
            "command"
        } else {
            "empty message"
        });
        return skip(map, builder);
    }
    if map.contains("toolUseResult") {
        // The result of the tool again, as the interface shows it.
        builder.lose("toolUseResult");
    }
    let session = text(map, "sessionId");
    let at = text(map, "timestamp").unwrap_or_default();
    let derived = || stable_id(&["claude-code", at, role, &content.text]);
    let id = text(map, "uuid").map_or_else(derived, str::to_owned);
    let mut context = Map::new();
    context.insert("agent", "claude-code");
    for (name, member) in [("branch", "gitBranch"), ("directory", "cwd")] {
        if let Some(value) = text(map, member) {
            context.insert(name, value);
        }
    }
    if is(map, "isSidechain") {
        context.insert("side_chain", true);
    }
    let placed = [
        "type",
        "uuid",
        "parentUuid",
        "sessionId",
        "timestamp",
        "gitBranch",
        "cwd",
        "isSidechain",
        "message",
        "toolUseResult",
    ];
    let mut record = rest(map, &placed);
    let beside = rest(message, &["role", "content", "model", "type"]);
    if !beside.is_empty() {
        record.insert("message", beside);
    }
    builder.push(Item {
        id,
        session: session.map(str::to_owned),
        created: map.get("timestamp").and_then(moment),
        said: Said::Turn(Turn {
            role: Some(role),
            text: content.text,
            blocks: content.blocks,
            parent: text(map, "parentUuid").map(str::to_owned),
            model: text(message, "model").map(str::to_owned),
            context,
        }),
        record,
        ..Item::default()
    });
}

fn is(map: &Map, name: &str) -> bool {
    map.get(name).and_then(Value::as_bool) == Some(true)
}

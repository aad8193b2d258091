//! The transcripts of Cursor's agent: a JSON value a line, `{type, timestamp, message}`.

use crate::codec::Value;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, result};
use super::super::conversation::{Conversation, Message, role};

/// A transcript.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::CursorAgent,
    &[
        ("message", None),
        ("sessionId", None),
        ("timestamp", None),
        ("type", Some("assistant")),
        ("type", Some("tool")),
        ("type", Some("user")),
        ("uuid", None),
    ],
    |head| {
        let is_line = head.says("type", &["assistant", "tool", "user"]) && head.is_line;
        // Lines of Claude Code have these too.
        let is_other = head.has(&["sessionId", "uuid"]);
        let is_line = is_line && head.has_all(&["message", "timestamp"]) && !is_other;
        is_line.then_some(Format::CursorAgent)
    },
    &[""],
    || Box::new(CursorAgent::default()),
);

#[derive(Default)]
struct CursorAgent {
    session: Conversation,
}

impl Reader for CursorAgent {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let (Some(role), Some(said)) = (text(map, "type").and_then(role), map.get("message"))
        else {
            return false;
        };
        self.session.agent = "cursor";
        let inner = said.as_map();
        let said = inner.and_then(|inner| inner.get("content")).unwrap_or(said);
        let mut content = Content::read(said, builder);
        if role == "tool" && content.blocks.is_empty() {
            content = Content::of_block(result(None, &content.text));
        }
        let message = Message {
            id: text(map, "id").map(str::to_owned),
            role,
            content,
            at: map.get("timestamp").and_then(moment),
            model: inner
                .and_then(|inner| text(inner, "model"))
                .map(str::to_owned),
            record: rest(map, &["id", "type", "timestamp", "message"]),
            ..Message::default()
        };
        self.session.say(message, builder);
        true
    }
}

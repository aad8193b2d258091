//! Pi: a JSON value a line; a message answers the entry of its `parentId`.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, result};
use super::super::conversation::{Conversation, Message, role};

/// A session.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Pi,
    &[
        ("cwd", None),
        ("id", None),
        ("timestamp", None),
        ("type", Some("session")),
    ],
    |head| {
        let is_session = head.says("type", &["session"]) && head.has_all(&["id", "timestamp"]);
        (is_session && head.is_line).then_some(Format::Pi)
    },
    &[""],
    || Box::new(Pi::default()),
);

#[derive(Default)]
struct Pi {
    session: Conversation,
}

impl Reader for Pi {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let message = map.get("message").and_then(Value::as_map);
        match (text(map, "type"), message) {
            (Some("session"), _) => {
                self.session = Conversation {
                    agent: "pi",
                    session: text(map, "id").unwrap_or_default().to_owned(),
                    created: map.get("timestamp").and_then(moment),
                    directory: text(map, "cwd").map(str::to_owned),
                    ..Conversation::default()
                };
                return true;
            }
            (Some("message"), Some(message)) => return self.say(map, message, builder),
            (Some("model_change"), _) => {
                self.session.model = text(map, "modelId").map(str::to_owned);
            }
            (Some("session_info"), _) => {
                self.session.title = text(map, "name").map(str::to_owned);
            }
            (Some(kind), _) => builder.lose(kind),
            (None, _) => return false,
        }
        if let (Some(id), Some(parent)) = (text(map, "id"), text(map, "parentId")) {
            builder.pass_on(&self.session.session, id, parent);
        }
        true
    }
}

impl Pi {
    fn say(&mut self, map: &Map, message: &Map, builder: &mut Builder<'_>) -> bool {
        let Some(role) = text(message, "role").and_then(role) else {
            return false;
        };
        let mut content = Content::read(message.get("content").unwrap_or(&Value::Nil), builder);
        if role == "tool" {
            let said = std::mem::take(&mut content.text);
            content = Content::of_block(result(text(message, "toolCallId"), &said));
        }
        let parent = map
            .get("parentId")
            .map(|id| id.as_text().map(str::to_owned));
        let placed = ["role", "content", "model", "timestamp", "toolCallId"];
        let message = Message {
            id: text(map, "id").map(str::to_owned),
            role,
            content,
            at: map.get("timestamp").and_then(moment),
            parent,
            model: text(message, "model").map(str::to_owned),
            record: rest(message, &placed),
        };
        self.session.say(message, builder);
        true
    }
}
